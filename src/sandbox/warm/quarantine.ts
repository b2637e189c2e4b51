// Remembers that one kind of sandbox keeps failing: a pause after each failure, refusal after several in a row.
import { AssayError, isAssayError, type ErrorCode } from '../../errors.ts'

export class Quarantine {
  #failures = 0
  #untilMs = 0
  #last: { code: ErrorCode, reason: string } | undefined
  #wave = 0

  /** Hand it to failed(): starts of one wave that fail together count as one failure. */
  get wave (): number { return this.#wave }

  isBlocked (nowMs: number): boolean {
    return nowMs < this.#untilMs
  }

  /** Why nothing is handed out now, once the failures in a row are too many. */
  refusal (nowMs: number): AssayError | undefined {
    if (this.#last === undefined || this.#failures < FAILURES || !this.isBlocked(nowMs)) return undefined
    const retryAfterMs = Math.ceil(this.#untilMs - nowMs)
    return new AssayError(this.#last.code, {
      message: `Sandboxes of this image failed ${this.#failures} times in a row and are not tried for ${retryAfterMs} ms: ${this.#last.reason}`,
      retryAfterMs,
    })
  }

  succeeded (): void {
    this.#failures = 0
    this.#untilMs = 0
  }

  /** Returns the milliseconds until the next try. */
  failed (error: unknown, { wave, nowMs }: { wave: number, nowMs: number }): number {
    if (wave === this.#wave) {
      this.#failures++
      this.#wave++
      this.#untilMs = nowMs + pauseMs(this.#failures)
      const code = isAssayError(error) ? error.code : 'ENGINE_FAULT'
      this.#last = { code, reason: error instanceof Error ? error.message : String(error) }
    }
    return Math.max(0, this.#untilMs - nowMs)
  }
}

/** Pure: short pauses for hiccups, then 10 s doubling to 2 min. */
export function pauseMs (failures: number): number {
  return failures < FAILURES ? 200 * failures : Math.min(10_000 * 2 ** (failures - FAILURES), 120_000)
}

const FAILURES = 3
