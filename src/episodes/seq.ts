// The exactly-once decision: what a request with this seq leads to. Pure: runs nothing, holds nothing.
import type { ErrorCode } from '../errors.ts'
import type { Action } from '../protocol/index.ts'

/** What a seq stands for. Id, lease, usage and stream flags are not part of it. */
export type SeqRequest =
  | { type: 'step', action: Action }
  | { type: 'submit', truncated?: 'tokens' | 'turns' | undefined }
  /** The server's own submit after an exhausted budget; it stands for whatever submit the client sends. */
  | { type: 'autoSubmit' }

export interface SeqEntry {
  readonly seq: number
  readonly request: SeqRequest
}

export interface SeqState {
  readonly committed: number
  readonly running: SeqEntry | undefined
  /** Results that no later request of the client has acknowledged. */
  readonly held: readonly SeqEntry[]
}

export type SeqDecision =
  | { do: 'run' }
  | { do: 'join' }
  | { do: 'replay' }
  | { do: 'refuse', code: Extract<ErrorCode, 'SEQ_CONFLICT' | 'SEQ_GAP' | 'SEQ_EXPIRED' | 'EPISODE_BUSY'> }

/** A held result is replayed even while the server submits by itself; a client's own next seq has let it go by then. */
export function decideSeq ({ committed, running, held }: SeqState, seq: number, request: SeqRequest): SeqDecision {
  const result = held.find(entry => entry.seq === seq)
  if (result !== undefined) return isSameRequest(result.request, request) ? { do: 'replay' } : { do: 'refuse', code: 'SEQ_CONFLICT' }
  if (running !== undefined) {
    if (running.seq !== seq) return { do: 'refuse', code: 'EPISODE_BUSY' }
    return isSameRequest(running.request, request) ? { do: 'join' } : { do: 'refuse', code: 'SEQ_CONFLICT' }
  }
  if (seq === committed + 1) return { do: 'run' }
  return { do: 'refuse', code: seq > committed ? 'SEQ_GAP' : 'SEQ_EXPIRED' }
}

/** Whether asked repeats stored. */
export function isSameRequest (stored: SeqRequest, asked: SeqRequest): boolean {
  if (stored.type === 'autoSubmit') return asked.type !== 'step'
  return isSame(stored, asked)
}

// A member that is undefined counts as absent, and bytes are compared as bytes whatever holds them.
function isSame (a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  if (a instanceof Uint8Array || b instanceof Uint8Array) {
    return a instanceof Uint8Array && b instanceof Uint8Array && Buffer.compare(a, b) === 0
  }
  const left = Object.entries(a).filter(([, value]) => value !== undefined)
  const right = new Map(Object.entries(b).filter(([, value]) => value !== undefined))
  return left.length === right.size && left.every(([key, value]) => right.has(key) && isSame(value, right.get(key)))
}
