// A group: members of one task, each one or more attempts, over places that are reserved together. Knows no sandboxes.
import type { Clock } from '../base/clock.ts'
import { defer } from '../base/defer.ts'
import { orAbort } from '../base/deadline.ts'
import { Semaphore } from '../base/semaphore.ts'
import { AssayError } from '../errors.ts'
import type { Episode } from '../episodes/episode.ts'
import { IdleTimer, type Listener } from '../episodes/lease.ts'
import type { EndReason, EpisodeSetup } from '../episodes/setup.ts'
import type { Budgets, EpisodeId, GroupId, GroupReport, GroupState, MemberState, Meta, Outcome } from '../protocol/index.ts'
import type { Task } from '../tasks/task.ts'
import type { Places, Ticket } from './admission.ts'
import { balanceAttempts, balanceMembers, isFinished, memberState, ruleAttempt, type AttemptState } from './balance.ts'
import type { BalanceGauge } from './gauge.ts'
import { reportGroup } from './report.ts'

export interface GroupSetup {
  id: GroupId
  /** The principal's name. */
  principal: string
  task: Task
  size: number
  concurrency: number
  refills: number
  minUsable: number | undefined
  budgets: Budgets
  seed: number
  run: string
  meta: Meta
}

export interface GroupDeps {
  clock: Clock
  leaseIdleMs: number
  gauge: BalanceGauge
  /** Told once, when the group is complete or closed and nothing of it lives any more. */
  onFinished: () => void
  /** Places are held from now on: sandboxes may be made ready. The handle is disposed when the group takes no more. */
  onAdmitted: () => Disposable
}

export interface AttemptRecord { readonly episode: EpisodeId, state: AttemptState }
export interface MemberRecord { readonly attempts: AttemptRecord[], isCancelled: boolean }

/** What makes an episode of an attempt; the group says when it may start and hears how it ended. */
export type StartAttempt = (hooks: Pick<EpisodeSetup, 'admit' | 'onEnd'>) => Episode

export interface GroupOpening {
  ticket: Ticket
  /** The socket that opened the group. */
  opener: Listener | undefined
}

export class Group {
  readonly setup: GroupSetup
  readonly #deps: GroupDeps
  readonly #members: MemberRecord[]
  readonly #live = new Map<string, Episode>()
  readonly #slots: Semaphore
  readonly #ticket: Ticket
  readonly #admitted = defer<void>()
  readonly #finished = defer<void>()
  readonly #idle: IdleTimer
  #places: Places | undefined
  #staged: Disposable | undefined
  #opener: Listener | undefined
  #isClosed = false
  #isOver = false

  constructor (setup: GroupSetup, deps: GroupDeps, { ticket, opener }: GroupOpening) {
    this.setup = setup
    this.#deps = deps
    this.#members = Array.from({ length: setup.size }, () => ({ attempts: [], isCancelled: false }))
    this.#slots = new Semaphore(setup.concurrency)
    this.#ticket = ticket
    this.#opener = opener
    const { clock, leaseIdleMs: idleMs } = deps
    this.#idle = new IdleTimer({ clock, idleMs, onIdle: () => this.close({ abort: true, reason: 'expired' }) })
    if (opener !== undefined) this.#idle.hold(OPENER)
    deps.gauge.add(this.balance())
    ticket.granted.then(places => this.#admit(places), () => {}) // a ticket is granted or nothing; it never rejects
  }

  get id (): GroupId { return this.setup.id }
  /** Resolves once the group is complete or closed and nothing of it lives. */
  get finished (): Promise<void> { return this.#finished.promise }

  get state (): GroupState {
    if (this.#isClosed) return 'closed'
    if (this.#isOver) return 'complete'
    return this.#ticket.position === undefined ? 'open' : 'queued'
  }

  /** The episode of an attempt that exists, or undefined when it may start. Throws INVALID_PARAMS, GROUP_CLOSED or ATTEMPT_ILLEGAL. */
  findAttempt (member: number, attempt: number): EpisodeId | undefined {
    const record = this.#member(member)
    const ruling = ruleAttempt(this.#attemptsOf(record), attempt, this.setup.refills)
    if (ruling.do === 'repeat') return record.attempts[attempt]?.episode
    if (this.#isClosed) throw new AssayError('GROUP_CLOSED')
    if (ruling.do === 'start') return undefined
    throw new AssayError('ATTEMPT_ILLEGAL', {
      message: `Member ${member}, attempt ${attempt}: ${ruling.why}`,
      details: { member, attempt, state: this.#stateOf(record), attempts: record.attempts.length },
    })
  }

  /** Starts the attempt that findAttempt allowed in this turn. */
  startAttempt (member: number, start: StartAttempt): Episode {
    const record = this.#member(member)
    const number = record.attempts.length
    const episode = start({
      admit: signal => this.#takeSlot(signal),
      onEnd: verdict => this.#attemptEnded(member, number, verdict.outcome),
    })
    this.#change(() => { record.attempts.push({ episode: episode.id, state: 'live' }) })
    this.#live.set(episode.id, episode)
    this.#idle.hold(LIVE)
    this.#tell(member)
    return episode
  }

  /** Takes no more attempts. abort ends running steps and verifications at once; else they end by themselves first. */
  close ({ abort, reason = 'cancelled' }: { abort: boolean, reason?: EndReason }): void {
    this.#isClosed = true
    this.#change(() => {
      for (const record of this.#members) record.isCancelled ||= !isFinished(this.#stateOf(record))
    })
    this.#withdraw()
    for (const episode of [...this.#live.values()]) episode.end(reason, { afterStep: !abort })
    this.#settle()
  }

  /** The socket that opened the group is gone. */
  disconnected (listenerId: string): void {
    if (this.#opener?.id !== listenerId) return
    this.#opener = undefined
    this.#idle.release(OPENER)
  }

  /** Somebody asked about the group. */
  touch (): void { this.#idle.touch() }

  balance (): GroupReport['balance'] { return balanceMembers(this.#members.map(record => this.#stateOf(record))) }

  report (): GroupReport {
    return reportGroup({
      setup: this.setup,
      state: this.state,
      position: this.#ticket.position,
      isOver: this.#isOver,
      members: this.#members.map(record => ({ state: this.#stateOf(record), attempts: record.attempts })),
      balance: this.balance(),
      attempts: balanceAttempts(this.#members.flatMap(({ attempts }) => attempts.map(({ state }) => state))),
    })
  }

  /** Nobody holds the group any more. */
  forgotten (): void { this.#deps.gauge.remove(this.balance()) }

  #admit (places: Places): void {
    this.#places = places
    if (this.#isClosed) return this.#settle()
    this.#staged = this.#deps.onAdmitted()
    this.#admitted.resolve()
  }

  /** One of the group's places; an attempt that is over lets the next one in, so a refill never waits for other groups. */
  async #takeSlot (signal: AbortSignal): Promise<Disposable> {
    await orAbort(this.#admitted.promise, signal)
    return await this.#slots.take(1, { signal })
  }

  #attemptEnded (member: number, attempt: number, outcome: Outcome): void {
    const record = this.#member(member)
    const ended = record.attempts[attempt]
    if (ended === undefined) return
    this.#change(() => { ended.state = outcome })
    this.#live.delete(ended.episode)
    if (this.#live.size === 0) this.#idle.release(LIVE)
    this.#settle()
    this.#tell(member)
  }

  /** Gives back the places that no unfinished member can use, and ends the group when none is left. */
  #settle (): void {
    const unfinished = this.#members.filter(record => !isFinished(this.#stateOf(record))).length
    const keep = Math.min(this.setup.concurrency, unfinished)
    this.#places?.release(Math.max(0, this.#places.count - keep))
    if (unfinished > 0 || this.#isOver) return
    this.#isOver = true
    this.#idle.stop()
    this.#withdraw()
    this.#finished.resolve()
    this.#deps.onFinished()
  }

  /** Stops waiting for places and for sandboxes that nobody will take. */
  #withdraw (): void {
    if (this.#places === undefined) this.#ticket.cancel()
    this.#staged?.[Symbol.dispose]()
    this.#staged = undefined
  }

  #change (change: () => void): void {
    const before = this.balance()
    change()
    this.#deps.gauge.move(before, this.balance())
  }

  #tell (member: number): void {
    const state = this.#stateOf(this.#member(member))
    this.#opener?.emit({ event: 'member', group: this.id, member, state })
  }

  #member (member: number): MemberRecord {
    const record = this.#members[member]
    if (record !== undefined) return record
    throw new AssayError('INVALID_PARAMS', { message: `reset: member: this group has members 0 to ${this.setup.size - 1}, not ${member}.` })
  }

  #attemptsOf ({ attempts, isCancelled }: MemberRecord): { attempts: AttemptState[], isCancelled: boolean } {
    return { attempts: attempts.map(({ state }) => state), isCancelled }
  }

  #stateOf (record: MemberRecord): MemberState { return memberState(this.#attemptsOf(record), this.setup.refills) }
}

const OPENER = 'opener'
const LIVE = 'live'
