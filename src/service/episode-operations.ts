// reset, step, submit, resume, status and close of one episode.
import { AssayError } from '../errors.ts'
import type { Episode } from '../episodes/episode.ts'
import { waitForPlaces } from '../groups/admission.ts'
import type { Params, Result } from '../protocol/index.ts'
import type { Task } from '../tasks/task.ts'
import { checkClass } from './access.ts'
import { resetMember } from './group-operations.ts'
import type { Parts } from './parts.ts'
import type { Context } from './service.ts'

/** Waits for a place and a sandbox. A caller that leaves may repeat it and goes on waiting. */
export async function reset (parts: Parts, params: Params<'reset'>, context: Context): Promise<Result<'reset'>> {
  const { group } = params
  if (group === undefined) return await resetSingle(parts, params, context)
  return await resetMember(parts, { ...params, group }, context)
}

export async function step ({ access }: Parts, params: Params<'step'>, context: Context): Promise<Result<'step'>> {
  const { episode, lease, seq, action, usage } = params
  return await access.episode(episode, context).step({ lease, seq, action, tokens: usage?.tokens ?? 0 }, context.signal)
}

export async function submit ({ access }: Parts, params: Params<'submit'>, context: Context): Promise<Result<'submit'>> {
  const { episode, lease, seq, truncated } = params
  return await access.episode(episode, context).submit({ lease, seq, truncated }, context.signal)
}

export function resume ({ access }: Parts, { episode, lease }: Params<'resume'>, context: Context): Result<'resume'> {
  return access.episode(episode, context).resume(lease, context.connection)
}

export function status ({ access }: Parts, { episode }: Params<'status'>, context: Context): Result<'status'> {
  return access.episode(episode, context).report()
}

export async function close ({ access }: Parts, { episode, lease }: Params<'close'>, context: Context): Promise<Result<'close'>> {
  return await access.episode(episode, context).close(lease, context.signal)
}

async function resetSingle (parts: Parts, params: Params<'reset'>, context: Context): Promise<Result<'reset'>> {
  const { principal, connection, signal } = context
  const { requestKey } = params
  if (requestKey === undefined || params.task === undefined) throw new AssayError('INVALID_PARAMS') // the schema asks for both
  const task = parts.access.task(params.task, context)
  checkClass(principal, params.class ?? 'eval')
  const first = findRepeated(parts, { principal: principal.name, requestKey, task })
  if (first !== undefined) return await first.open(connection, signal)
  parts.checkOpen()
  const spec = await parts.specOf(task, context)
  const second = findRepeated(parts, { principal: principal.name, requestKey, task }) // the same reset may have come first meanwhile
  if (second !== undefined) return await second.open(connection, signal)
  parts.checkOpen()
  parts.episodes.checkLimit(principal)
  const ticket = parts.admission.request({
    count: 1,
    memoryBytes: task.limits.memoryBytes,
    onPosition: position => connection?.emit({ event: 'queued', ...(context.requestId !== undefined && { id: context.requestId }), position, etaMs: null }),
  })
  const episode = parts.startEpisode({
    principal: principal.name,
    task,
    spec,
    budgets: params.budgets ?? { onBudget: 'verify' },
    seed: params.seed ?? parts.createSeed(),
    meta: params.meta ?? {},
    attempt: 0,
    admit: signal => waitForPlaces(ticket, signal),
    onEnd: () => ticket.cancel(), // also when it ended before it asked for its place
  }, { requestKey })
  return await episode.open(connection, signal)
}

interface Repeat { principal: string, requestKey: string, task: Task }

function findRepeated ({ episodes }: Parts, { principal, requestKey, task }: Repeat): Episode | undefined {
  const episode = episodes.findByKey(principal, requestKey)
  if (episode === undefined || episode.setup.task.id === task.id) return episode
  throw new AssayError('REQUEST_KEY_CONFLICT', { message: `This requestKey already stands for a reset of task "${episode.setup.task.id}"; use a new one.` })
}
