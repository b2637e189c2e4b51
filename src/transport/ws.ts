// The WebSocket route: who may open one, in which subprotocol, and how all of them end when the server stops.
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { WebSocket } from 'ws'
import { deadline } from '../base/deadline.ts'
import { createId, type Random } from '../base/ids.ts'
import { defer } from '../base/defer.ts'
import type { Config } from '../config.ts'
import { AssayError } from '../errors.ts'
import { SUBPROTOCOLS, createCodec, isSubprotocol, type Subprotocol } from '../protocol/index.ts'
import type { Logger } from '../telemetry/log.ts'
import { authenticate, principalOf } from './auth.ts'
import type { Keyring } from './keys.ts'
import { Socket, type SocketDeps } from './socket.ts'

export interface SocketsDeps extends SocketDeps {
  config: Config
  keys: Keyring
  random: Random
  log: Logger
}

/** The open sockets of this server; bounded by the file descriptors that the process may have. */
export class Sockets {
  readonly #deps: SocketsDeps
  readonly #open = new Set<Socket>()
  readonly #codecs = { msgpack: createCodec('msgpack'), json: createCodec('json') }
  #emptied = (): void => {}
  #stopping = false

  constructor (deps: SocketsDeps) {
    this.#deps = deps
  }

  addRoute (app: FastifyInstance): void {
    app.route({
      method: 'GET',
      url: '/v1/ws',
      onRequest: async request => {
        authenticate(request, this.#deps.keys)
        negotiate(request)
      },
      handler: async () => { throw plainGet() },
      wsHandler: (socket, request) => this.#accept(socket, request),
    })
  }

  /** Tells every socket to finish within deadlineMs. */
  announceEnd (deadlineMs: number): void {
    for (const socket of this.#open) socket.emit({ event: 'goaway', deadlineMs })
  }

  /** Closes every socket; those whose peers have not answered after graceMs are cut. */
  async closeAll (graceMs: number): Promise<void> {
    this.#stopping = true
    if (this.#open.size === 0) return
    using grace = deadline(graceMs)
    const emptied = defer<void>()
    this.#emptied = () => emptied.resolve()
    grace.signal.addEventListener('abort', () => {
      for (const socket of this.#open) socket.terminate()
    }, { once: true })
    for (const socket of this.#open) socket.close(1001, 'the server stops')
    await emptied.promise
  }

  #accept (webSocket: WebSocket, request: FastifyRequest): void {
    if (this.#stopping) return webSocket.terminate() // its upgrade began before the stop
    const { clock, config, log, random } = this.#deps
    const id = createId('ws', config.node, { nowMs: clock.now(), random })
    const principal = principalOf(request)
    const codec = this.#codecs[SUBPROTOCOLS[webSocket.protocol as Subprotocol]]
    const ofSocket = log.child({ socket: id, principal: principal.name })
    const peer = { id, principal, codec, stream: request.raw.socket, log: ofSocket }
    const socket = new Socket(webSocket, peer, this.#deps)
    this.#open.add(socket)
    webSocket.once('close', () => {
      this.#open.delete(socket)
      if (this.#open.size === 0) this.#emptied()
    })
  }
}

/** For ws: the first of the client's subprotocols that is ours. */
export function chooseSubprotocol (offered: Iterable<string>): Subprotocol | false {
  for (const name of offered) if (isSubprotocol(name)) return name
  return false
}

function plainGet (): AssayError {
  return new AssayError('BAD_FRAME', { message: 'This is the address of a WebSocket; send an Upgrade request.' })
}

function negotiate (request: FastifyRequest): void {
  if (!request.ws) return
  const offered = (request.headers['sec-websocket-protocol'] ?? '').split(',').map(name => name.trim())
  if (chooseSubprotocol(offered) !== false) return
  throw new AssayError('BAD_FRAME', {
    message: `Offer one of the subprotocols ${Object.keys(SUBPROTOCOLS).join(', ')} in Sec-WebSocket-Protocol.`,
  })
}
