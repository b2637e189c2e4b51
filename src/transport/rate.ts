// A token bucket: so many a minute, a minute's worth at once. Knows nothing of what is being rated.
import type { Clock } from '../base/clock.ts'

export class TokenBucket {
  readonly #perMinute: number
  readonly #clock: Clock
  #tokens: number
  #filledAtMs: number

  constructor (perMinute: number, clock: Clock) {
    this.#perMinute = perMinute
    this.#clock = clock
    this.#tokens = perMinute
    this.#filledAtMs = clock.monotonic()
  }

  /** Takes one token and returns 0, or takes none and returns the milliseconds until there is one. */
  take (): number {
    const now = this.#clock.monotonic()
    this.#tokens = Math.min(this.#perMinute, this.#tokens + (now - this.#filledAtMs) * this.#perMinute / MINUTE_MS)
    this.#filledAtMs = now
    if (this.#tokens < 1) return Math.ceil((1 - this.#tokens) * MINUTE_MS / this.#perMinute)
    this.#tokens -= 1
    return 0
  }
}

const MINUTE_MS = 60_000
