// A transport on a real port over a scripted service, and a client that keeps every frame it gets.
import { once } from 'node:events'
import { WebSocket, type ClientOptions, type RawData } from 'ws'
import { systemClock, type Clock } from '../../src/base/clock.ts'
import { systemRandom } from '../../src/base/ids.ts'
import { loadConfig, type ConfigInput } from '../../src/config.ts'
import { isSubprotocol, createCodec, SUBPROTOCOLS, type OperationName } from '../../src/protocol/index.ts'
import type { Connection, Context, Service } from '../../src/service/service.ts'
import type { Logger } from '../../src/telemetry/log.ts'
import { createMetrics } from '../../src/telemetry/metrics.ts'
import { Keyring } from '../../src/transport/keys.ts'
import { createTransport } from '../../src/transport/transport.ts'

export type Script = (op: OperationName, params: Record<string, unknown>, context: Context) => Promise<unknown>

export interface ScriptedService extends Service {
  readonly calls: Array<{ op: OperationName, params: Record<string, unknown>, context: Context }>
  readonly gone: Connection[]
  onDrain: (signal: AbortSignal) => Promise<void>
  readiness: ReturnType<Service['ready']>
}

/** Answers by script; remembers who called and who left. */
export function scriptedService (script: Script): ScriptedService {
  const service: ScriptedService = {
    calls: [],
    gone: [],
    onDrain: async () => {},
    readiness: { ok: true },
    async call (op, params, context) {
      service.calls.push({ op, params, context })
      return await script(op, params, context) as never
    },
    disconnected (connection) { service.gone.push(connection) },
    async drain ({ signal }) { await service.onDrain(signal) },
    ready: () => service.readiness,
  }
  return service
}

export interface StartOptions {
  /** Default: one that answers everything with {}. */
  service?: Service
  config?: ConfigInput
  keys?: Keyring
  clock?: Clock
  pendingMs?: number
}

export type LogLine = { level: string, message: string } & Record<string, unknown>

export async function startTransport (options: StartOptions = {}) {
  const { service = scriptedService(async () => ({})), config = {}, keys, clock = systemClock, pendingMs } = options
  const settings = loadConfig({ port: 0, ...config }, {})
  const metrics = createMetrics()
  const lines: LogLine[] = []
  const app = createTransport({
    config: settings,
    service,
    keys: keys ?? new Keyring(undefined, settings, clock),
    metrics,
    log: recordingLogger(lines),
    clock,
    random: systemRandom,
    pendingMs,
  })
  const httpUrl = await app.listen({ host: '127.0.0.1', port: 0 })
  return {
    app,
    metrics,
    lines,
    httpUrl,
    /** How many requests of op were answered with code. */
    answered: async (op: string, code: string): Promise<number> => {
      const { values } = await metrics.requests.get()
      return values.find(({ labels }) => labels.op === op && labels.code === code)?.value ?? 0
    },
    wsUrl: `${httpUrl.replace('http', 'ws')}/v1/ws`,
    post: async (op: string, body?: unknown, init: RequestInit = {}) => await fetch(`${httpUrl}/v1/${op}`, {
      method: 'POST',
      ...(body !== undefined && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
      ...init,
    }),
    [Symbol.asyncDispose]: async () => await app.close(),
  }
}

function recordingLogger (lines: LogLine[], bound: Record<string, unknown> = {}): Logger {
  const write = (level: string) => (fields: Record<string, unknown>, message: string): void => {
    lines.push({ ...bound, ...fields, level, message })
  }
  return {
    debug: write('debug'),
    info: write('info'),
    warn: write('warn'),
    error: write('error'),
    child: fields => recordingLogger(lines, { ...bound, ...fields }),
  }
}

export type Frame = Record<string, unknown>

export class Client implements AsyncDisposable {
  readonly ws: WebSocket
  readonly frames: Frame[] = []
  closed: { code: number, reason: string } | undefined
  #nextId = 0
  #wake = (): void => {}

  constructor (ws: WebSocket) {
    this.ws = ws
    ws.on('message', (data: RawData) => {
      this.frames.push(this.codec.decode(data as Buffer) as Frame)
      this.#wake()
    })
    ws.on('error', () => {})
    ws.once('close', (code, reason) => {
      this.closed = { code, reason: reason.toString() }
      this.#wake()
    })
  }

  get codec () {
    if (!isSubprotocol(this.ws.protocol)) throw new Error(`no subprotocol: "${this.ws.protocol}"`)
    return createCodec(SUBPROTOCOLS[this.ws.protocol])
  }

  send (message: unknown): void {
    this.ws.send(this.codec.encode(message))
  }

  async request (op: string, params: Record<string, unknown> = {}): Promise<Frame> {
    const id = ++this.#nextId
    this.send({ id, op, ...params })
    return await this.frame(frame => frame['id'] === id)
  }

  /** Removes and returns the first frame that fits, waiting for it. */
  async frame (fits: (frame: Frame) => boolean = () => true): Promise<Frame> {
    await this.until(() => this.frames.some(fits))
    const at = this.frames.findIndex(fits)
    const [frame] = this.frames.splice(at, 1)
    if (frame === undefined) throw new Error('unreachable')
    return frame
  }

  async end (): Promise<{ code: number, reason: string }> {
    await this.until(() => this.closed !== undefined)
    return this.closed ?? { code: 0, reason: '' }
  }

  async until (condition: () => boolean): Promise<void> {
    await eventually(condition, wake => { this.#wake = wake })
  }

  async [Symbol.asyncDispose] (): Promise<void> {
    this.ws.terminate()
    await this.end()
  }
}

export async function connect (url: string, protocols = ['assay.v1.msgpack'], options: ClientOptions = {}): Promise<Client> {
  const ws = new WebSocket(url, protocols, options)
  const client = new Client(ws)
  await once(ws, 'open')
  return client
}

/** The status and body with which an upgrade is refused. */
export async function refusedUpgrade (url: string, protocols: string[], options: ClientOptions = {}) {
  const ws = new WebSocket(url, protocols, options)
  ws.on('error', () => {})
  const [, response] = await once(ws, 'unexpected-response')
  const chunks: Buffer[] = []
  for await (const chunk of response) chunks.push(chunk)
  ws.terminate()
  return { status: response.statusCode as number, body: JSON.parse(Buffer.concat(chunks).toString()) as Frame }
}

export type Condition = () => boolean | Promise<boolean>

/** Waits until the condition holds, asking again when woken or every few milliseconds; fails after five seconds. */
export async function eventually (condition: Condition, onWake: (wake: () => void) => void = () => {}): Promise<void> {
  const endMs = performance.now() + 5_000
  while (!await condition()) {
    if (performance.now() > endMs) throw new Error(`condition not met in time: ${condition}`)
    await new Promise<void>(resolve => {
      setTimeout(resolve, 5)
      onWake(resolve)
    })
  }
}
