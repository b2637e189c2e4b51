// The life of one attempt: its place, its sandbox, its state and its one verdict. Knows no lease and no seq.
import { deadline } from '../../base/deadline.ts'
import { defer } from '../../base/defer.ts'
import { AssayError } from '../../errors.ts'
import type { BudgetReason, EpisodeState, Provenance, Verdict } from '../../protocol/index.ts'
import type { EpisodeDeps, EpisodeSetup } from '../setup.ts'
import { isLive, nextState, type EpisodeEvent } from '../state.ts'
import { decideVerdict, unverified, type Judgement } from '../verdict.ts'
import { Box, lossReason } from './box.ts'
import { EpisodeRecorder } from './record.ts'
import { TimeBudget } from './time.ts'

export interface LifeHooks {
  onOutOfTime: (reason: BudgetReason) => void
  /** In the same turn in which the verdict is set. */
  onVerdict: (verdict: Verdict) => void
}

export class Life {
  readonly box: Box
  readonly time: TimeBudget
  readonly record: EpisodeRecorder
  /** Resolves once the sandbox is ready or the attempt has ended; never rejects. */
  readonly started: Promise<void>
  readonly #setup: EpisodeSetup
  readonly #deps: EpisodeDeps
  readonly #hooks: LifeHooks
  readonly #controller = new AbortController()
  readonly #ended = defer<Verdict>()
  #state: EpisodeState = 'queued'
  #startedAt: number
  #place: Disposable | undefined
  #verdict: Verdict | undefined

  constructor (setup: EpisodeSetup, deps: EpisodeDeps, hooks: LifeHooks) {
    const { clock, config, pool, log, journal, metrics } = deps
    this.#setup = setup
    this.#deps = deps
    this.#hooks = hooks
    this.#startedAt = clock.now()
    this.record = new EpisodeRecorder({ episodeId: setup.id, journal, metrics, clock, log })
    this.box = new Box({
      pool,
      log,
      onLost: loss => { if (this.#state === 'ready') this.finish(unverified(lossReason(loss))) },
    })
    this.time = new TimeBudget({
      clock,
      wallMs: setup.budgets.wallMs,
      ceilingMs: config.ceilingMs,
      onExhausted: hooks.onOutOfTime,
    })
    const { task, principal, group, member, attempt, seed, budgets, meta } = setup
    this.record.born({ task: task.id, taskDigest: task.digest, principal, group, member, attempt, seed, budgets, meta })
    this.started = Promise.resolve().then(() => this.#start()) // not before whoever made the attempt knows of it
  }

  get state (): EpisodeState { return this.#state }
  get isLive (): boolean { return isLive(this.#state) }
  get verdict (): Verdict | undefined { return this.#verdict }
  get ended (): Promise<Verdict> { return this.#ended.promise }
  /** Aborts with the verdict. */
  get signal (): AbortSignal { return this.#controller.signal }

  /** Throws TypeError for an event that cannot happen in this state: a bug. */
  move (event: EpisodeEvent): void {
    const next = nextState(this.#state, event)
    if (next === undefined) throw new TypeError(`event ${event.type} in state ${this.#state}`)
    this.record.moved(this.#state, next)
    this.#state = next
  }

  /** Sets the verdict and gives everything back. The first call counts; later ones change nothing. */
  finish (judgement: Judgement): void {
    if (!this.isLive) return
    const { budgets, task, meta } = this.#setup
    const verdict = decideVerdict(judgement, {
      onBudget: budgets.onBudget,
      isAdmitted: this.#deps.isAdmitted(task),
      provenance: this.#provenance(),
      meta,
    })
    this.#verdict = verdict
    if (verdict.outcome === 'void') this.move({ type: 'voided', reason: verdict.reason })
    else this.move({ type: this.#state === 'verifying' ? 'verified' : 'forfeited' })
    this.#controller.abort(new AssayError('EPISODE_VOID'))
    this.time.stop()
    this.box.close().catch(() => {}) // it never rejects; released() waits for it
    this.#place?.[Symbol.dispose]()
    this.record.verdict(verdict)
    this.#hooks.onVerdict(verdict)
    this.#ended.resolve(verdict)
  }

  /** Resolves once the sandbox is given back; for after the verdict. */
  async released (): Promise<void> {
    await this.started
    await this.box.close()
  }

  async #start (): Promise<void> {
    const { admit, spec } = this.#setup
    if (!this.isLive) return
    try {
      const place = await admit(this.signal)
      if (!this.isLive) return place[Symbol.dispose]()
      this.#place = place
      this.move({ type: 'admitted' })
      using limit = deadline(START_MS, { parent: this.signal, code: 'ENGINE_UNAVAILABLE', what: 'making a sandbox' })
      await this.box.open(spec, limit.signal)
      if (!this.isLive) return
      this.move({ type: 'sandboxReady' })
      this.#startedAt = this.#deps.clock.now()
      this.time.start()
    } catch (error) {
      if (!this.isLive) return // ended while it started; the verdict says why
      this.#deps.log.warn({ error: String(error) }, 'no sandbox for the episode')
      this.finish(unverified('engine_lost'))
    }
  }

  #provenance (): Provenance {
    const { task, spec, seed } = this.#setup
    const { version, config, clock, pool: { engine } } = this.#deps
    return {
      task: task.id,
      taskDigest: task.digest,
      imageDigest: spec.image.id,
      verifierDigest: task.verifier.digest,
      serverVersion: version,
      engine: engine.name,
      isolation: engine.isolation,
      node: config.node,
      seed,
      startedAt: new Date(this.#startedAt).toISOString(),
      endedAt: new Date(clock.now()).toISOString(),
    }
  }
}

/** From the place to the ready sandbox; the pool tries again within it. */
const START_MS = 300_000
