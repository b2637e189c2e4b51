// A group: the members that a trainer compares on one task.
import type { GroupId, GroupReport, ParamsInput, ServerEvent } from '../../src/protocol/index.ts'
import { AssayError } from '../../src/errors.ts'
import type { Channel, RequestOptions } from './channel.ts'
import { Episode, RESET_MS } from './episode.ts'
import { ConnectionLost } from './errors.ts'
import { runGroup, type Policy, type RunOptions, type RunResult } from './run.ts'

export interface MemberHandle {
  /** 0 .. size - 1. */
  readonly index: number
  /**
   * Starts an attempt (default 0) in its own sandbox; waits for a place. Repeating it returns the same episode under a new
   * lease. Attempt k + 1 is legal only once attempt k is void and refills remain.
   */
  reset (options?: RequestOptions & { attempt?: number, meta?: ParamsInput<'reset'>['meta'] }): Promise<Episode>
}

export class Group implements AsyncDisposable {
  readonly id: GroupId
  readonly task: string
  /** Members. */
  readonly size: number
  /** Further attempts that each member has after a void. */
  readonly refills: number
  readonly #channel: Channel
  #isClosed = false

  constructor (channel: Channel, report: GroupReport, { refills }: { refills: number }) {
    this.#channel = channel
    this.id = report.group
    this.task = report.task
    this.size = report.size
    this.refills = refills
  }

  /** The handle of one member. Throws RangeError for an index outside 0 .. size - 1. */
  member (index: number): MemberHandle {
    if (!Number.isInteger(index) || index < 0 || index >= this.size) throw new RangeError(`member ${index} is not in 0 .. ${this.size - 1}`)
    return {
      index,
      reset: async ({ attempt = 0, meta, ...wait } = {}) => {
        const params = { group: this.id, member: index, attempt, ...(meta !== undefined && { meta }) }
        const result = await this.#channel.call('reset', params, { timeoutMs: RESET_MS, ...wait })
        return new Episode(this.#channel, result, { member: index })
      },
    }
  }

  /** Drives every member at once with policy, refills of void attempts included. See run.ts. */
  async run (policy: Policy, options?: RunOptions): Promise<RunResult> {
    return await runGroup(this, policy, options)
  }

  /** Rewards and usable mask of shape [size], members, balances. */
  async get (options?: RequestOptions): Promise<GroupReport> {
    return await this.#channel.call('group.get', { group: this.id }, options)
  }

  /** Ends the group; unfinished members become void (cancelled). abort kills running steps instead of letting them end. */
  async close ({ abort = false, ...wait }: RequestOptions & { abort?: boolean } = {}): Promise<GroupReport> {
    const report = await this.#channel.call('group.close', { group: this.id, abort }, wait)
    this.#isClosed = true
    return report
  }

  /** Calls listener for the member and queued events of this group until disposed. Listeners must not throw. */
  onEvent (listener: (event: Extract<ServerEvent, { event: 'member' | 'queued' }>) => void): Disposable {
    return this.#channel.onEvent(event => {
      if ((event.event === 'member' || event.event === 'queued') && event.group === this.id) listener(event)
    })
  }

  /** close({abort: true}) unless it is closed. Never throws for a group or connection that is already gone. */
  async [Symbol.asyncDispose] (): Promise<void> {
    if (this.#isClosed) return
    try {
      await this.close({ abort: true, timeoutMs: DISPOSE_MS })
    } catch (error) {
      // already closed, or unreachable: the server ends its members when their leases expire
      if (!(error instanceof AssayError || error instanceof ConnectionLost)) throw error
    }
  }
}

const DISPOSE_MS = 10_000
