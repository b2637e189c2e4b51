// One conversation with a warden over a stream: requests in frames with back-pressure, one reply at a time, every wait bounded.
// Knows nothing of what the requests mean.
import type { Duplex } from 'node:stream'
import { defer, type Deferred } from '../../base/defer.ts'
import { AssayError, isAssayError } from '../../errors.ts'
import type { OutputChunk } from '../engine.ts'
import { decodeRefusal, type RefusalCode } from './messages.ts'
import { FRAME, FrameDecoder, HELLO_MARKER, TYPES, encodeFrame, type Frame } from './frame.ts'

const SENT_BYTES = 256 << 10

export interface Call {
  type: number
  pieces: Iterable<Uint8Array>
  /** Type of the frames that answer. */
  reply: number
  /** Largest reply. */
  replyBytes: number
  /** Without a reply by then the sandbox counts as lost. */
  watchdogMs: number
  signal?: AbortSignal | undefined
  onOutput?: ((chunk: OutputChunk) => void) | undefined
}

/** The warden said no; the caller knows what that means for it. */
export interface Refusal { code: RefusalCode, sentence: string }

interface Pending {
  seq: number
  call: Call
  parts: Uint8Array[]
  receivedBytes: number
  done: Deferred<Buffer | Refusal>
}

export class Conversation {
  readonly closed: Promise<void>
  readonly #stream: Duplex
  readonly #nonce: Uint8Array
  readonly #epoch: number
  readonly #decoder: FrameDecoder
  readonly #closed = defer<void>()
  #failure: AssayError | undefined
  #pending: Pending | undefined
  #drained: Deferred<undefined> | undefined
  #seq = 0

  constructor (stream: Duplex, { nonce, epoch }: { nonce: Uint8Array, epoch: number }) {
    this.#stream = stream
    this.#nonce = nonce
    this.#epoch = epoch
    this.#decoder = new FrameDecoder(nonce)
    this.closed = this.#closed.promise
    stream.on('data', (chunk: Buffer) => this.#receive(chunk))
    stream.on('drain', () => this.#drained?.resolve(undefined))
    stream.on('end', () => this.fail(lost('its stream ended')))
    stream.on('close', () => this.fail(lost('its stream closed')))
    stream.on('error', error => this.fail(lost(error.message, error)))
  }

  /** Later requests continue after seq, so that an older result is never taken for theirs. */
  continueAfter (seq: number): void {
    this.#seq = Math.max(this.#seq, seq)
  }

  /** Sends one request and waits for its reply; there must be no other. Throws SANDBOX_LOST or WARDEN_FAULT. */
  async request (call: Call): Promise<Buffer | Refusal> {
    if (this.#failure !== undefined) throw this.#failure
    if (this.#pending !== undefined) throw new TypeError('a request of this warden is already waiting')
    this.#seq += 1
    const pending: Pending = { seq: this.#seq, call, parts: [], receivedBytes: 0, done: defer() }
    this.#pending = pending
    const watch = (ms: number): NodeJS.Timeout => setTimeout(() => this.fail(lost(`it did not answer within ${ms} ms`)), ms)
    let watchdog = watch(call.watchdogMs)
    const cancel = (): void => {
      clearTimeout(watchdog)
      watchdog = watch(Math.min(call.watchdogMs, CANCEL_MS))
      this.#write({ type: TYPES.cancel, more: false, seq: pending.seq, offset: 0, payload: new Uint8Array(0) })
    }
    try {
      pending.done.promise.catch(() => {}) // awaited below; it may fail while the request is still being written
      await this.#send(pending)
      call.signal?.addEventListener('abort', cancel, { once: true })
      if (call.signal?.aborted === true) cancel()
      return await pending.done.promise
    } finally {
      clearTimeout(watchdog)
      call.signal?.removeEventListener('abort', cancel)
      this.#pending = undefined
    }
  }

  /** Ends the conversation; what waits rejects with error. The stream is destroyed. Idempotent. */
  fail (error: AssayError): void {
    if (this.#failure !== undefined) return
    this.#failure = error
    this.#pending?.done.reject(error)
    this.#drained?.resolve(undefined)
    this.#stream.destroy()
    this.#closed.resolve()
  }

  async #send ({ seq, call }: Pending): Promise<void> {
    let offset = 0
    for (const { payload, more } of chunked(call.pieces)) {
      const flowing = this.#write({ type: call.type, more, seq, offset, payload })
      offset += payload.length
      if (!flowing && this.#failure === undefined && this.#stream.writableNeedDrain) {
        this.#drained = defer()
        await this.#drained.promise
      }
      if (this.#failure !== undefined) throw this.#failure
    }
  }

  #write (frame: Omit<Frame, 'epoch'>): boolean {
    if (this.#failure !== undefined) return false
    const marker = frame.type === TYPES.hello ? HELLO_MARKER : this.#nonce
    return this.#stream.write(encodeFrame(marker, { ...frame, epoch: this.#epoch }))
  }

  #receive (chunk: Buffer): void {
    try {
      for (const frame of this.#decoder.push(chunk)) this.#take(frame)
    } catch (error) {
      if (!isAssayError(error)) throw error
      this.fail(error)
    }
  }

  #take (frame: Frame): void {
    const pending = this.#pending
    if (pending?.seq !== frame.seq) return // the end of something that nobody waits for any more
    const { call } = pending
    if (frame.type === TYPES.stdout || frame.type === TYPES.stderr) {
      const stream = frame.type === TYPES.stdout ? 'stdout' : 'stderr'
      call.onOutput?.({ stream, offset: frame.offset, bytes: frame.payload })
    } else if (frame.type === TYPES.refused) {
      pending.done.resolve(decodeRefusal(frame.payload))
    } else if (frame.type === call.reply) {
      this.#takeReply(pending, frame)
    }
  }

  #takeReply (pending: Pending, frame: Frame): void {
    if (frame.offset !== pending.receivedBytes) {
      throw new AssayError('WARDEN_FAULT', { message: 'A part of the warden\'s reply is missing.' })
    }
    pending.receivedBytes += frame.payload.length
    if (pending.receivedBytes > pending.call.replyBytes) {
      throw new AssayError('WARDEN_FAULT', { message: 'The warden\'s reply is larger than it may be.' })
    }
    pending.parts.push(frame.payload)
    if (!frame.more) pending.done.resolve(Buffer.concat(pending.parts))
  }
}

export function lost (why: string, cause?: unknown): AssayError {
  return new AssayError('SANDBOX_LOST', { message: `The sandbox is gone: ${why}.`, cause })
}

/** Joins small pieces and cuts large ones, so that each payload fits a frame; the last has more: false. */
function * chunked (pieces: Iterable<Uint8Array>): Generator<{ payload: Uint8Array, more: boolean }, void> {
  let held: Uint8Array[] = []
  let heldBytes = 0
  for (let piece of pieces) {
    while (heldBytes + piece.length > SENT_BYTES) {
      const part = piece.subarray(0, SENT_BYTES - heldBytes)
      yield { payload: Buffer.concat([...held, part]), more: true }
      piece = piece.subarray(part.length)
      held = []
      heldBytes = 0
    }
    held.push(piece)
    heldBytes += piece.length
  }
  yield { payload: Buffer.concat(held), more: false }
}

if (SENT_BYTES > FRAME.payloadBytes) throw new RangeError('a chunk must fit a frame')

/** For the reply to a cancelled request: the warden kills within its grace and gives up 3 s later. */
const CANCEL_MS = 15_000
