// The smallest thing that behaves like one task: attempts, seqs and rewards in memory, for tests of the client alone.
import { AssayError } from '../../src/errors.ts'
import type { Answer, Request } from './scripted-server.ts'

export interface Attempt { committed: number, member: number, attempt: number, commands: string[] }

/** The reward that an attempt gets when it submits. */
export type Judge = (attempt: Attempt) => 0 | 1 | null

export function tinyEnvironment (judge: Judge): { answer: Answer } {
  const size = 4
  const attempts = new Map<string, Attempt>()
  const handlers: Record<string, (request: Request) => unknown> = {
    'group.open': ({ task }) => ({ group: 'gr_n1_1', task, state: 'open', size, concurrency: size }),
    'group.get': () => ({ group: 'gr_n1_1', state: 'complete', size }),
    'group.close': () => ({ group: 'gr_n1_1', state: 'closed' }),
    reset: ({ member = 0, attempt = 0 }) => {
      const episode = `ep_n1_${Number(member)}x${Number(attempt)}`
      attempts.set(episode, { committed: 0, member: Number(member), attempt: Number(attempt), commands: [] })
      return { episode, lease: 'l1', committed: 0, attempt, observation: { instruction: 'do it', cwd: '/desk', budgetLeft: {} } }
    },
    step: request => {
      const found = commit(request)
      found.commands.push((request['action'] as { command: string }).command)
      return { committed: found.committed, observation: { exitCode: 0, stdout: Buffer.from(found.commands.at(-1) ?? '') } }
    },
    submit: request => ({ committed: commit(request).committed, verdict: verdictOf(find(request)) }),
    status: request => ({ episode: request['episode'], state: 'void', verdict: LOST }),
    close: request => ({ episode: request['episode'], state: 'void' }),
  }

  function find (request: Request): Attempt {
    const found = attempts.get(String(request['episode']))
    if (found === undefined) throw new AssayError('EPISODE_NOT_FOUND')
    return found
  }

  function commit (request: Request): Attempt {
    const found = find(request)
    if (request['seq'] !== found.committed + 1) throw new AssayError('SEQ_GAP', { details: { committed: found.committed } })
    found.committed++
    return found
  }

  function verdictOf (attempt: Attempt): unknown {
    const reward = judge(attempt)
    const outcome = reward === null ? 'void' : reward === 1 ? 'solved' : 'unsolved'
    return { outcome, reward, usable: reward !== null, truncated: null, reason: reward === null ? 'verifier_error' : 'verified' }
  }

  return {
    answer: request => {
      const handler = handlers[request.op]
      if (handler === undefined) throw new AssayError('UNKNOWN_OP')
      return handler(request)
    },
  }
}

const LOST = { outcome: 'void', reward: null, usable: false, reason: 'sandbox_lost' }
