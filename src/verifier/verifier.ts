// The port: judges a submission in fresh sandboxes where its agent never was.
import type { PlainReason } from '../protocol/index.ts'
import type { Delta } from '../sandbox/delta.ts'
import type { SandboxSpec, WaitOptions } from '../sandbox/engine.ts'
import type { Task } from '../tasks/task.ts'

export interface Submission {
  task: Task
  /** The pristine sandbox of the task. */
  spec: SandboxSpec
  delta: Delta
  seed: number
}

export interface Verification {
  reason: Extract<PlainReason,
    'verified' | 'verifier_failed' | 'verifier_timeout' | 'agent_broke_verifier' |
    'engine_lost' | 'verifier_error' | 'verifier_bootstrap' | 'task_defect' | 'cancelled'>
  cases: { passed: number, failed: number, total: number } | undefined
  /** How often the submission was verified. */
  runs: number
  flags: string[]
  /** For authors only: which cases failed and how. Never on the wire to a trainer. */
  log: CaseResult[]
}

export interface CaseResult {
  id: string
  requirement: number
  passed: boolean
  /** Why it failed, for the author. */
  why?: string | undefined
  durationMs: number
}

export interface Verifier {
  /** Never throws for what happens in a sandbox: every ending is a reason. */
  verify (submission: Submission, options?: WaitOptions): Promise<Verification>
}
