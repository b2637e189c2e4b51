// Time as a dependency: wall time for records, monotonic time for durations, timers that tests can drive.

export interface Clock {
  /** Milliseconds since the epoch; for records. */
  now (): number
  /** Milliseconds from an arbitrary start, never backwards; for durations. */
  monotonic (): number
  /** Calls fn once after delayMs; the returned function cancels it. Never keeps the process alive. */
  after (delayMs: number, fn: () => void): () => void
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after (delayMs, fn) {
    const due = performance.now() + delayMs
    let timer: NodeJS.Timeout
    // Node cuts fractions off and may be early by a millisecond: whoever waits for a moment must not find it in the future
    const arm = (ms: number): void => {
      timer = setTimeout(() => {
        const left = due - performance.now()
        if (left > 0) arm(left)
        else fn()
      }, Math.ceil(ms)).unref()
    }
    arm(delayMs)
    return () => clearTimeout(timer)
  },
}

export interface ManualClock extends Clock {
  /** Moves time forward and runs every timer that falls due, in order. */
  advance (ms: number): void
}

export function manualClock (startMs = 1_700_000_000_000): ManualClock {
  let elapsed = 0
  let timers: Array<{ at: number, fn: () => void }> = []
  return {
    now: () => startMs + elapsed,
    monotonic: () => elapsed,
    after (delayMs, fn) {
      const timer = { at: elapsed + delayMs, fn }
      timers.push(timer)
      return () => { timers = timers.filter(t => t !== timer) }
    },
    advance (ms) {
      const end = elapsed + ms
      for (;;) {
        const due = timers.filter(t => t.at <= end).sort((a, b) => a.at - b.at)[0]
        if (due === undefined) break
        timers = timers.filter(t => t !== due)
        elapsed = due.at
        due.fn()
      }
      elapsed = end
    },
  }
}
