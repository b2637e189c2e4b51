// One attempt: steps in order under a lease, exactly once, then a verdict.
import type { Action, EpisodeId, EpisodeReport, Lease, Observation, ParamsInput, ResetResult, ResumeResult, Verdict } from '../../src/protocol/index.ts'
import { AssayError } from '../../src/errors.ts'
import type { Channel, RequestOptions } from './channel.ts'
import { ConnectionLost } from './errors.ts'
import { readObservation } from './observation.ts'

export type ActionInput = ParamsInput<'step'>['action']

export interface StepOptions extends RequestOptions {
  /** What the policy spent on this action. */
  usage?: { tokens?: number } | undefined
}

export interface SubmitOptions extends StepOptions {
  /** Says that the policy was cut off by its own limit. */
  truncated?: 'tokens' | 'turns' | undefined
}

export interface Membership {
  /** 0 .. size - 1. */
  member?: number | undefined
}

export class Episode implements AsyncDisposable {
  readonly id: EpisodeId
  /** undefined outside a group. */
  readonly member: number | undefined
  /** 0 for the first attempt of a member. */
  readonly attempt: number
  /** What the agent is told at the start: instruction (Markdown), cwd, budgetLeft. */
  readonly observation: ResetResult['observation']
  readonly #channel: Channel
  #lease: Lease
  #committed: number
  #verdict: Verdict | undefined
  #isFinal = false
  #isClosed = false
  #tail: Promise<unknown> = Promise.resolve()

  constructor (channel: Channel, reset: ResetResult, { member }: Membership = {}) {
    this.#channel = channel
    this.id = reset.episode
    this.member = member
    this.attempt = reset.attempt
    this.observation = reset.observation
    this.#lease = reset.lease
    this.#committed = reset.committed
  }

  get instruction (): string { return this.observation.instruction }
  /** The right to drive this episode; a newer one fences it. */
  get lease (): Lease { return this.#lease }
  /** The newest committed seq; the next step takes committed + 1. */
  get committed (): number { return this.#committed }
  /** Known once submit returned it. */
  get verdict (): Verdict | undefined { return this.#verdict }
  /** No more steps: it has a verdict, a budget ended it, or it is closed. */
  get isDone (): boolean { return this.#verdict !== undefined || this.#isFinal || this.#isClosed }

  /**
   * Runs one action; a string is a shell command. Calls made at once run one after another.
   * After DEADLINE or ConnectionLost the same action again joins or replays what ran; it never runs twice.
   */
  async step (action: ActionInput | string, options: StepOptions = {}): Promise<Observation> {
    const request = typeof action === 'string' ? { type: 'exec' as const, command: action } : action
    const { usage, ...wait } = options
    const result = await this.#inTurn(async seq => await this.#channel.call('step', {
      episode: this.id, lease: this.#lease, seq, action: request, ...(usage !== undefined && { usage }),
    }, { timeoutMs: stepMs(request), ...wait }))
    if (result.observation.final === true) this.#isFinal = true
    return readObservation(result.observation)
  }

  /** Freezes the sandbox and returns the verdict: reward 1, 0, or null when none could be had. A repeat returns the same. */
  async submit ({ truncated, usage, ...wait }: SubmitOptions = {}): Promise<Verdict> {
    if (this.#verdict !== undefined) return this.#verdict
    const result = await this.#inTurn(async seq => await this.#channel.call('submit', {
      episode: this.id,
      lease: this.#lease,
      seq,
      ...(truncated !== undefined && { truncated }),
      ...(usage !== undefined && { usage }),
    }, { timeoutMs: SUBMIT_MS, ...wait }))
    this.#verdict = result.verdict
    return result.verdict
  }

  /** Takes the episode over under a new lease, e.g. after another driver had it. Older leases are fenced. */
  async resume (options?: RequestOptions): Promise<ResumeResult> {
    const result = await this.#channel.call('resume', { episode: this.id, lease: this.#lease }, options)
    this.#lease = result.lease
    this.#committed = result.committed
    this.#verdict = result.last?.verdict ?? this.#verdict
    const observation = result.last?.observation
    if (result.last === undefined || observation === undefined) return result
    return { ...result, last: { ...result.last, observation: readObservation(observation) } }
  }

  /** Where the episode stands; does not need the lease. */
  async status (options?: RequestOptions): Promise<EpisodeReport> {
    const report = await this.#channel.call('status', { episode: this.id }, options)
    this.#verdict = report.verdict ?? this.#verdict
    return report
  }

  /** Gives the attempt up and frees its sandbox; without a verdict it becomes void (cancelled). Idempotent. */
  async close (options?: RequestOptions): Promise<void> {
    if (this.#isClosed) return
    const report = await this.#channel.call('close', { episode: this.id, lease: this.#lease }, options)
    this.#isClosed = true
    this.#verdict = report.verdict ?? this.#verdict
  }

  /** close() for an attempt without a verdict. Never throws for an episode or connection that is already gone. */
  async [Symbol.asyncDispose] (): Promise<void> {
    if (this.#verdict !== undefined || this.#isClosed) return
    try {
      await this.close({ timeoutMs: DISPOSE_MS })
    } catch (error) {
      // fenced, already ended, or unreachable: the server frees it by itself when the lease expires
      if (!(error instanceof AssayError || error instanceof ConnectionLost)) throw error
    }
  }

  async #inTurn<T extends { committed: number }> (send: (seq: number) => Promise<T>): Promise<T> {
    const turn = this.#tail.then(async () => {
      try {
        const result = await send(this.#committed + 1)
        this.#committed = result.committed
        return result
      } catch (error) {
        this.#learnCommitted(error)
        throw error
      }
    })
    this.#tail = turn.catch(() => {}) // the caller of this turn has the error; the next turn starts all the same
    return await turn
  }

  #learnCommitted (error: unknown): void {
    const committed = error instanceof AssayError ? error.details?.['committed'] : undefined
    if (typeof committed === 'number') this.#committed = committed
  }
}

function stepMs (action: { type: Action['type'], timeoutMs?: number | undefined }): number {
  return (action.timeoutMs ?? STEP_MS) + GRACE_MS
}

/** A reset waits for places behind other groups. */
export const RESET_MS = 3_600_000
const STEP_MS = 1_800_000
const SUBMIT_MS = 3_600_000
const GRACE_MS = 60_000
const DISPOSE_MS = 10_000
