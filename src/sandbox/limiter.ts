// Bounds how many slow engine calls run at once, and lets creations go ahead of removals without starving them.
import { orAbort } from '../base/deadline.ts'

export type Priority = 'high' | 'low'

export interface TurnOptions {
  signal?: AbortSignal | undefined
}

/** Who waits, and how often in a row the high ones were served. */
export interface Waiting {
  high: number
  low: number
  highStreak: number
}

interface Waiter { grant: (permit: Disposable) => void }

export class Limiter {
  readonly width: number
  #running = 0
  #queues: Record<Priority, Waiter[]> = { high: [], low: [] }
  #highStreak = 0

  constructor (width: number) {
    if (!Number.isInteger(width) || width < 1) throw new RangeError(`width must be a positive integer, got ${width}`)
    this.width = width
  }

  get running (): number { return this.#running }
  get waiting (): number { return this.#queues.high.length + this.#queues.low.length }

  /** Runs fn when its turn comes. Throws the signal's reason when it aborts before that. */
  async run<T> (priority: Priority, fn: () => Promise<T>, { signal }: TurnOptions = {}): Promise<T> {
    const permit = await this.#take(priority, signal)
    try {
      return await fn()
    } finally {
      permit[Symbol.dispose]()
    }
  }

  async #take (priority: Priority, signal: AbortSignal | undefined): Promise<Disposable> {
    signal?.throwIfAborted()
    let waiter: Waiter | undefined
    const granted = new Promise<Disposable>(resolve => {
      waiter = { grant: resolve }
      this.#queues[priority].push(waiter)
    })
    this.#serve()
    try {
      return await orAbort(granted, signal)
    } catch (error) {
      const at = this.#queues[priority].findIndex(w => w === waiter)
      if (at === -1) (await granted)[Symbol.dispose]() // granted in the same turn in which the caller left
      else this.#queues[priority].splice(at, 1)
      throw error
    }
  }

  #serve (): void {
    while (this.#running < this.width) {
      const { high, low } = this.#queues
      const priority = nextPriority({ high: high.length, low: low.length, highStreak: this.#highStreak })
      if (priority === undefined) return
      this.#highStreak = priority === 'high' ? this.#highStreak + 1 : 0
      this.#running++
      this.#queues[priority].shift()?.grant(this.#permit())
    }
  }

  #permit (): Disposable {
    let held = true
    return {
      [Symbol.dispose]: () => {
        if (!held) return
        held = false
        this.#running--
        this.#serve()
      },
    }
  }
}

/** Pure: high goes first, but low gets one turn in eight, and every second turn once its backlog is long. */
export function nextPriority ({ high, low, highStreak }: Waiting): Priority | undefined {
  if (high === 0 && low === 0) return undefined
  if (low === 0) return 'high'
  if (high === 0) return 'low'
  return highStreak >= (low > LONG_BACKLOG ? 1 : 7) ? 'low' : 'high'
}

const LONG_BACKLOG = 64
