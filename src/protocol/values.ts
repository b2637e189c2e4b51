// The small values that operations share: ids, bytes, budgets, actions, limits.
import { z } from 'zod'

/** What a client may send for bytes: text, raw bytes (msgpack bin), or {base64}. Parsed to bytes. */
export const BytesInput = z.union([
  z.string(),
  z.custom<Uint8Array>(value => value instanceof Uint8Array, 'expected text, bytes or {base64}').meta({ bytes: true }),
  z.strictObject({ base64: z.base64() }),
]).transform((value): Uint8Array => {
  if (typeof value === 'string') return Buffer.from(value, 'utf8')
  return value instanceof Uint8Array ? value : Buffer.from(value.base64, 'base64')
}).describe('Bytes: text or bin in msgpack; in JSON text, or {"base64": "..."}')

/** Bytes that the server sends: bin in msgpack; in JSON a string when valid UTF-8, else {base64}. */
export const Bytes = z.custom<Uint8Array>(value => value instanceof Uint8Array)
  .meta({ bytes: true, description: 'Bytes: bin in msgpack; in JSON a string when valid UTF-8, else {"base64": "..."}' })

export const EpisodeId = z.string().min(1).max(128).brand<'EpisodeId'>().describe('Episode id, as reset returned it')
export type EpisodeId = z.infer<typeof EpisodeId>
export const GroupId = z.string().min(1).max(128).brand<'GroupId'>().describe('Group id, as group.open returned it')
export type GroupId = z.infer<typeof GroupId>
export const Lease = z.string().min(1).max(256).brand<'Lease'>().describe('The right to drive an episode; the newest lease fences older ones')
export type Lease = z.infer<typeof Lease>
export const TaskId = z.string().min(1).max(128).regex(/^[a-z0-9][a-z0-9._/-]*$/, 'lower-case letters, digits, . _ / -').describe('Task id')
export type TaskId = z.infer<typeof TaskId>

export const Split = z.enum(['train', 'val'])
export type Split = z.infer<typeof Split>
export const TrafficClass = z.enum(['eval', 'train', 'load'])
export type TrafficClass = z.infer<typeof TrafficClass>

export const Seq = z.int().min(1).describe('The exactly-once key of a state-changing request; the next one is committed + 1')
export const Committed = z.int().min(0).describe('The newest committed seq of the episode')

const META_BYTES = 4096

function jsonBytes (value: unknown): number {
  try {
    return Buffer.byteLength(JSON.stringify(value))
  } catch {
    return Infinity // no JSON: too deep, or a value that JSON does not have; the refinement says so
  }
}

export const Meta = z.record(z.string(), z.unknown())
  .refine(meta => jsonBytes(meta) <= META_BYTES, `meta must be JSON of at most ${META_BYTES} bytes`)
  .describe('Opaque to the server (policy version, prompt id), echoed in verdict and journal; at most 4 KB as JSON')
export type Meta = z.infer<typeof Meta>

export const Budgets = z.strictObject({
  steps: z.int().min(1).max(100_000).optional().describe('Actions per attempt'),
  execMs: z.int().min(1).optional().describe('Milliseconds in which the sandbox runs commands'),
  outputBytes: z.int().min(1).optional().describe('Output bytes that reached the server; what the sandbox dropped is not counted'),
  tokens: z.int().min(1).optional().describe('Tokens as the client reports them in usage'),
  wallMs: z.int().min(1).optional().describe('Wall milliseconds, without queueing, staging and reconnects'),
  onBudget: z.enum(['verify', 'zero', 'void']).default('verify').describe('What an exhausted budget leads to'),
})
export type Budgets = z.infer<typeof Budgets>

export const BudgetLeft = z.strictObject({
  steps: z.int().optional(),
  execMs: z.number().optional(),
  outputBytes: z.int().optional(),
  tokens: z.int().optional(),
  wallMs: z.number().optional(),
}).describe('What is left of each budget that is set')
export type BudgetLeft = z.infer<typeof BudgetLeft>

export const Limits = z.strictObject({
  frameBytes: z.int().describe('Largest message, bytes'),
  inFlightPerSocket: z.int().describe('Unanswered requests per socket'),
  episodesPerKey: z.int().describe('Live episodes per key'),
  queueLength: z.int().describe('Groups and episodes that may wait for places'),
  outputBytes: z.int().describe('Bytes kept of each stream of one command, head and tail together'),
})
export type Limits = z.infer<typeof Limits>
