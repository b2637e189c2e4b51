// Reproducible chance for property tests: the same seed gives the same bytes.

export interface Chance {
  /** A whole number from 0 to below. */
  below (limit: number): number
  bytes (length: number): Buffer
}

export function chance (seed: number): Chance {
  let state = seed >>> 0
  const next = (): number => {
    state = (state + 0x6D2B79F5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return (mixed ^ (mixed >>> 14)) >>> 0
  }
  return {
    below: limit => next() % limit,
    bytes: length => Buffer.from(Array.from({ length }, () => next() & 0xff)),
  }
}
