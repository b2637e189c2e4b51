// The order of cases, fixed by a seed: independent of the file's, the same again for the same seed.
import { createHash } from 'node:crypto'

/** A new array with the items in an order that the seed decides. */
export function shuffle<T> (items: readonly T[], seed: number): T[] {
  return items
    .map((item, index) => ({ item, rank: createHash('sha256').update(`${seed} ${index}`).digest('hex') }))
    .sort((a, b) => a.rank < b.rank ? -1 : 1)
    .map(({ item }) => item)
}
