// One attempt as its driver sees it: leases, seqs and budgets over one sandbox. Knows neither groups nor sockets.
import { orAbort } from '../base/deadline.ts'
import { AssayError, isAssayError, type ErrorCode } from '../errors.ts'
import type {
  Action, BudgetReason, EpisodeId, EpisodeReport, EpisodeState, ExecAction, Lease, Observation, ResetResult,
  ResumeResult, StepResult, SubmitResult, Truncated, Verdict,
} from '../protocol/index.ts'
import { failureReason } from './attempt/box.ts'
import { Life } from './attempt/life.ts'
import { receivedBytes, toCommand, toObservation } from './attempt/observation.ts'
import { judgeSubmission } from './attempt/submission.ts'
import { budgetLeft, charge, findExhausted, NOTHING_SPENT, type Spent } from './budget.ts'
import { Leases, type Listener } from './lease.ts'
import { SeqLedger, type Route } from './ledger.ts'
import type { SeqRequest } from './seq.ts'
import type { EndReason, EpisodeDeps, EpisodeSetup } from './setup.ts'
import { unverified } from './verdict.ts'

export interface StepRequest { lease: Lease, seq: number, action: Action, tokens: number }
export interface SubmitRequest { lease: Lease, seq: number, truncated?: 'tokens' | 'turns' | undefined }

interface ExecStep { seq: number, action: ExecAction, tokens: number }

/** What a seq led to. */
interface Outcome { observation?: Observation, verdict?: Verdict }

export class Episode {
  readonly setup: EpisodeSetup
  readonly #deps: EpisodeDeps
  readonly #life: Life
  readonly #leases: Leases
  readonly #ledger: SeqLedger<Outcome>
  #spent: Spent = NOTHING_SPENT
  #cutBy: BudgetReason | undefined
  #endAfterStep: EndReason | undefined

  constructor (setup: EpisodeSetup, deps: EpisodeDeps) {
    const { clock, random, config: { leaseIdleMs } } = deps
    this.setup = setup
    this.#deps = deps
    this.#leases = new Leases({ clock, random, leaseIdleMs, onExpired: () => this.end('expired') })
    this.#ledger = new SeqLedger({
      onBusy: () => this.#leases.commandStarted(),
      onIdle: () => this.#leases.commandEnded(),
    })
    this.#life = new Life(setup, deps, {
      onOutOfTime: reason => this.#outOfTime(reason),
      onVerdict: verdict => this.#tell(verdict),
    })
  }

  get id (): EpisodeId { return this.setup.id }
  get state (): EpisodeState { return this.#life.state }
  get isLive (): boolean { return this.#life.isLive }
  /** Resolves with the verdict, whatever it is. */
  get ended (): Promise<Verdict> { return this.#life.ended }

  /** A new lease, which fences the older ones; then waits until the sandbox is ready. Throws EPISODE_VOID or EPISODE_CLOSED when it never will be. */
  async open (listener: Listener | undefined, signal: AbortSignal): Promise<ResetResult> {
    this.#checkUsable()
    const lease = this.#grant(listener)
    await orAbort(this.#life.started, signal)
    this.#checkUsable()
    const { attempt, task, spec } = this.setup
    const observation = { instruction: task.instruction, cwd: spec.workdir, budgetLeft: this.#budgetLeft() }
    return { episode: this.id, lease, committed: this.#ledger.committed, attempt, observation }
  }

  /** Runs the action, joins the one that runs, or returns the stored result. Once begun it goes on when signal aborts. */
  async step ({ lease, seq, action, tokens }: StepRequest, signal: AbortSignal): Promise<StepResult> {
    this.#leases.check(lease, this.#ledger.committed)
    this.#life.time.resume() // whoever drives is back, on whichever socket
    if (action.type !== 'exec') {
      throw this.#refusal('NOT_IMPLEMENTED', `The action "${action.type}" is part of protocol v1 but not offered yet; use exec.`)
    }
    const request: SeqRequest = { type: 'step', action }
    const route = this.#route(seq, request)
    if (route.do === 'replay') return this.#stepResult(route.outcome, { replayed: true })
    const done = route.do === 'join'
      ? route.done
      : this.#ledger.begin(request, commit => this.#run({ seq, action, tokens }, commit))
    return this.#stepResult(await orAbort(done, signal), {})
  }

  /** Freezes and verifies; a finished episode answers with its verdict. Once begun it goes on when signal aborts. */
  async submit ({ lease, seq, truncated }: SubmitRequest, signal: AbortSignal): Promise<SubmitResult> {
    this.#leases.check(lease, this.#ledger.committed)
    const known = this.#life.verdict
    if (known !== undefined) return { committed: this.#ledger.committed, verdict: known, replayed: true }
    const request: SeqRequest = { type: 'submit', truncated }
    const route = this.#route(seq, request)
    if (route.do === 'run') this.#beginSubmit(request, truncated ?? null)
    // every submit ends with a verdict, its own or the one that ended the episode meanwhile
    const verdict = await orAbort(this.#life.ended, signal)
    return { committed: this.#ledger.committed, verdict }
  }

  /** A new lease, the committed seq and its result. Throws FENCED unless lease is the newest. */
  resume (lease: Lease, listener: Listener | undefined): ResumeResult {
    const { committed, running, last } = this.#ledger
    this.#leases.check(lease, committed)
    return {
      episode: this.id,
      lease: this.#grant(listener),
      committed,
      state: this.state,
      ...(running !== undefined && { running: running.seq }),
      ...(last !== undefined && { last: { seq: last.seq, ...last.outcome } }),
    }
  }

  report (): EpisodeReport {
    const { task, group, member, attempt, meta } = this.setup
    const { committed, running } = this.#ledger
    const { verdict } = this.#life
    return {
      episode: this.id,
      task: task.id,
      state: this.state,
      committed,
      ...(group !== undefined && { group }),
      ...(member !== undefined && { member }),
      attempt,
      ...(running !== undefined && { running: running.seq }),
      budgetLeft: this.#budgetLeft(),
      ...(verdict !== undefined && { verdict }),
      meta,
    }
  }

  /** Gives the episode up; resolves once its sandbox is gone. Throws FENCED. */
  async close (lease: Lease, signal: AbortSignal): Promise<EpisodeReport> {
    this.#leases.check(lease, this.#ledger.committed)
    this.end('cancelled')
    if (this.state !== 'closed') this.#life.move({ type: 'closed' })
    this.#ledger.forget()
    await orAbort(this.#life.released(), signal)
    return this.report()
  }

  /** Ends a live episode that nobody submitted. afterStep lets a running step or verification end first. */
  end (reason: EndReason, { afterStep = false }: { afterStep?: boolean } = {}): void {
    if (afterStep && this.#ledger.running !== undefined) this.#endAfterStep ??= reason
    else this.#life.finish(unverified(reason))
  }

  /** Resolves once the sandbox is given back; for after the verdict. */
  async released (): Promise<void> { await this.#life.released() }

  /** The socket is gone: it renews nothing any more, and wall time stands still until someone is back. */
  disconnected (listenerId: string): void {
    if (this.#leases.disconnected(listenerId)) this.#life.time.pause()
  }

  /** Nobody holds the episode any more. */
  forgotten (): void { this.#life.record.forgotten(this.state) }

  #checkUsable (): void {
    if (this.state === 'void' || this.state === 'closed') throw this.#endedError()
  }

  #grant (listener: Listener | undefined): Lease {
    this.#life.time.resume()
    return this.#leases.issue(listener)
  }

  #route (seq: number, request: SeqRequest): Exclude<Route<Outcome>, { do: 'refuse' }> {
    const route = this.#ledger.route(seq, request)
    if (route.do === 'replay' || route.do === 'join') return route
    if (request.type === 'step' && (!this.isLive || this.state === 'verifying')) throw this.#endedError()
    if (route.do === 'refuse') throw this.#refusal(route.code)
    if (this.state !== 'ready') throw this.#refusal('EPISODE_BUSY', 'The sandbox of this episode is not ready yet; wait for the reply to reset.')
    return route
  }

  async #run ({ seq, action, tokens }: ExecStep, commit: (outcome: Outcome) => void): Promise<Outcome> {
    const { clock, config: { outputBytes } } = this.#deps
    const { budgets, task } = this.setup
    this.#life.move({ type: 'stepStarted' })
    this.#life.record.action(seq, action)
    const startedAt = clock.monotonic()
    const ran = await this.#guard(this.#life.box.run(toCommand(action, {
      timeoutMs: task.stepTimeoutMs,
      outputBytes,
      execMsLeft: this.#budgetLeft().execMs,
    })))
    if (!this.isLive) throw this.#endedError()
    this.#spent = charge(this.#spent, {
      execMs: clock.monotonic() - startedAt,
      outputBytes: receivedBytes(ran),
      tokens,
      wallMs: this.#life.time.wallMs,
    })
    const exhausted = this.#cutBy ?? findExhausted(budgets, this.#spent)
    const isFinal = exhausted !== undefined
    const observation = toObservation(ran, { merge: action.merge === true, budgets, spent: this.#spent, isFinal })
    this.#life.record.observation(seq, observation)
    commit({ observation })
    this.#life.move({ type: 'stepEnded' })
    if (exhausted !== undefined) this.#exhaust(exhausted)
    else if (this.#endAfterStep !== undefined) this.end(this.#endAfterStep)
    return { observation }
  }

  /** A failure of the sandbox ends the episode and is never shown as output. */
  async #guard<T> (run: Promise<T>): Promise<T> {
    try {
      return await run
    } catch (error) {
      if (!this.isLive) throw this.#endedError()
      const reason = await failureReason(error, this.#life.box.current)
      this.#life.finish(unverified(reason))
      if (!isAssayError(error)) throw error
      const message = error.code === 'SANDBOX_LOST' ? error.message : undefined
      throw new AssayError('SANDBOX_LOST', { message, details: { committed: this.#ledger.committed, reason }, cause: error })
    }
  }

  #beginSubmit (request: SeqRequest, truncated: Truncated | null): void {
    const { task, spec, seed } = this.setup
    const { box, signal, record } = this.#life
    this.#ledger.begin(request, async commit => {
      this.#life.move({ type: 'submitted' })
      record.submission(this.#ledger.committed + 1, request)
      const judgement = await judgeSubmission({ ...this.#deps, box, task, spec, seed, truncated }, signal)
      this.#life.finish(judgement)
      const { verdict } = this.#life
      const outcome: Outcome = verdict === undefined ? {} : { verdict }
      commit(outcome) // in the turn of finish, so that whoever waits for the verdict sees its seq committed
      return outcome
    }).catch((error: unknown) => {
      this.#deps.log.error({ error: error instanceof Error ? error.stack : String(error) }, 'submit failed')
      this.#life.finish(unverified('verifier_error', truncated))
    })
  }

  #outOfTime (reason: BudgetReason): void {
    if (this.state === 'ready') return this.#exhaust(reason)
    if (this.state !== 'busy') return // a verification has limits of its own
    this.#cutBy = reason
    this.#life.box.cancel()
  }

  #exhaust (reason: BudgetReason): void {
    if (this.setup.budgets.onBudget === 'verify') this.#beginSubmit({ type: 'autoSubmit' }, reason)
    else this.#life.finish(unverified(reason, reason))
  }

  #tell (verdict: Verdict): void {
    this.#leases.stop()
    this.setup.onEnd(verdict)
    this.#leases.listener?.emit({ event: 'verdict', episode: this.id, verdict })
  }

  #budgetLeft (): ReturnType<typeof budgetLeft> {
    return budgetLeft(this.setup.budgets, { ...this.#spent, wallMs: this.#life.time.wallMs })
  }

  #stepResult ({ observation }: Outcome, extra: { replayed?: true }): StepResult {
    if (observation === undefined) throw this.#refusal('SEQ_CONFLICT')
    return { committed: this.#ledger.committed, observation, ...extra }
  }

  #refusal (code: ErrorCode, message?: string): AssayError {
    return new AssayError(code, { message, details: { committed: this.#ledger.committed } })
  }

  #endedError (): AssayError {
    if (this.state === 'closed') return this.#refusal('EPISODE_CLOSED')
    if (this.state === 'verifying') return this.#refusal('EPISODE_DONE', 'The episode is submitted and takes no more steps; submit waits for the verdict and returns it.')
    if (this.state === 'done') return this.#refusal('EPISODE_DONE')
    const reason = this.#life.verdict?.reason
    return new AssayError('EPISODE_VOID', {
      message: `The episode ended without a reward (${reason}); start another attempt.`,
      details: { committed: this.#ledger.committed, reason },
    })
  }
}
