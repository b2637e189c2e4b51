// A fair counting semaphore that can grant n permits at once, or none, and whose waiters can give up.
import { orAbort } from './deadline.ts'

export interface Permit extends Disposable {
  readonly count: number
}

interface Waiter { count: number, grant: (permit: Permit) => void }

export class Semaphore {
  readonly capacity: number
  #free: number
  #waiters: Waiter[] = []

  constructor (capacity: number) {
    if (!Number.isInteger(capacity) || capacity < 1) throw new RangeError(`capacity must be a positive integer, got ${capacity}`)
    this.capacity = capacity
    this.#free = capacity
  }

  get free (): number { return this.#free }
  get waiting (): number { return this.#waiters.length }

  /** Waits, in order of arrival, for count permits. Throws RangeError if they can never be had, the signal's reason if it aborts first. */
  async take (count = 1, { signal }: { signal?: AbortSignal | undefined } = {}): Promise<Permit> {
    if (count > this.capacity) throw new RangeError(`${count} permits asked of a semaphore of ${this.capacity}`)
    signal?.throwIfAborted()
    if (this.#waiters.length === 0 && this.#free >= count) return this.#grant(count)
    let waiter: Waiter | undefined
    const granted = new Promise<Permit>(resolve => {
      waiter = { count, grant: resolve }
      this.#waiters.push(waiter)
    })
    try {
      return await orAbort(granted, signal)
    } catch (error) {
      const at = this.#waiters.findIndex(w => w === waiter)
      if (at === -1) (await granted)[Symbol.dispose]() // granted in the same turn in which the caller left
      else this.#waiters.splice(at, 1)
      this.#serve()
      throw error
    }
  }

  #grant (count: number): Permit {
    this.#free -= count
    let held = true
    return {
      count,
      [Symbol.dispose]: () => {
        if (!held) return
        held = false
        this.#free += count
        this.#serve()
      },
    }
  }

  #serve (): void {
    while (this.#waiters[0] !== undefined && this.#waiters[0].count <= this.#free) {
      const waiter = this.#waiters.shift()
      waiter?.grant(this.#grant(waiter.count))
    }
  }
}
