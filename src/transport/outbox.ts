// What leaves a socket: encoded, written once per turn, held against a reader that does not keep up.
import type { Duplex } from 'node:stream'
import type { WebSocket } from 'ws'
import type { Codec } from '../protocol/index.ts'

export interface OutboxOptions {
  codec: Codec
  /** Unsent bytes past which the reader is slow. */
  highWaterBytes: number
}

export class Outbox {
  readonly #socket: WebSocket
  readonly #stream: Duplex
  readonly #options: OutboxOptions
  #corked = false

  constructor (socket: WebSocket, stream: Duplex, options: OutboxOptions) {
    this.#socket = socket
    this.#stream = stream
    this.#options = options
  }

  /** The reader is behind: what may be refused or dropped should be. */
  get isSlow (): boolean {
    return this.#socket.bufferedAmount > this.#options.highWaterBytes
  }

  /** Sends one message, whatever the reader does, up to a ceiling at which the socket is ended. Throws if it cannot be encoded. */
  send (message: unknown): void {
    const data = this.#options.codec.encode(message)
    this.#cork()
    this.#socket.send(data)
    if (this.isSlow) this.#flush()
    if (this.#socket.bufferedAmount > CEILING * this.#options.highWaterBytes) this.#socket.terminate()
  }

  // All that is sent in one turn of the event loop leaves in one write.
  #cork (): void {
    if (this.#corked) return
    this.#corked = true
    this.#stream.cork()
    process.nextTick(() => this.#flush())
  }

  #flush (): void {
    if (!this.#corked) return
    this.#corked = false
    this.#stream.uncork()
  }
}

// of highWaterBytes; what a reader that never reads can cost
const CEILING = 4
