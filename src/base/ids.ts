// Ids that carry their node, sort by time of birth within it, and cannot be guessed.
import { randomBytes } from 'node:crypto'

export type Random = (bytes: number) => Uint8Array

export const systemRandom: Random = bytes => randomBytes(bytes)

export interface IdOptions { nowMs: number, random: Random }

const NODE_ID = /^[a-z0-9]{1,24}$/

/** `<prefix>_<node>_<time base36><random>`, e.g. ep_n1_mhq3k2v17f0c9a2b4d6e8f1. */
export function createId (prefix: string, nodeId: string, { nowMs, random }: IdOptions): string {
  return `${prefix}_${nodeId}_${Math.floor(nowMs).toString(36)}${Buffer.from(random(9)).toString('hex')}`
}

/** The node in an id, or undefined when it is not one of ours. */
export function findNodeId (id: string): string | undefined {
  const [, node, local, ...rest] = id.split('_')
  return local !== undefined && rest.length === 0 && node !== undefined && NODE_ID.test(node) ? node : undefined
}

export function isNodeId (value: string): boolean {
  return NODE_ID.test(value)
}
