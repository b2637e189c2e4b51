// The mouth of the server: one fastify app with the WebSocket, its HTTP mirror and the health routes. Decides nothing.
import websocket from '@fastify/websocket'
import { fastify, type FastifyInstance } from 'fastify'
import type { Clock } from '../base/clock.ts'
import { deadline } from '../base/deadline.ts'
import type { Random } from '../base/ids.ts'
import type { Config } from '../config.ts'
import type { Service } from '../service/service.ts'
import type { Logger } from '../telemetry/log.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import { createDispatch } from './dispatch.ts'
import { addHealthRoutes } from './health.ts'
import { addHttpRoutes } from './http.ts'
import type { Keyring } from './keys.ts'
import { Sockets, chooseSubprotocol } from './ws.ts'

export interface TransportDeps {
  config: Config
  service: Service
  keys: Keyring
  metrics: Metrics
  log: Logger
  clock: Clock
  random: Random
  /** How long an HTTP reset, step or submit waits before it answers {pending: true}, milliseconds; default 50 s. */
  pendingMs?: number | undefined
}

/**
 * An app that is ready to listen. Its close() is the orderly stop: goaway to every socket, service.drain for at most
 * config.drainMs while sockets and HTTP still answer, then the end of every connection.
 */
export function createTransport (deps: TransportDeps): FastifyInstance {
  const { config, metrics, pendingMs = PENDING_MS } = deps
  // fastify logs URLs, and a URL may carry a key: what is worth a line is logged here, through deps.log
  const app = fastify({
    logger: false,
    bodyLimit: config.frameBytes,
    requestTimeout: BODY_MS,
    return503OnClosing: false,
  })
  const dispatch = createDispatch(deps)
  const sockets = new Sockets({ ...deps, dispatch })
  app.decorateRequest('principal', null)
  app.register(websocket, {
    options: {
      maxPayload: config.frameBytes,
      perMessageDeflate: false,
      // text is checked by the codec, which refuses the frame and not the socket
      skipUTF8Validation: true,
      handleProtocols: chooseSubprotocol,
    },
    errorHandler: (error, socket) => {
      deps.log.info({ err: error }, 'socket failed')
      if (socket.readyState === socket.OPEN) socket.close(1011, 'the socket could not be served')
    },
    preClose: async () => await stop(deps, sockets),
  })
  app.register(async routes => {
    addHttpRoutes(routes, { ...deps, dispatch, metrics, pendingMs })
    addHealthRoutes(routes, deps)
    sockets.addRoute(routes)
  })
  return app
}

async function stop ({ config, service, log }: TransportDeps, sockets: Sockets): Promise<void> {
  sockets.announceEnd(config.drainMs)
  using limit = deadline(config.drainMs, { what: 'draining' })
  try {
    await service.drain({ signal: limit.signal })
  } catch (error) {
    log.error({ err: error }, 'drain failed')
  }
  await sockets.closeAll(GOODBYE_MS)
}

const PENDING_MS = 50_000
/** For a whole HTTP request to arrive. */
const BODY_MS = 120_000
/** For the peers of open sockets to answer a close. */
const GOODBYE_MS = 1_000
