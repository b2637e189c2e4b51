// Many requests in flight over one WebSocket: ids by counter, a deadline each, all rejected when the socket closes.
// Knows frames, not what the operations mean.
import type { WebSocket } from 'ws'
import { AssayError } from '../../src/errors.ts'
import {
  bytesFromWire, createCodec,
  type Codec, type Encoding, type OperationName, type ParamsInput, type Reply, type Result, type ServerEvent,
} from '../../src/protocol/index.ts'
import { ConnectionLost, parseFailure } from './errors.ts'

export interface RequestOptions {
  /** Milliseconds until the call rejects with DEADLINE; the server may still finish it. Each operation has its own default. */
  timeoutMs?: number | undefined
  /** Rejects the call with the signal's reason; the server may still finish it. */
  signal?: AbortSignal | undefined
}

export type EventListener = (event: ServerEvent) => void

interface Waiting {
  resolve (result: unknown): void
  reject (error: Error): void
}

export class Channel implements AsyncDisposable {
  readonly #socket: WebSocket
  readonly #codec: Codec
  readonly #pending = new Map<number, Waiting>()
  readonly #listeners = new Set<EventListener>()
  /** Resolves, once, when the socket is gone. */
  readonly closed: Promise<ConnectionLost>
  #resolveClosed: (lost: ConnectionLost) => void = () => {}
  #nextId = 1
  #lost: ConnectionLost | undefined

  /** Takes an open socket over; attach nothing else to it. */
  constructor (socket: WebSocket, encoding: Encoding) {
    this.#socket = socket
    this.#codec = createCodec(encoding)
    this.closed = new Promise(resolve => { this.#resolveClosed = resolve })
    socket.binaryType = 'nodebuffer'
    socket.on('message', data => this.#receive(data as Buffer))
    socket.on('close', (closeCode, reason) => this.#lose(new ConnectionLost(
      `The connection closed (${closeCode}${reason.length > 0 ? `, ${reason.toString()}` : ''}); connect again and resume.`, { closeCode })))
    socket.on('error', () => {}) // a close event always follows and settles everything
  }

  /** Sends one request and waits for its reply. Throws AssayError, ConnectionLost or the signal's reason. */
  async call<O extends OperationName> (
    op: O, params: ParamsInput<O>, options: RequestOptions = {}
  ): Promise<Result<O>> {
    const { timeoutMs = REQUEST_MS, signal } = options
    if (this.#lost !== undefined) throw this.#lost
    signal?.throwIfAborted()
    const id = this.#nextId++
    const frame = this.#codec.encode({ id, op, ...params })
    let timer: NodeJS.Timeout | undefined
    let onAbort = (): void => {}
    try {
      return await new Promise<unknown>((resolve, reject) => {
        const waiting: Waiting = { resolve, reject }
        this.#pending.set(id, waiting)
        timer = setTimeout(() => waiting.reject(lateReply(op, timeoutMs)), timeoutMs)
        onAbort = () => waiting.reject(signal?.reason as Error)
        signal?.addEventListener('abort', onAbort, { once: true })
        this.#socket.send(frame, { binary: this.#codec.encoding === 'msgpack' })
      }) as Result<O>
    } finally {
      clearTimeout(timer)
      signal?.removeEventListener('abort', onAbort)
      this.#pending.delete(id)
    }
  }

  /** Calls listener for each event until disposed. */
  onEvent (listener: EventListener): Disposable {
    this.#listeners.add(listener)
    return { [Symbol.dispose]: () => { this.#listeners.delete(listener) } }
  }

  /** Closes the socket; requests without an answer reject with ConnectionLost. */
  async [Symbol.asyncDispose] (): Promise<void> {
    if (this.#lost !== undefined) return
    const timer = setTimeout(() => this.#socket.terminate(), CLOSE_MS) // for a server that does not answer the close frame
    this.#socket.close(1000, 'client closed')
    await this.closed
    clearTimeout(timer)
  }

  #receive (data: Buffer): void {
    let message: Reply | ServerEvent
    try {
      message = this.#codec.decode(data) as Reply | ServerEvent
    } catch (cause) {
      this.#lose(new ConnectionLost('The server sent a frame that cannot be decoded.', { cause }))
      this.#socket.terminate()
      return
    }
    if ('event' in message) this.#tell(message)
    else this.#settle(message)
  }

  #settle (reply: Reply): void {
    const waiting = typeof reply.id === 'number' ? this.#pending.get(reply.id) : undefined
    if (waiting === undefined) return // its caller left at a deadline
    if (reply.ok) waiting.resolve(reply.result)
    else waiting.reject(parseFailure(reply.error))
  }

  #tell (event: ServerEvent): void {
    const read = event.event === 'output' ? { ...event, bytes: bytesFromWire(event.bytes) } : event
    for (const listener of this.#listeners) listener(read)
  }

  #lose (lost: ConnectionLost): void {
    if (this.#lost !== undefined) return
    this.#lost = lost
    for (const waiting of this.#pending.values()) waiting.reject(lost)
    this.#pending.clear()
    this.#resolveClosed(lost)
  }
}

function lateReply (op: string, timeoutMs: number): AssayError {
  return new AssayError('DEADLINE', { message: `${op} had no reply in ${timeoutMs} ms; the same request again joins it.` })
}

const REQUEST_MS = 60_000
const CLOSE_MS = 2000
