// Latencies in an HDR histogram: three digits from a microsecond to an hour, percentiles in milliseconds.
import { build } from 'hdr-histogram-js'

export interface Latency {
  record (ms: number): void
  /** Runs fn, records how long it took even when it throws. */
  time<T> (fn: () => Promise<T>): Promise<T>
  readonly count: number
  /** NaN while nothing is recorded. */
  percentileMs (percent: number): number
}

export function createLatency (): Latency {
  const histogram = build({
    lowestDiscernibleValue: 1,
    highestTrackableValue: HOUR_US,
    numberOfSignificantValueDigits: 3,
  })
  const record = (ms: number): void => histogram.recordValue(Math.min(HOUR_US, Math.max(1, Math.round(ms * 1000))))
  return {
    record,
    async time (fn) {
      const startedAt = performance.now()
      try {
        return await fn()
      } finally {
        record(performance.now() - startedAt)
      }
    },
    get count () { return histogram.totalCount },
    percentileMs: percent => histogram.totalCount === 0 ? NaN : histogram.getValueAtPercentile(percent) / 1000,
  }
}

const HOUR_US = 3_600_000_000
