// A WebSocket server whose answers a test writes down: what the client sends is recorded, nothing is decided here.
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { once } from 'node:events'
import { WebSocketServer, type WebSocket } from 'ws'
import type { AssayError } from '../../src/errors.ts'
import { createCodec, toWireError, type Encoding } from '../../src/protocol/index.ts'

export interface Request { id: number, op: string, [param: string]: unknown }

export interface Talk {
  /** Sends any frame to the socket that asked. */
  send (message: unknown): void
  /** Sends a frame as it is. */
  raw (frame: string): void
  /** Drops the socket without a close frame. */
  drop (): void
}

/** Returns the result, throws the error to answer with; SILENCE answers nothing. */
export type Answer = (request: Request, talk: Talk) => unknown

export const SILENCE = Symbol('no answer')

export interface ScriptedServer extends AsyncDisposable {
  readonly url: string
  readonly requests: Request[]
  readonly upgrades: IncomingMessage[]
}

export interface ScriptedOptions {
  /** Every upgrade is answered with this instead. */
  refuse?: AssayError | undefined
}

export async function scriptedServer (answer: Answer, { refuse }: ScriptedOptions = {}): Promise<ScriptedServer> {
  const http = createServer()
  const sockets = new WebSocketServer({ noServer: true, handleProtocols: offered => [...offered][0] ?? false })
  const requests: Request[] = []
  const upgrades: IncomingMessage[] = []
  http.on('upgrade', (request, socket, head) => {
    upgrades.push(request)
    if (refuse !== undefined) {
      const body = JSON.stringify({ ok: false, error: toWireError(refuse) })
      socket.end(`HTTP/1.1 ${refuse.info.status} no\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`)
      return
    }
    sockets.handleUpgrade(request, socket, head, ws => serve(ws, requests, answer))
  })
  http.listen(0, '127.0.0.1')
  await once(http, 'listening')
  return {
    url: `ws://127.0.0.1:${(http.address() as AddressInfo).port}/v1/ws`,
    requests,
    upgrades,
    async [Symbol.asyncDispose] () {
      for (const ws of sockets.clients) ws.terminate()
      http.close()
      await once(http, 'close')
    },
  }
}

function serve (ws: WebSocket, requests: Request[], answer: Answer): void {
  const encoding = ws.protocol.replace('assay.v1.', '') as Encoding
  const codec = createCodec(encoding)
  const talk: Talk = {
    send: message => ws.send(codec.encode(message), { binary: encoding === 'msgpack' }),
    raw: frame => ws.send(frame),
    drop: () => ws.terminate(),
  }
  ws.on('message', data => {
    const request = codec.decode(data as Buffer) as Request
    requests.push(request)
    Promise.resolve().then(() => answer(request, talk)).then(
      result => { if (result !== SILENCE) talk.send({ id: request.id, ok: true, result }) },
      (error: unknown) => talk.send({ id: request.id, ok: false, error: toWireError(error) })
    ).catch(() => {}) // the test dropped the socket meanwhile
  })
}
