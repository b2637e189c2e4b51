// Opens the WebSocket: subprotocol, key, refusals as typed errors.
import type { IncomingMessage } from 'node:http'
import { WebSocket } from 'ws'
import { PROTOCOL_VERSION, WireError, type Encoding } from '../../src/protocol/index.ts'
import { Channel } from './channel.ts'
import { Client } from './client.ts'
import { ConnectionLost, parseFailure } from './errors.ts'

export interface ConnectOptions {
  /** Sent as "Authorization: Bearer KEY"; a server without keys takes loopback clients without one. */
  key?: string | undefined
  /** Default msgpack; json is for reading along. */
  encoding?: Encoding | undefined
  /** Milliseconds until the socket must be open; default 10,000. */
  timeoutMs?: number | undefined
  /** Gives the attempt to connect up; has no effect once connected. */
  signal?: AbortSignal | undefined
}

/**
 * Connects to an Assay server, e.g. "ws://127.0.0.1:7480/v1/ws". Hold the client with `await using`.
 * Throws AssayError (e.g. UNAUTHENTICATED) when the server refuses, ConnectionLost when nothing answers.
 */
export async function connect (url: string, options: ConnectOptions = {}): Promise<Client> {
  const { key, encoding = 'msgpack', timeoutMs = 10_000, signal } = options
  signal?.throwIfAborted()
  const socket = new WebSocket(url, `${PROTOCOL_VERSION}.${encoding}`, {
    perMessageDeflate: false,
    handshakeTimeout: timeoutMs,
    maxPayload: MAX_FRAME_BYTES,
    ...(key !== undefined && { headers: { authorization: `Bearer ${key}` } }),
  })
  const onAbort = (): void => socket.terminate() // which fails the handshake
  signal?.addEventListener('abort', onAbort, { once: true })
  try {
    return new Client(await opened(socket, { url, encoding }))
  } catch (error) {
    socket.terminate()
    signal?.throwIfAborted()
    throw error
  } finally {
    signal?.removeEventListener('abort', onAbort)
  }
}

async function opened (socket: WebSocket, { url, encoding }: { url: string, encoding: Encoding }): Promise<Channel> {
  return await new Promise((resolve, reject) => {
    // made inside the event: a frame that comes with the handshake must find the channel's listeners
    socket.once('open', () => resolve(new Channel(socket, encoding)))
    socket.on('error', cause => reject(new ConnectionLost(`${url} does not answer: ${cause.message}`, { cause })))
    socket.once('unexpected-response', (_request, response) => {
      readRefusal(url, response).then(reject, reject)
    })
  })
}

async function readRefusal (url: string, response: IncomingMessage): Promise<Error> {
  const status = `${url} answered ${response.statusCode ?? 0} instead of a WebSocket`
  try {
    let body = ''
    for await (const chunk of response) {
      body += String(chunk)
      if (body.length > REFUSAL_CHARS) break
    }
    const { error } = JSON.parse(body) as { error?: unknown }
    const parsed = WireError.safeParse(error)
    return parsed.success ? parseFailure(parsed.data) : new ConnectionLost(status)
  } catch (cause) {
    return new ConnectionLost(status, { cause })
  }
}

const MAX_FRAME_BYTES = 64 * 1024 * 1024
const REFUSAL_CHARS = 65_536
