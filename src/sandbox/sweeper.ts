// Removes what no living node owns. Labels are the evidence; who lives is the caller's knowledge.
import type { Clock } from '../base/clock.ts'
import type { Logger } from '../telemetry/log.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import type { Engine, SandboxRef, WaitOptions } from './engine.ts'

export interface SweepOptions extends WaitOptions {
  engine: Engine
  /** Whether that start of that node still owns its sandboxes. */
  isAlive: (nodeId: string, boot: string) => boolean | Promise<boolean>
}

export interface Swept {
  removed: number
  /** What could not be removed and why; the next sweep tries again. */
  failures: ReadonlyArray<{ ref: SandboxRef, error: unknown }>
}

/** One pass. Throws only when the engine cannot list. */
export async function sweep ({ engine, isAlive, signal }: SweepOptions): Promise<Swept> {
  const failures: Array<{ ref: SandboxRef, error: unknown }> = []
  let removed = 0
  const refs = await engine.list({ signal })
  await Promise.all(refs.map(async ref => {
    if (await isAlive(ref.node, ref.boot)) return
    try {
      await engine.remove(ref, { signal })
      removed++
    } catch (error) {
      failures.push({ ref, error })
    }
  }))
  return { removed, failures }
}

export interface SweeperOptions extends SweepOptions {
  everyMs: number
  clock: Clock
  log: Logger
  metrics: Metrics
}

/** Sweeps now and then every everyMs, one pass at a time. Dispose waits for a running pass to stop. */
export function startSweeper ({ everyMs, clock, log, metrics, ...options }: SweeperOptions): AsyncDisposable {
  const stop = new AbortController()
  let cancel = (): void => {}
  const pass = async (): Promise<void> => {
    try {
      const { removed, failures } = await sweep({ ...options, signal: stop.signal })
      metrics.swept.inc(removed)
      if (removed + failures.length > 0) log.info({ removed, failures }, 'swept sandboxes that no living node owns')
    } catch (error) {
      if (!stop.signal.aborted) log.warn({ error }, 'sweep failed')
    }
    if (!stop.signal.aborted) cancel = clock.after(everyMs, () => { running = pass() })
  }
  let running = pass()
  return {
    async [Symbol.asyncDispose] () {
      stop.abort(new Error('the sweeper is stopped'))
      cancel()
      await running
    },
  }
}
