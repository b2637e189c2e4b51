// What is stored, with a version so that it may change apart from the wire.
import { z } from 'zod'

export const EpisodeRecord = z.strictObject({
  version: z.literal(1),
  id: z.string(),
  node: z.string(),
  principal: z.string(),
  task: z.string(),
  group: z.string().optional(),
  member: z.int().optional(),
  attempt: z.int(),
  state: z.string(),
  updatedAt: z.number(),
})
export type EpisodeRecord = z.infer<typeof EpisodeRecord>

export const GroupRecord = z.strictObject({
  version: z.literal(1),
  id: z.string(),
  node: z.string(),
  principal: z.string(),
  task: z.string(),
  size: z.int(),
  state: z.string(),
  updatedAt: z.number(),
})
export type GroupRecord = z.infer<typeof GroupRecord>

export const NodeRecord = z.strictObject({
  version: z.literal(1),
  id: z.string(),
  boot: z.string().describe('Changes with each start of the node'),
  startedAt: z.number(),
})
export type NodeRecord = z.infer<typeof NodeRecord>
