// The states of one attempt and which event leads where. Pure: knows nothing of sandboxes, leases or rewards.
import type { EpisodeState, Reason } from '../protocol/index.ts'

export type EpisodeEvent =
  | { type: 'admitted' }
  | { type: 'sandboxReady' }
  | { type: 'stepStarted' }
  | { type: 'stepEnded' }
  | { type: 'submitted' }
  /** A verdict with a reward, by verification. */
  | { type: 'verified' }
  /** A verdict with reward 0 and no verification: an exhausted budget with onBudget=zero. */
  | { type: 'forfeited' }
  /** A verdict without a reward. */
  | { type: 'voided', reason: Reason }
  | { type: 'closed' }

export type EpisodeEventType = EpisodeEvent['type']

/** The state after event, or undefined when the event cannot happen in state. */
export function nextState (state: EpisodeState, event: EpisodeEvent): EpisodeState | undefined {
  return TRANSITIONS[state][event.type]
}

/** No verdict yet. */
export function isLive (state: EpisodeState): boolean {
  return state !== 'done' && state !== 'void' && state !== 'closed'
}

const TRANSITIONS: Record<EpisodeState, Partial<Record<EpisodeEventType, EpisodeState>>> = {
  queued: { admitted: 'starting', voided: 'void' },
  starting: { sandboxReady: 'ready', voided: 'void' },
  ready: { stepStarted: 'busy', submitted: 'verifying', forfeited: 'done', voided: 'void' },
  busy: { stepEnded: 'ready', voided: 'void' },
  verifying: { verified: 'done', voided: 'void' },
  done: { closed: 'closed' },
  void: { closed: 'closed' },
  closed: {},
}
