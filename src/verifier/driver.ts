// The verifier of driver tasks: a place, an attempt, and for what is provisional a second one alone beside a control.
import { deadline } from '../base/deadline.ts'
import type { Clock } from '../base/clock.ts'
import type { Semaphore } from '../base/semaphore.ts'
import { isAssayError } from '../errors.ts'
import type { Pool } from '../sandbox/pool.ts'
import type { Logger } from '../telemetry/log.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import { runAttempt, type Attempt } from './attempt.ts'
import type { Task } from '../tasks/task.ts'
import { protect } from './protect.ts'
import { findingOf, settleWithControl, type Reason } from './settle.ts'
import type { Submission, Verification, Verifier } from './verifier.ts'

export interface VerifierOptions {
  pool: Pool
  /** The share reserved for verifiers. All of it at once is the lane in which a submission is verified alone. */
  places: Semaphore
  /** Whether the first case that plainly fails ends a verification: the reward is decided, the rest is for authors. */
  stopAtFailure: boolean
  clock: Clock
  log: Logger
  metrics?: Metrics | undefined
}

export function createVerifier (options: VerifierOptions): Verifier {
  const { clock, log, metrics } = options
  return {
    async verify (submission, { signal = new AbortController().signal } = {}) {
      const start = clock.monotonic()
      const verification = await verify(options, submission, signal)
      const durationMs = clock.monotonic() - start
      metrics?.verifySeconds.observe(durationMs / 1000)
      const { reason, cases, runs, flags } = verification
      log.info({ task: submission.task.id, reason, cases, runs, flags, durationMs }, 'verified a submission')
      return verification
    },
  }
}

async function verify (options: VerifierOptions, submission: Submission, signal: AbortSignal): Promise<Verification> {
  const { task, delta } = submission
  const flags = protect(delta, task.verifier.protected).changed ? ['protected_changed'] : []
  const total = task.verifier.cases.length
  const inLane = <T>(places: number, fn: () => Promise<T>): Promise<T | Reason> =>
    takeLane(options.places, { places, task, signal }, fn)
  const { stopAtFailure } = options
  const run = (what: Submission): Promise<Attempt> => runAttempt(options, what, { signal, stopAtFailure })

  const first = await inLane(1, () => run(submission))
  if (typeof first === 'string') return report(first, { flags, runs: 0, attempt: undefined, total })
  const finding = findingOf(first, total)
  if (finding.kind === 'final') return report(finding.reason, { flags, runs: first.kind === 'ran' ? 1 : 0, attempt: first, total })

  options.log.warn({ task: task.id, by: finding.by, attempt: describe(first) }, 'a verification is provisional')
  const second = await inLane(options.places.capacity, async () => {
    const again = await run(submission)
    const found = findingOf(again, total)
    if (found.kind === 'final') return { again, reason: found.reason }
    const startTree = { ...submission, delta: { entries: [], deleted: [] } }
    const control = await runAttempt(options, startTree, { signal, stopAtFailure: false })
    const hasReferenceTime = task.verifier.referenceMs !== undefined
    return { again, reason: settleWithControl(again, control, { hasReferenceTime }) }
  })
  const provisional = [...flags, 'provisional']
  if (typeof second === 'string') return report(second, { flags: provisional, runs: 1, attempt: first, total })
  return report(second.reason, { flags: provisional, runs: 2, attempt: second.again, total })
}

interface Lane {
  places: number
  task: Task
  signal: AbortSignal
}

/** Runs fn holding places; the reason instead, when they cannot be had in time. */
async function takeLane<T> (semaphore: Semaphore, lane: Lane, fn: () => Promise<T>): Promise<T | Reason> {
  const { places, task, signal } = lane
  using wait = deadline(task.verifier.timeoutMs * WAIT_FACTOR, { parent: signal, what: 'waiting for a verifier place' })
  let permit
  try {
    permit = await semaphore.take(places, { signal: wait.signal })
  } catch (error) {
    if (signal.aborted) return 'cancelled'
    if (!isAssayError(error, 'DEADLINE')) throw error
    return 'verifier_error'
  }
  try {
    return await fn()
  } finally {
    permit[Symbol.dispose]()
  }
}

interface Reported {
  flags: string[]
  runs: number
  attempt: Attempt | undefined
  total: number
}

function report (reason: Reason, { flags, runs, attempt, total }: Reported): Verification {
  const log = attempt?.kind === 'ran' ? attempt.cases.map(({ timedOut: _timedOut, killed: _killed, ...result }) => result) : []
  const passed = log.filter(result => result.passed).length
  return {
    reason,
    flags,
    runs,
    log,
    cases: attempt?.kind === 'ran' ? { passed, failed: log.length - passed, total } : undefined,
  }
}

function describe (attempt: Attempt): Record<string, unknown> {
  return attempt.kind === 'ran' ? { reached: attempt.cases.length, stopped: attempt.stopped } : { ...attempt }
}

/** Places are waited for at most this many times the limit of one verification. */
const WAIT_FACTOR = 20
