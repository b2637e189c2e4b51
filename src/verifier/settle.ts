// From what happened to a reason: the pure half of the verifier. No void may be farmed, and no slowness becomes a 0.
import { assertNever } from '../base/assert-never.ts'
import type { Attempt, CaseEnding } from './attempt.ts'
import type { Verification } from './verifier.ts'

export type Reason = Verification['reason']

/** What one attempt says by itself; "time" and "loss" are provisional. */
export type Finding =
  | { kind: 'final', reason: Reason }
  | { kind: 'provisional', by: 'time' | 'loss' }

/** total: how many cases there are. One case that plainly fails decides, whatever else happened. */
export function findingOf (attempt: Attempt, total: number): Finding {
  switch (attempt.kind) {
    case 'cancelled': return { kind: 'final', reason: 'cancelled' }
    case 'unready': return { kind: 'final', reason: unreadyReason(attempt) }
    case 'ran': break
    default: return assertNever(attempt)
  }
  if (attempt.cases.some(isPlainFailure)) return { kind: 'final', reason: 'verifier_failed' }
  if (attempt.cases.some(({ killed }) => killed)) return { kind: 'provisional', by: 'loss' }
  if (attempt.stopped !== undefined) return { kind: 'provisional', by: attempt.stopped.by }
  if (attempt.cases.some(({ timedOut }) => timedOut)) return { kind: 'provisional', by: 'time' }
  return { kind: 'final', reason: attempt.cases.length === total ? 'verified' : 'verifier_error' }
}

interface TimeEvidence {
  /** The limits are known to be at least ten times what the reference needs. */
  hasReferenceTime: boolean
}

/** After a second provisional finding, alone: the control (the start tree, no delta) decides whose doing it was. */
export function settleWithControl (again: Attempt, control: Attempt, { hasReferenceTime }: TimeEvidence): Reason {
  if (control.kind === 'cancelled') return 'cancelled'
  if (control.kind === 'unready') return unreadyReason(control)
  if (!isOrdinary(control)) return 'verifier_error'
  const stopped = again.kind === 'ran' ? again.stopped : undefined
  if (stopped?.by === 'loss' && (stopped.loss === 'engine' || stopped.loss === 'outside')) return 'engine_lost'
  const killed = again.kind === 'ran' && again.cases.some(one => one.killed)
  if (killed || stopped?.by === 'loss') return 'agent_broke_verifier'
  return hasReferenceTime ? 'verifier_timeout' : 'task_defect'
}

function unreadyReason ({ code }: Extract<Attempt, { kind: 'unready' }>): Reason {
  return code === 'ENGINE_UNAVAILABLE' || code === 'ENGINE_FAULT' ? 'engine_lost' : 'verifier_bootstrap'
}

function isOrdinary (control: Extract<Attempt, { kind: 'ran' }>): boolean {
  return control.stopped === undefined && control.cases.every(({ timedOut, killed }) => !timedOut && !killed)
}

/** A case that ended by itself and wrongly; neither slowness nor a kill is one. */
export function isPlainFailure ({ passed, timedOut, killed }: CaseEnding): boolean {
  return !passed && !timedOut && !killed
}
