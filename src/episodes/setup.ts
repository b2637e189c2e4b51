// What an episode is given: the facts of this attempt, and the parts of the server that it uses.
import type { Clock } from '../base/clock.ts'
import type { Random } from '../base/ids.ts'
import type { Config } from '../config.ts'
import type { Budgets, EpisodeId, GroupId, Meta, Verdict } from '../protocol/index.ts'
import type { SandboxSpec } from '../sandbox/engine.ts'
import type { Pool } from '../sandbox/pool.ts'
import type { Task } from '../tasks/task.ts'
import type { Journal } from '../telemetry/journal.ts'
import type { Logger } from '../telemetry/log.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import type { Verifier } from '../verifier/verifier.ts'
import type { BaselineOf } from './baseline.ts'

export interface EpisodeSetup {
  id: EpisodeId
  /** The principal's name. */
  principal: string
  task: Task
  spec: SandboxSpec
  budgets: Budgets
  seed: number
  meta: Meta
  attempt: number
  group?: GroupId | undefined
  member?: number | undefined
  /** Waits for a place, which the episode gives back at its verdict. Rejects when the signal aborts. */
  admit: (signal: AbortSignal) => Promise<Disposable>
  /** Called once, in the same turn in which the verdict is set. */
  onEnd: (verdict: Verdict) => void
}

export interface EpisodeDeps {
  config: Pick<Config, 'node' | 'leaseIdleMs' | 'ceilingMs' | 'outputBytes'>
  version: string
  pool: Pool
  verifier: Verifier
  baselineOf: BaselineOf
  isAdmitted: (task: Task) => boolean
  journal: Journal
  clock: Clock
  random: Random
  metrics: Metrics
  log: Logger
}

/** Why an episode ends that nobody submitted. */
export type EndReason = 'cancelled' | 'expired' | 'drained'
