// From a submission to a judgement: freeze, delta, give the agent's sandbox back, verify. Makes no reward.
import type { Clock } from '../../base/clock.ts'
import { deadline } from '../../base/deadline.ts'
import { isAssayError } from '../../errors.ts'
import type { Truncated, VerifierReport } from '../../protocol/index.ts'
import { takeDelta, type Delta } from '../../sandbox/delta.ts'
import type { SandboxSpec } from '../../sandbox/engine.ts'
import type { Manifest } from '../../sandbox/files.ts'
import type { Task } from '../../tasks/task.ts'
import type { Logger } from '../../telemetry/log.ts'
import type { Verification, Verifier } from '../../verifier/verifier.ts'
import type { BaselineOf } from '../baseline.ts'
import { unverified, type Judgement } from '../verdict.ts'
import { failureReason, type Box } from './box.ts'

export interface SubmissionParts {
  box: Box
  task: Task
  spec: SandboxSpec
  seed: number
  truncated: Truncated | null
  baselineOf: BaselineOf
  verifier: Verifier
  clock: Clock
  log: Logger
}

/** Never throws: every ending is a reason. The box is being closed when it returns; no verdict waits for that. */
export async function judgeSubmission (parts: SubmissionParts, signal: AbortSignal): Promise<Judgement> {
  const { box, task, spec, seed, truncated, verifier, clock, log } = parts
  const startedAt = clock.monotonic()
  try {
    const baseline = await readBaseline(parts)
    if (typeof baseline === 'string') return unverified(baseline, truncated)
    const delta = await freeze(parts, { baseline, signal })
    if (typeof delta === 'string') return unverified(delta, truncated)
    close(box)
    const verification = await verifier.verify({ task, spec, delta, seed }, { signal })
    return {
      reason: verification.reason,
      truncated,
      flags: verification.flags,
      verifier: reportOf(task, verification, clock.monotonic() - startedAt),
    }
  } catch (error) {
    if (signal.aborted) return unverified('cancelled', truncated) // the episode has ended and its box was closed under us
    log.error({ error: error instanceof Error ? error.stack : String(error) }, 'the verifier threw, which its port forbids')
    return unverified('verifier_error', truncated)
  } finally {
    close(box)
  }
}

function close (box: Box): void {
  box.close().catch(() => {}) // it never rejects; the episode's released() waits for it
}

async function readBaseline ({ baselineOf, spec, log }: SubmissionParts): Promise<Manifest | 'task_defect' | 'engine_lost'> {
  try {
    return await baselineOf(spec)
  } catch (error) {
    log.warn({ error: String(error) }, 'the pristine workspace could not be listed')
    return isAssayError(error, 'FILE_REFUSED') ? 'task_defect' : 'engine_lost'
  }
}

async function freeze (
  { box, spec, log }: SubmissionParts,
  { baseline, signal }: { baseline: Manifest, signal: AbortSignal }
): Promise<Delta | 'delta_rejected' | 'sandbox_lost' | 'engine_lost'> {
  using limit = deadline(FREEZE_MS, { parent: signal, code: 'SANDBOX_LOST', what: 'freezing the sandbox' })
  const sandbox = box.sandbox
  try {
    return await takeDelta(sandbox, spec.workdir, { baseline, signal: limit.signal })
  } catch (error) {
    log.info({ error: String(error) }, 'no delta')
    return isAssayError(error, 'FILE_REFUSED') ? 'delta_rejected' : await failureReason(error, sandbox)
  }
}

function reportOf (task: Task, { cases, runs }: Verification, durationMs: number): VerifierReport {
  return { kind: task.verifier.kind, mode: task.verifier.mode, ...(cases !== undefined && { cases }), durationMs, runs }
}

const FREEZE_MS = 120_000
