// Parts for tests above sandboxes: a task, a fake engine behind a real pool, a scripted verifier, a condition to wait for.
import { setImmediate } from 'node:timers/promises'
import { systemClock, type Clock } from '../../src/base/clock.ts'
import { orAbort } from '../../src/base/deadline.ts'
import { defer, type Deferred } from '../../src/base/defer.ts'
import { isAssayError, type AssayError, type ErrorCode } from '../../src/errors.ts'
import type { SandboxSpec } from '../../src/sandbox/engine.ts'
import { createFakeEngine, type FakeEngine, type FakeEngineOptions } from '../../src/sandbox/engines/fake.ts'
import { createPool, type Pool } from '../../src/sandbox/pool.ts'
import type { Task } from '../../src/tasks/task.ts'
import { silentLogger } from '../../src/telemetry/log.ts'
import { createMetrics } from '../../src/telemetry/metrics.ts'
import type { Submission, Verification, Verifier } from '../../src/verifier/verifier.ts'

export const MEBIBYTE = 1024 * 1024

/** A task whose answer.txt must hold 42; nothing of it is on disk. */
export function makeTask (overrides: Partial<Task> = {}): Task {
  const id = overrides.id ?? 'answer'
  return {
    id,
    title: 'Write the answer',
    split: 'train',
    digest: `digest-of-${id}`,
    domain: 'fixtures',
    language: 'shell',
    interface: 'cli',
    instruction: 'Write 42 into answer.txt.',
    requirements: 1,
    workdir: '/desk',
    user: undefined,
    env: {},
    limits: { memoryBytes: 64 * MEBIBYTE, pids: 64, cpus: 1, diskBytes: 64 * MEBIBYTE },
    stepTimeoutMs: 10_000,
    image: { kind: 'name', name: 'fake' },
    directory: '/nowhere',
    verifier: {
      kind: 'driver',
      mode: 'fresh',
      build: undefined,
      protected: [],
      command: 'cat answer.txt',
      runner: undefined,
      caseTimeoutMs: 1000,
      timeoutMs: 10_000,
      cases: [],
      digest: 'digest-of-cases',
    },
    ...overrides,
  }
}

export function makeSpec (task: Task = makeTask()): SandboxSpec {
  return { image: { id: 'sha256:fake', workdir: '/desk', user: '' }, workdir: '/desk', env: {}, limits: task.limits }
}

export function makeEngine (options: Partial<FakeEngineOptions> = {}): FakeEngine {
  return createFakeEngine({ node: 'n1', boot: 'b1', ...options })
}

export function makePool (engine: FakeEngine, clock: Clock = systemClock): Pool {
  return createPool({ engine, clock, log: silentLogger, metrics: createMetrics(), warmSandboxes: 0, maxStarting: 64 })
}

export interface ScriptedVerifier extends Verifier {
  readonly submissions: Submission[]
  /** While set, answers wait for it. */
  gate: Deferred<void> | undefined
}

/** answer.txt decides: 42 is verified, "void" is a verifier_error, "throw" breaks the port, anything else has failed. */
export function createScriptedVerifier (): ScriptedVerifier {
  const verifier: ScriptedVerifier = {
    submissions: [],
    gate: undefined,
    async verify (submission, { signal } = {}) {
      verifier.submissions.push(submission)
      try {
        if (verifier.gate !== undefined) await orAbort(verifier.gate.promise, signal)
      } catch {
        return report('cancelled') // only the signal can end the wait
      }
      const answer = submission.delta.entries.find(({ path }) => path === 'answer.txt')
      const text = answer?.type === 'file' ? Buffer.from(answer.content).toString() : ''
      if (text === 'throw') throw new Error('a verifier that breaks its port')
      if (text === 'void') return report('verifier_error')
      return report(text === '42' ? 'verified' : 'verifier_failed')
    },
  }
  return verifier
}

/** Turns of the event loop until the condition holds; throws after a generous deadline. */
export async function until (condition: () => boolean, what = 'the condition', ms = 5000): Promise<void> {
  const end = performance.now() + ms
  while (!condition()) {
    if (performance.now() > end) throw new Error(`${what} did not come about in ${ms} ms`)
    await setImmediate()
  }
}

export { defer }

/** The AssayError that the promise rejects with; throws when it does not, or has another code. */
export async function refusal (promise: Promise<unknown>, code: ErrorCode): Promise<AssayError> {
  try {
    await promise
  } catch (error) {
    if (isAssayError(error, code)) return error
    throw error
  }
  throw new Error(`expected ${code}, but it succeeded`)
}

function report (reason: Verification['reason']): Verification {
  const passed = reason === 'verified' ? 1 : 0
  return { reason, cases: { passed, failed: 1 - passed, total: 1 }, runs: 1, flags: [], log: [] }
}
