// Gives out places: all that a group asked for at once or none, in a bounded queue. Knows no tasks and no engines.
import type { Clock } from '../base/clock.ts'
import { orAbort } from '../base/deadline.ts'
import { defer } from '../base/defer.ts'
import { AssayError } from '../errors.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import { chooseGrants, type Free, type Waiting } from './queue.ts'

export interface AdmissionOptions {
  /** Memory of the engine times the overcommit. */
  memoryBytes: number
  /** Upper bound of places; 0: by memory alone. */
  maxPlaces: number
  queueLength: number
  clock: Clock
  metrics: Metrics
}

export interface PlaceRequest {
  count: number
  /** Of one place. */
  memoryBytes: number
  /** Told when it starts to wait and whenever it moves up; 0 is next. */
  onPosition?: (position: number) => void
}

/** Places that are held. */
export interface Places extends Disposable {
  readonly count: number
  /** Gives count of them back. */
  release (count: number): void
}

export interface Ticket {
  /** Pending for ever after cancel. */
  readonly granted: Promise<Places>
  /** Place in the queue; undefined once granted or cancelled. */
  readonly position: number | undefined
  /** Leaves the queue, or gives the places back. */
  cancel (): void
}

interface Waiter extends Waiting {
  readonly onPosition: ((position: number) => void) | undefined
  readonly grant: () => void
  lastPosition: number | undefined
}

export class Admission {
  readonly #options: AdmissionOptions
  #queue: Waiter[] = []
  #usedPlaces = 0
  #usedBytes = 0

  constructor (options: AdmissionOptions) {
    this.#options = options
    this.#measure()
  }

  /** Places of a size that fit when nothing else is there. */
  total (memoryBytes: number): number {
    return this.#count(this.#free({ usedPlaces: 0, usedBytes: 0 }), memoryBytes)
  }

  /** Places of a size that fit now. */
  free (memoryBytes: number): number {
    return this.#count(this.#free({ usedPlaces: this.#usedPlaces, usedBytes: this.#usedBytes }), memoryBytes)
  }

  get waiting (): number { return this.#queue.length }
  get used (): number { return this.#usedPlaces }

  /** Throws GROUP_TOO_LARGE when it could never be granted, QUEUE_FULL when it would have to wait and may not. */
  request ({ count, memoryBytes, onPosition }: PlaceRequest): Ticket {
    const { clock, queueLength } = this.#options
    const total = this.total(memoryBytes)
    if (count > total) {
      throw new AssayError('GROUP_TOO_LARGE', {
        message: `This needs ${count} places at once and the server has ${total} of this size; lower concurrency to at most ${total}.`,
        details: { asked: count, places: total },
      })
    }
    const granted = defer<Places>()
    let held: Places | undefined
    const waiter: Waiter = {
      places: count,
      memoryBytes: count * memoryBytes,
      since: clock.monotonic(),
      onPosition,
      lastPosition: undefined,
      grant: () => {
        held = this.#hold(count, memoryBytes)
        granted.resolve(held)
      },
    }
    this.#queue.push(waiter)
    this.#serve()
    if (held === undefined && this.#queue.length > queueLength) {
      this.#leave(waiter)
      throw new AssayError('QUEUE_FULL', { retryAfterMs: RETRY_MS, details: { queueLength } })
    }
    this.#announce()
    const positionOf = (): number => this.#queue.indexOf(waiter)
    return {
      granted: granted.promise,
      get position () {
        const at = positionOf()
        return at === -1 ? undefined : at
      },
      cancel: () => {
        if (held === undefined) this.#leave(waiter)
        else held[Symbol.dispose]()
      },
    }
  }

  #leave (waiter: Waiter): void {
    this.#queue = this.#queue.filter(other => other !== waiter)
    this.#serve()
    this.#announce()
  }

  #hold (count: number, memoryBytes: number): Places {
    this.#usedPlaces += count
    this.#usedBytes += count * memoryBytes
    let held = count
    const release = (freed: number): void => {
      const given = Math.max(0, Math.min(freed, held))
      if (given === 0) return
      held -= given
      this.#usedPlaces -= given
      this.#usedBytes -= given * memoryBytes
      this.#serve()
      this.#announce()
    }
    return {
      get count () { return held },
      release,
      [Symbol.dispose]: () => release(held),
    }
  }

  #serve (): void {
    const free = this.#free({ usedPlaces: this.#usedPlaces, usedBytes: this.#usedBytes })
    const nowMs = this.#options.clock.monotonic()
    const grants = new Set(chooseGrants(this.#queue, free, { nowMs, ageLimitMs: AGE_LIMIT_MS }))
    const granted = this.#queue.filter((_waiter, index) => grants.has(index))
    if (granted.length > 0) this.#queue = this.#queue.filter((_waiter, index) => !grants.has(index))
    for (const waiter of granted) waiter.grant()
    this.#measure()
  }

  #announce (): void {
    for (const [position, waiter] of this.#queue.entries()) {
      if (waiter.lastPosition === position) continue
      waiter.lastPosition = position
      waiter.onPosition?.(position)
    }
  }

  #free ({ usedPlaces, usedBytes }: { usedPlaces: number, usedBytes: number }): Free {
    const { maxPlaces, memoryBytes } = this.#options
    return { places: (maxPlaces === 0 ? Infinity : maxPlaces) - usedPlaces, memoryBytes: memoryBytes - usedBytes }
  }

  #count (free: Free, memoryBytes: number): number {
    return Math.max(0, Math.min(free.places, Math.floor(free.memoryBytes / memoryBytes)))
  }

  #measure (): void {
    this.#options.metrics.queue.set(this.#queue.length)
    this.#options.metrics.placesFree.set(this.free(DEFAULT_PLACE_BYTES))
  }
}

/** The ticket's places; leaves the queue when the signal aborts first. */
export async function waitForPlaces (ticket: Ticket, signal: AbortSignal): Promise<Places> {
  try {
    return await orAbort(ticket.granted, signal)
  } catch (error) {
    ticket.cancel()
    throw error
  }
}

/** The memory of a task that says nothing else; the unit of info.places and of the gauge. */
export const DEFAULT_PLACE_BYTES = 512 * 1024 * 1024

const AGE_LIMIT_MS = 30_000
const RETRY_MS = 1_000
