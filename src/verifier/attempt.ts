// One pass over a submission in one fresh sandbox: apply, build, case after case. Says what happened; what it is worth is settle.ts.
import { deadline, orAbort } from '../base/deadline.ts'
import type { Clock } from '../base/clock.ts'
import { AssayError, isAssayError, type ErrorCode } from '../errors.ts'
import type { Command, Ran } from '../sandbox/command.ts'
import type { Sandbox, SandboxLoss } from '../sandbox/engine.ts'
import type { Pool } from '../sandbox/pool.ts'
import type { Case } from '../tasks/cases.ts'
import { applyDelta } from './apply.ts'
import { CaseRoom } from './cases/room.ts'
import { shuffle } from './cases/order.ts'
import { CASE_OUTPUT_BYTES, describeEnding } from './cases/probe.ts'
import type { CaseResult, Submission } from './verifier.ts'

export type Attempt =
  /** No sandbox could be had; the submission was not touched. */
  | { kind: 'unready', code: ErrorCode, why: string }
  | { kind: 'cancelled' }
  /** The agent's code was there. stopped: cases are missing. */
  | { kind: 'ran', cases: CaseEnding[], stopped: Stopped | undefined }

export interface CaseEnding extends CaseResult {
  timedOut: boolean
  /** By SIGKILL or for memory: perhaps the agent's doing, perhaps the machine's. */
  killed: boolean
}

export type Stopped =
  | { by: 'time', why: string }
  | { by: 'loss', why: string, loss: SandboxLoss['kind'] | undefined }

export interface AttemptDeps {
  pool: Pool
  clock: Clock
}

interface Bounds { signal: AbortSignal }

export interface AttemptOptions extends Bounds {
  /** End after the first case that plainly fails: it decides alone. */
  stopAtFailure: boolean
}

/** Never throws for what happens in a sandbox. */
export async function runAttempt (
  deps: AttemptDeps, submission: Submission, options: AttemptOptions
): Promise<Attempt> {
  const { signal, stopAtFailure } = options
  let sandbox: Sandbox
  try {
    using limit = deadline(BOOT_MS, { parent: signal, what: 'starting the verifier\'s sandbox' })
    sandbox = await deps.pool.acquire(submission.spec, { signal: limit.signal })
  } catch (error) {
    if (signal.aborted) return { kind: 'cancelled' }
    if (!isAssayError(error)) throw error
    return { kind: 'unready', code: error.code, why: error.message }
  }
  const cases: CaseEnding[] = []
  using limit = deadline(submission.task.verifier.timeoutMs, { parent: signal, what: 'the verification' })
  try {
    const stopped = await runAll(sandbox, submission, { cases, clock: deps.clock, stopAtFailure, signal: limit.signal })
    return { kind: 'ran', cases, stopped }
  } catch (error) {
    if (signal.aborted) return { kind: 'cancelled' }
    if (!isAssayError(error)) throw error
    const stopped: Stopped = limit.signal.aborted
      ? { by: 'time', why: error.message }
      : { by: 'loss', why: error.message, loss: await findLoss(sandbox) }
    return { kind: 'ran', cases, stopped }
  } finally {
    // removing a container takes longer than many a verification; the pool sees it through
    sandbox[Symbol.asyncDispose]().then(undefined, () => {}) // its engine keeps trying, and logs why
  }
}

interface Running extends AttemptOptions {
  /** Grows case by case, so that a fault leaves what was found before it. */
  cases: CaseEnding[]
  clock: Clock
}

async function runAll (sandbox: Sandbox, submission: Submission, running: Running): Promise<Stopped | undefined> {
  const { cases, clock, signal, stopAtFailure } = running
  const { verifier } = submission.task
  await applyDelta(sandbox, submission, { signal })
  const build = await runBuild(sandbox, submission, signal)
  if (build?.ending.kind === 'timedOut') return { by: 'time', why: 'the build took too long' }
  if (build !== undefined && !isSuccess(build)) {
    cases.push(...failAll(verifier.cases, `the build ${describeEnding(build)}`, wasKilled(build)))
    return undefined
  }
  const room = new CaseRoom(sandbox, submission)
  for (const one of shuffle(verifier.cases, submission.seed)) {
    const result = await runCase(room, one, { clock, signal })
    cases.push(result)
    if (stopAtFailure && !result.passed && !result.timedOut && !result.killed) return undefined
    const slow = cases.filter(({ timedOut }) => timedOut).length
    if (cases.filter(({ killed }) => killed).length >= MAX_TIMEOUTS) return undefined // no more evidence is needed
    if (slow >= MAX_TIMEOUTS) return { by: 'time', why: `${slow} cases took too long` }
  }
  return undefined
}

async function runBuild (sandbox: Sandbox, { task, spec }: Submission, signal: AbortSignal): Promise<Ran | undefined> {
  const { build } = task.verifier
  if (build === undefined) return undefined
  const ran = await runBounded(sandbox, {
    script: build.command,
    timeoutMs: build.timeoutMs,
    cwd: spec.workdir,
    outputBytes: CASE_OUTPUT_BYTES,
    isolated: true,
  }, signal)
  await sandbox.killAll({ signal })
  return ran
}

async function runCase (room: CaseRoom, one: Case, { clock, signal }: Bounds & { clock: Clock }): Promise<CaseEnding> {
  const { command, judge } = await room.enter(one, { signal })
  const start = clock.monotonic()
  const ran = await runBounded(room.sandbox, command, signal)
  const durationMs = clock.monotonic() - start
  await room.leave({ signal })
  const timedOut = ran.ending.kind === 'timedOut'
  const killed = wasKilled(ran)
  const why = timedOut || killed ? describeEnding(ran) : judge(ran)
  return { id: one.id, requirement: one.requirement, passed: why === undefined, why, durationMs, timedOut, killed }
}

/** The sandbox keeps the limit; should it not, the server's clock does, first by a kill, then by leaving. */
async function runBounded (sandbox: Sandbox, command: Command, signal: AbortSignal): Promise<Ran> {
  using kill = deadline(command.timeoutMs + GRACE_MS, { parent: signal })
  using leave = deadline(command.timeoutMs + 2 * GRACE_MS, { parent: signal, code: 'SANDBOX_LOST', what: 'killing a command' })
  const ran = await orAbort(sandbox.run(command, { signal: kill.signal }), leave.signal)
  signal.throwIfAborted()
  if (ran.ending.kind !== 'cancelled') return ran
  if (!kill.signal.aborted) throw new AssayError('WARDEN_FAULT', { message: 'A command was reported as cancelled that nobody cancelled.' })
  return { ...ran, ending: { kind: 'timedOut' } }
}

async function findLoss (sandbox: Sandbox): Promise<SandboxLoss['kind'] | undefined> {
  using limit = deadline(LOSS_MS)
  return await orAbort(sandbox.lost, limit.signal).then(({ kind }) => kind, () => undefined) // no news: not lost, only failing
}

function failAll (cases: readonly Case[], why: string, killed: boolean): CaseEnding[] {
  const ending = { passed: false, why, durationMs: 0, timedOut: false, killed }
  return cases.map(({ id, requirement }) => ({ id, requirement, ...ending }))
}

function wasKilled ({ ending, oomKilled }: Ran): boolean {
  return oomKilled || (ending.kind === 'signalled' && ending.signal === 'SIGKILL')
}

function isSuccess ({ ending }: Ran): boolean {
  return ending.kind === 'exited' && ending.exitCode === 0
}

const BOOT_MS = 120_000
const GRACE_MS = 5_000
// an engine inspects for up to 5 s before it says whose doing a loss was
const LOSS_MS = 8_000
const MAX_TIMEOUTS = 3
