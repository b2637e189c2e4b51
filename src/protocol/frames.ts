// What one WebSocket message may be: a request, a reply, or an event.
import { z } from 'zod'
import type { OperationName, Result } from './operations.ts'
import { EpisodeId, GroupId, Bytes } from './values.ts'
import { MemberState } from './results.ts'
import { Verdict } from './verdict.ts'
import { WireError } from './wire-error.ts'

export const RequestId = z.union([z.string().max(128), z.int()]).describe('Chosen by the client, echoed as sent')
export type RequestId = z.infer<typeof RequestId>

/** The envelope of a request; the other members are the operation's parameters. */
export const RequestEnvelope = z.looseObject({ id: RequestId, op: z.string() })
export type RequestEnvelope = z.infer<typeof RequestEnvelope>

/** A decoded message read as a request, or the id it can be answered under and what is wrong with it. */
export type FrameReading =
  | { ok: true, id: RequestId, op: string, params: Record<string, unknown> }
  | { ok: false, id: RequestId | null, problem: string }

/** Reads the envelope. Written by hand because it runs for every frame; the same rules as RequestEnvelope. */
export function readRequest (message: unknown): FrameReading {
  if (typeof message !== 'object' || message === null || Array.isArray(message) || message instanceof Uint8Array) {
    return { ok: false, id: null, problem: 'A request is an object {id, op, ...params}.' }
  }
  const { id, op, ...params } = message as Record<string, unknown>
  if (!isRequestId(id)) {
    return { ok: false, id: null, problem: 'A request needs an id: a string of at most 128 characters, or an integer.' }
  }
  if (typeof op !== 'string') return { ok: false, id, problem: 'A request needs op: the name of an operation.' }
  return { ok: true, id, op, params }
}

function isRequestId (id: unknown): id is RequestId {
  return typeof id === 'string' ? id.length <= 128 : Number.isSafeInteger(id)
}

export const SuccessReply = z.strictObject({ id: RequestId, ok: z.literal(true), result: z.unknown() })
export const FailureReply = z.strictObject({
  id: z.union([RequestId, z.null()]).describe('null when the request had no readable id'),
  ok: z.literal(false),
  error: WireError,
})
export type FailureReply = z.infer<typeof FailureReply>
export type SuccessReply<O extends OperationName = OperationName> = { id: RequestId, ok: true, result: Result<O> }
export type Reply = SuccessReply | FailureReply

export const EVENTS = {
  queued: z.strictObject({
    event: z.literal('queued'),
    id: RequestId.optional().describe('The reset that waits'),
    group: GroupId.optional(),
    position: z.int().describe('0 is next'),
    etaMs: z.union([z.int(), z.null()]).describe('Estimate in milliseconds; null when there is none'),
  }),
  output: z.strictObject({
    event: z.literal('output'),
    id: RequestId.optional().describe('The step that asked for it'),
    episode: EpisodeId,
    stream: z.enum(['stdout', 'stderr']),
    offset: z.int(),
    bytes: Bytes,
  }),
  verdict: z.strictObject({ event: z.literal('verdict'), episode: EpisodeId, verdict: Verdict }),
  member: z.strictObject({ event: z.literal('member'), group: GroupId, member: z.int(), state: MemberState }),
  goaway: z.strictObject({ event: z.literal('goaway'), deadlineMs: z.int().describe('Milliseconds until the server closes this socket') }),
} as const

export type EventName = keyof typeof EVENTS
export type ServerEvent = { [E in EventName]: z.infer<(typeof EVENTS)[E]> }[EventName]
