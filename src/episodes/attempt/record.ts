// What an episode leaves behind: journal lines, counters and log lines. Decides nothing.
import type { Clock } from '../../base/clock.ts'
import { bytesToJson, type Action, type EpisodeState, type Observation, type Verdict } from '../../protocol/index.ts'
import type { Journal } from '../../telemetry/journal.ts'
import type { Logger } from '../../telemetry/log.ts'
import type { Metrics } from '../../telemetry/metrics.ts'
import type { SeqRequest } from '../seq.ts'

export interface RecordOptions {
  episodeId: string
  journal: Journal
  metrics: Metrics
  clock: Clock
  log: Logger
}

export class EpisodeRecorder {
  readonly #options: RecordOptions

  constructor (options: RecordOptions) {
    this.#options = options
  }

  born (facts: Record<string, unknown>): void {
    this.#append('reset', facts)
    this.#options.metrics.episodes.inc({ state: 'queued' })
  }

  moved (from: EpisodeState, to: EpisodeState): void {
    this.#options.metrics.episodes.dec({ state: from })
    this.#options.metrics.episodes.inc({ state: to })
    if (to !== 'closed') this.#append('state', { from, to }) // the journal ends with the verdict
  }

  action (seq: number, action: Action): void {
    this.#append('action', { seq, action: { ...action, ...('stdin' in action && action.stdin !== undefined && { stdin: bytesToJson(action.stdin) }) } })
  }

  observation (seq: number, observation: Observation): void {
    this.#options.metrics.stepSeconds.observe((observation.durationMs ?? 0) / 1000)
    this.#append('observation', {
      seq,
      observation: {
        ...observation,
        ...(observation.stdout !== undefined && { stdout: bytesToJson(observation.stdout) }),
        ...(observation.stderr !== undefined && { stderr: bytesToJson(observation.stderr) }),
      },
    })
  }

  submission (seq: number, request: SeqRequest): void {
    this.#append('submit', { seq, request })
  }

  verdict (verdict: Verdict): void {
    const { journal, metrics, log, episodeId } = this.#options
    metrics.verdicts.inc({ outcome: verdict.outcome, reason: verdict.reason })
    log.info({ outcome: verdict.outcome, reason: verdict.reason, truncated: verdict.truncated }, 'verdict')
    this.#append('verdict', { verdict })
    journal.end(episodeId).catch(error => log.warn({ error: String(error) }, 'the journal could not be closed'))
  }

  /** The registry holds the episode no longer. */
  forgotten (state: EpisodeState): void {
    this.#options.metrics.episodes.dec({ state })
  }

  #append (type: 'reset' | 'state' | 'action' | 'observation' | 'submit' | 'verdict', facts: Record<string, unknown>): void {
    this.#options.journal.append(this.#options.episodeId, { type, at: this.#options.clock.now(), ...facts })
  }
}
