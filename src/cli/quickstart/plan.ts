// Pure: what each member of a quickstart group does, and what its verdict must therefore be.
import type { Verdict } from '../../protocol/index.ts'
import type { FileEntry } from '../../sandbox/files.ts'
import type { Solutions } from '../../tasks/solutions.ts'

export type Plan =
  /** Writes a right solution and submits: reward 1. */
  | { kind: 'solve', name: string, entries: readonly FileEntry[] }
  /** Writes a wrong solution, or nothing, and submits: reward 0. */
  | { kind: 'fail', name: string, entries: readonly FileEntry[] }
  /** Looks around until its steps run out: reward 0, truncated by budget_steps. */
  | { kind: 'wander', name: string }

/** One plan per member, of shape [count]: of eight three solve, three fail and two wander; solutions take turns. */
export function planMembers (solutions: Solutions, count: number): Plan[] {
  const right = [
    ...(solutions.reference?.kind === 'overlay' ? [{ name: 'reference', entries: solutions.reference.entries }] : []),
    ...solutions.alternatives.map(({ name, entries }) => ({ name: `alternative ${name}`, entries })),
  ]
  const wrong = [
    ...solutions.wrong.map(({ name, entries }) => ({ name: `wrong ${name}`, entries })),
    { name: 'untouched', entries: [] },
  ]
  const used = { solve: 0, fail: 0 }
  return Array.from({ length: count }, (_, member): Plan => {
    const kind = PATTERN[member % PATTERN.length] ?? 'wander'
    if (kind === 'wander') return { kind, name: 'wander' }
    const choices = kind === 'solve' ? right : wrong
    const choice = choices[used[kind]++ % choices.length]
    return choice === undefined ? { kind: 'wander', name: 'wander' } : { kind, ...choice }
  })
}

/** Why the verdict is not the one that the plan must get, or undefined when it is. */
export function findMismatch (plan: Plan, verdict: Verdict | undefined): string | undefined {
  if (verdict === undefined) return 'there is no verdict'
  const got = `got reward ${verdict.reward} (${verdict.reason})`
  if (verdict.reward !== (plan.kind === 'solve' ? 1 : 0)) return `must have reward ${plan.kind === 'solve' ? 1 : 0}, ${got}`
  const truncated = plan.kind === 'wander' ? 'budget_steps' : null
  return verdict.truncated === truncated ? undefined : `must be truncated ${truncated}, is ${verdict.truncated}`
}

const PATTERN = ['solve', 'fail', 'wander', 'solve', 'fail', 'solve', 'wander', 'fail'] as const
