// Who drives an episode, and when nobody does any more. Knows nothing of what is driven.
import type { Clock } from '../base/clock.ts'
import type { Random } from '../base/ids.ts'
import { AssayError } from '../errors.ts'
import type { Lease, ServerEvent } from '../protocol/index.ts'

/** Where events of an episode go: the socket on which its lease was issued. */
export interface Listener {
  readonly id: string
  /** Never throws, never blocks. */
  emit (event: ServerEvent): void
}

export interface IdleOptions {
  clock: Clock
  idleMs: number
  onIdle: () => void
}

/** Fires once nothing has held it for idleMs. Holding and letting go costs no timer: one is armed lazily. */
export class IdleTimer {
  readonly #options: IdleOptions
  readonly #holders = new Set<string>()
  #idleSince: number
  #cancel: (() => void) | undefined
  #stopped = false

  constructor (options: IdleOptions) {
    this.#options = options
    this.#idleSince = options.clock.monotonic()
    this.#arm()
  }

  hold (holder: string): void {
    this.#holders.add(holder)
  }

  /** Idleness counts from the last release. */
  release (holder: string): void {
    if (this.#holders.delete(holder)) this.touch()
  }

  /** Counts as use at this moment. */
  touch (): void {
    this.#idleSince = this.#options.clock.monotonic()
    this.#arm()
  }

  stop (): void {
    this.#stopped = true
    this.#cancel?.()
    this.#cancel = undefined
  }

  #arm (): void {
    if (this.#stopped || this.#cancel !== undefined || this.#holders.size > 0) return
    const { clock, idleMs } = this.#options
    this.#cancel = clock.after(Math.max(0, this.#idleSince + idleMs - clock.monotonic()), () => {
      this.#cancel = undefined
      if (this.#holders.size > 0) return
      if (clock.monotonic() - this.#idleSince < idleMs) this.#arm()
      else if (!this.#stopped) this.#options.onIdle()
    })
  }
}

export interface LeasesOptions {
  clock: Clock
  random: Random
  leaseIdleMs: number
  /** Neither a live socket nor a running command for leaseIdleMs. */
  onExpired: () => void
}

/** The leases of one episode: each has an epoch, the newest fences the others. */
export class Leases {
  readonly #random: Random
  readonly #idle: IdleTimer
  #epoch = 0
  #current: Lease | undefined
  #listener: Listener | undefined

  constructor ({ clock, random, leaseIdleMs, onExpired }: LeasesOptions) {
    this.#random = random
    this.#idle = new IdleTimer({ clock, idleMs: leaseIdleMs, onIdle: onExpired })
  }

  /** The live socket that holds the newest lease. */
  get listener (): Listener | undefined { return this.#listener }

  /** A new lease, held by a live socket or, over HTTP, by nothing but use. */
  issue (listener: Listener | undefined): Lease {
    this.#epoch++
    this.#current = `l${this.#epoch}_${Buffer.from(this.#random(18)).toString('base64url')}` as Lease
    this.#listener = listener
    if (listener === undefined) this.#idle.release(SOCKET)
    else this.#idle.hold(SOCKET)
    this.#idle.touch()
    return this.#current
  }

  /** Throws FENCED unless lease is the newest. */
  check (lease: Lease, committed: number): void {
    if (lease !== this.#current) throw new AssayError('FENCED', { details: { committed } })
  }

  /** A socket is gone; true when it held the newest lease. */
  disconnected (listenerId: string): boolean {
    if (this.#listener?.id !== listenerId) return false
    this.#listener = undefined
    this.#idle.release(SOCKET)
    return true
  }

  /** A command or a verification runs. */
  commandStarted (): void { this.#idle.hold(COMMAND) }
  commandEnded (): void { this.#idle.release(COMMAND) }

  /** Nothing expires any more; check still fences. */
  stop (): void { this.#idle.stop() }
}

const SOCKET = 'socket'
const COMMAND = 'command'
