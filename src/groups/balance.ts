// Members and their attempts as arithmetic: states, which attempt may start, the balances. Pure.
import { assertNever } from '../base/assert-never.ts'
import type { Balance, MemberState, Outcome } from '../protocol/index.ts'

export type AttemptState = Outcome | 'live'

export interface MemberAttempts {
  /** In order; attempt k is at index k. */
  readonly attempts: readonly AttemptState[]
  /** The group was closed before the member had a usable verdict: nothing more may start. */
  readonly isCancelled: boolean
}

export function memberState ({ attempts, isCancelled }: MemberAttempts, refills: number): MemberState {
  const last = attempts.at(-1)
  switch (last) {
    case undefined: return isCancelled ? 'void' : 'unstarted'
    case 'live':
    case 'solved':
    case 'unsolved': return last
    case 'void': return isCancelled || attempts.length > refills ? 'void' : 'refillable'
    default: return assertNever(last)
  }
}

/** Nothing more can happen to the member. */
export function isFinished (state: MemberState): boolean {
  return state === 'solved' || state === 'unsolved' || state === 'void'
}

export type AttemptRuling = { do: 'start' } | { do: 'repeat' } | { do: 'refuse', why: string }

/** Attempt k + 1 is legal only once attempt k is void and refills remain; an attempt that exists is repeated. */
export function ruleAttempt (member: MemberAttempts, attempt: number, refills: number): AttemptRuling {
  const count = member.attempts.length
  if (attempt < count) return { do: 'repeat' }
  const state = memberState(member, refills)
  if (state === 'live') return { do: 'refuse', why: `attempt ${count - 1} is live; submit or close it first.` }
  if (state === 'solved' || state === 'unsolved') return { do: 'refuse', why: `the member has its reward from attempt ${count - 1}.` }
  if (state === 'void') return { do: 'refuse', why: member.isCancelled ? 'the group is closed.' : `all ${refills} refills are used.` }
  if (attempt > count) return { do: 'refuse', why: `the next attempt is ${count}.` }
  return { do: 'start' }
}

/** Over members: unstarted and refillable ones are live. */
export function balanceMembers (states: readonly MemberState[]): Balance {
  const count = (wanted: MemberState): number => states.filter(state => state === wanted).length
  return {
    requested: states.length,
    solved: count('solved'),
    unsolved: count('unsolved'),
    void: count('void'),
    live: count('unstarted') + count('live') + count('refillable'),
  }
}

/** Over attempts that were started. */
export function balanceAttempts (attempts: readonly AttemptState[]): Balance {
  const count = (wanted: AttemptState): number => attempts.filter(state => state === wanted).length
  return { requested: attempts.length, solved: count('solved'), unsolved: count('unsolved'), void: count('void'), live: count('live') }
}
