// One connection to a server: what it offers, its tasks, and the ways to start attempts.
import type { GroupReport, Params, ParamsInput, Result, ServerEvent, TaskView } from '../../src/protocol/index.ts'
import type { Channel, EventListener, RequestOptions } from './channel.ts'
import { Episode, RESET_MS } from './episode.ts'
import type { ConnectionLost } from './errors.ts'
import { Group } from './group.ts'

export interface Tasks {
  /** All tasks that this key sees, page after page. */
  list (options?: RequestOptions & { split?: 'train' | 'val' }): Promise<Result<'tasks.list'>['tasks']>
  /** What an agent may see of one task. */
  get (task: string, options?: RequestOptions): Promise<TaskView>
}

export class Client implements AsyncDisposable {
  readonly #channel: Channel
  readonly tasks: Tasks

  constructor (channel: Channel) {
    this.#channel = channel
    this.tasks = {
      list: async options => await this.#listTasks(options),
      get: async (task, options) => await channel.call('tasks.get', { task: task as Params<'tasks.get'>['task'] }, options),
    }
  }

  /** Resolves, once, when the connection is gone. */
  get closed (): Promise<ConnectionLost> { return this.#channel.closed }

  /** What the server is, offers and limits. */
  async info (options?: RequestOptions): Promise<Result<'info'>> {
    return await this.#channel.call('info', {}, options)
  }

  /** Opens a group of `size` members (default 32) that attempt one task. Answers at once; resets wait for places. */
  async openGroup (params: ParamsInput<'group.open'>, options?: RequestOptions): Promise<Group> {
    const report: GroupReport = await this.#channel.call('group.open', params, options)
    return new Group(this.#channel, report, { refills: params.refills ?? DEFAULT_REFILLS })
  }

  /** Starts one attempt outside any group. A repeat with the same requestKey returns the same episode under a new lease. */
  async reset (params: Omit<ParamsInput<'reset'>, 'group' | 'member' | 'attempt'>, options: RequestOptions = {}): Promise<Episode> {
    const result = await this.#channel.call('reset', params, { timeoutMs: RESET_MS, ...options })
    return new Episode(this.#channel, result)
  }

  /** Calls listener for every event of this connection until disposed. Listeners must not throw. */
  onEvent (listener: (event: ServerEvent) => void): Disposable {
    return this.#channel.onEvent(listener satisfies EventListener)
  }

  /** Closes the connection. Episodes live on until their lease expires: close them, or their group, first. */
  async close (): Promise<void> {
    await this.#channel[Symbol.asyncDispose]()
  }

  async [Symbol.asyncDispose] (): Promise<void> {
    await this.close()
  }

  async #listTasks ({ split, ...options }: RequestOptions & { split?: 'train' | 'val' } = {}): Promise<Result<'tasks.list'>['tasks']> {
    const tasks: Result<'tasks.list'>['tasks'] = []
    let after: Result<'tasks.list'>['next']
    do {
      const page: Result<'tasks.list'> = await this.#channel.call('tasks.list', { split, after, limit: 1000 }, options)
      tasks.push(...page.tasks)
      after = page.next
    } while (after !== undefined)
    return tasks
  }
}

const DEFAULT_REFILLS = 2
