// One WebSocket: frames in, replies and events out, its limits and its end. Knows no operation by name.
import { setMaxListeners } from 'node:events'
import type { Duplex } from 'node:stream'
import type { RawData, WebSocket } from 'ws'
import type { Clock } from '../base/clock.ts'
import type { Config } from '../config.ts'
import { AssayError, isAssayError } from '../errors.ts'
import {
  readRequest, toWireError, type Codec, type FrameReading, type RequestId, type ServerEvent,
} from '../protocol/index.ts'
import type { Connection, Principal, Service } from '../service/service.ts'
import type { Logger } from '../telemetry/log.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import { failure, type Dispatch } from './dispatch.ts'
import { Outbox } from './outbox.ts'

export interface SocketDeps {
  dispatch: Dispatch
  service: Service
  metrics: Metrics
  clock: Clock
  config: Pick<Config, 'frameBytes' | 'inFlightPerSocket' | 'sendBufferBytes' | 'pingMs'>
}

/** Who is at the other end, and how they speak. */
export interface Peer {
  id: string
  principal: Principal
  codec: Codec
  /** The stream under the WebSocket. */
  stream: Duplex
  log: Logger
}

/** Serves the socket until it closes; then calls onEnd. Attaches its listeners before it returns, so no message is lost. */
export class Socket implements Connection {
  readonly id: string
  readonly #socket: WebSocket
  readonly #peer: Peer
  readonly #deps: SocketDeps
  readonly #outbox: Outbox
  readonly #inFlight = new Set<RequestId>()
  readonly #caller = new AbortController()
  #badFrames = 0
  #unansweredPings = 0
  #stopPings = (): void => {}
  #closing = false
  #ended = false

  constructor (socket: WebSocket, peer: Peer, deps: SocketDeps) {
    this.id = peer.id
    this.#socket = socket
    this.#peer = peer
    this.#deps = deps
    this.#outbox = new Outbox(socket, peer.stream, { codec: peer.codec, highWaterBytes: deps.config.sendBufferBytes })
    setMaxListeners(0, this.#caller.signal) // one listener per request in flight
    socket.on('message', (data: RawData, isBinary: boolean) => this.#receive(data as Buffer, isBinary))
    socket.on('pong', () => { this.#unansweredPings = 0 })
    socket.once('close', () => this.#end())
    this.#explainOversize()
    this.#beat()
    deps.metrics.sockets.inc()
    peer.log.debug({ encoding: peer.codec.encoding }, 'socket opened')
  }

  /** Never throws, never blocks; a slow reader loses output events. */
  emit (event: ServerEvent): void {
    if (this.#ended) return
    if (event.event === 'output' && this.#outbox.isSlow) this.#deps.metrics.droppedEvents.inc()
    else this.#send(event)
  }

  /** Handles no further request and says goodbye; ws ends the socket of a peer that does not answer. */
  close (code: number, reason: string): void {
    this.#closing = true
    this.#socket.close(code, reason)
  }

  terminate (): void {
    this.#socket.terminate()
  }

  #receive (data: Buffer, isBinary: boolean): void {
    if (this.#ended || this.#closing) return // messages already read may still be delivered after the end
    const frame = this.#read(data, isBinary)
    if (!frame.ok) {
      this.#refuse(frame.id, new AssayError('BAD_FRAME', { message: frame.problem }))
      if (++this.#badFrames >= BAD_FRAMES) this.close(1008, `${BAD_FRAMES} bad frames in a row`)
      return
    }
    this.#badFrames = 0
    const refusal = this.#findRefusal(frame.id)
    if (refusal !== undefined) this.#refuse(isAssayError(refusal, 'BAD_FRAME') ? null : frame.id, refusal)
    else this.#answer(frame.id, frame.op, frame.params).catch((bug: unknown) => this.#fail(bug))
  }

  #read (data: Buffer, isBinary: boolean): FrameReading {
    const { codec } = this.#peer
    if (isBinary !== (codec.encoding === 'msgpack')) {
      const problem = isBinary
        ? 'This socket speaks JSON: send text frames, or negotiate assay.v1.msgpack.'
        : 'This socket speaks msgpack: send binary frames, or negotiate assay.v1.json.'
      return { ok: false, id: null, problem }
    }
    try {
      return readRequest(codec.decode(data))
    } catch (error) {
      if (!isAssayError(error, 'BAD_FRAME')) throw error
      return { ok: false, id: null, problem: error.message }
    }
  }

  // A reply under an id that is in flight would be taken for the other request's, so that refusal carries no id.
  #findRefusal (id: RequestId): AssayError | undefined {
    if (this.#inFlight.has(id)) {
      const message = `The id ${JSON.stringify(id)} is that of a request still in flight on this socket; give each its own.`
      return new AssayError('BAD_FRAME', { message, details: { id } })
    }
    if (this.#outbox.isSlow) return new AssayError('SLOW_READER', { retryAfterMs: RETRY_MS })
    const { inFlightPerSocket } = this.#deps.config
    if (this.#inFlight.size < inFlightPerSocket) return undefined
    return new AssayError('TOO_MANY_IN_FLIGHT', { retryAfterMs: RETRY_MS, details: { inFlightPerSocket } })
  }

  async #answer (id: RequestId, op: string, params: unknown): Promise<void> {
    const { principal, log } = this.#peer
    this.#inFlight.add(id)
    const context = { principal, log, connection: this, requestId: id, signal: this.#caller.signal }
    const answer = await this.#deps.dispatch(op, params, context)
    this.#inFlight.delete(id)
    if (this.#ended) return
    const sent = this.#send({ id, ...answer })
    if (!sent) this.#send({ id, ok: false, error: toWireError(new AssayError('INTERNAL')) })
  }

  #fail (bug: unknown): void {
    this.#peer.log.error({ err: bug }, 'socket failed on a bug')
    this.close(1011, 'a bug in the server')
  }

  #refuse (id: RequestId | null, error: AssayError): void {
    this.#deps.metrics.requests.inc({ op: 'unknown', code: error.code })
    this.#send({ id, ...failure(error, this.#peer, '') })
  }

  #send (message: unknown): boolean {
    try {
      this.#outbox.send(message)
      return true
    } catch (error) {
      this.#peer.log.error({ err: error }, 'message could not be encoded')
      return false
    }
  }

  // ws closes with 1009 by itself and before it tells anybody, so the last word is said on the way.
  #explainOversize (): void {
    const close = this.#socket.close.bind(this.#socket)
    this.#socket.close = (code, reason) => {
      if (code !== 1009) return close(code, reason)
      const message = `A message may have at most ${this.#deps.config.frameBytes} bytes (info.limits.frameBytes); send less at once.`
      this.#refuse(null, new AssayError('FRAME_TOO_LARGE', { message }))
      close(1009, message)
    }
  }

  #beat (): void {
    this.#stopPings = this.#deps.clock.after(this.#deps.config.pingMs, () => {
      if (this.#unansweredPings === UNANSWERED_PINGS) {
        this.#peer.log.info({ unanswered: UNANSWERED_PINGS }, 'socket does not answer pings')
        return this.terminate()
      }
      this.#unansweredPings += 1
      this.#socket.ping()
      this.#beat()
    })
  }

  #end (): void {
    this.#ended = true
    this.#stopPings()
    this.#deps.metrics.sockets.dec()
    this.#peer.log.debug({ inFlight: this.#inFlight.size }, 'socket closed')
    this.#caller.abort(new AssayError('DEADLINE', { message: 'The socket of this request is closed.' }))
    this.#deps.service.disconnected(this)
  }
}

const BAD_FRAMES = 20
const UNANSWERED_PINGS = 2
/** After which a refused request may be sent again. */
const RETRY_MS = 100
