// Calls to one Docker daemon: own agent, a deadline on every call, typed errors, health. Knows nothing of sandboxes.
import { randomInt } from 'node:crypto'
import { Agent } from 'node:http'
import Docker from 'dockerode'
import type { Clock } from '../../../base/clock.ts'
import { deadline, orAbort } from '../../../base/deadline.ts'
import { AssayError, isAssayError } from '../../../errors.ts'
import type { Health } from '../../engine.ts'

export interface CallOptions {
  signal?: AbortSignal | undefined
  /** Milliseconds for the whole call, retries included; default 30,000. */
  timeoutMs?: number | undefined
}

type LongAnswer = NodeJS.ReadableStream

/** Must hand abortSignal to dockerode. */
export type Call<T> = (docker: Docker, abortSignal: AbortSignal) => Promise<T>

export class DockerClient {
  #docker: Docker
  #agent: Agent
  #clock: Clock
  #fault: string | undefined

  /** dockerHost: "unix:///path", "tcp://host:port" or "http://host:port". Throws CONFIG_INVALID. */
  constructor ({ dockerHost, clock }: { dockerHost: string, clock: Clock }) {
    this.#agent = createAgent()
    const options: Docker.DockerOptions & { agent: Agent } = { ...parseDockerHost(dockerHost), agent: this.#agent }
    this.#docker = new Docker(options)
    this.#clock = clock
  }

  /**
   * One call with its deadline.
   * Throws ENGINE_UNAVAILABLE when the daemon cannot be reached or does not answer in time, ENGINE_FAULT when it refuses; the caller's own reason when its signal aborts.
   */
  async call<T> (what: string, fn: Call<T>, { signal, timeoutMs = 30_000 }: CallOptions = {}): Promise<T> {
    using limit = deadline(timeoutMs, { parent: signal, code: 'ENGINE_UNAVAILABLE', what: `docker: ${what}` })
    for (let attempt = 1; ; attempt++) {
      try {
        // dockerode's promise never settles when the daemon dies inside a body, so the deadline is not left to it
        const result = await orAbort(fn(this.#docker, limit.signal), limit.signal)
        this.#fault = undefined
        return result
      } catch (error) {
        signal?.throwIfAborted()
        if (attempt < ATTEMPTS && neverSent(error) && !limit.signal.aborted) {
          await orAbort(this.#pause(attempt), limit.signal)
          continue
        }
        throw this.#translate(what, limit.signal.aborted ? limit.signal.reason : error)
      }
    }
  }

  /** A call whose answer is a long stream: the deadline is for its beginning, the signal for all of it. Errors as call; later ones surface when it is read. */
  async open (what: string, fn: Call<LongAnswer>, options: CallOptions = {}): Promise<LongAnswer> {
    const { signal } = options
    const life = new AbortController()
    const end = (): void => life.abort(signal?.reason)
    signal?.addEventListener('abort', end, { once: true })
    try {
      const stream = await this.call(what, docker => fn(docker, life.signal), options)
      stream.on('error', () => {}) // whoever reads it gets the error too; between here and there it must not be fatal
      stream.once('close', () => signal?.removeEventListener('abort', end))
      return stream
    } catch (error) {
      signal?.removeEventListener('abort', end)
      life.abort(error)
      throw error
    }
  }

  /** What the last calls said; an answer of any kind is a living daemon. */
  health (): Health {
    return this.#fault === undefined ? { ok: true } : { ok: false, reason: this.#fault }
  }

  close (): void {
    this.#agent.destroy()
  }

  #pause (attempt: number): Promise<void> {
    return new Promise(resolve => { this.#clock.after(attempt * 20 + randomInt(40), resolve) })
  }

  #translate (what: string, error: unknown): AssayError {
    const message = error instanceof Error ? error.message.trim() : String(error)
    if (statusOf(error) !== undefined) {
      this.#fault = undefined
      return new AssayError('ENGINE_FAULT', { message: `docker refused ${what}: ${message}`, cause: error })
    }
    const unanswered = `docker did not answer ${what}: ${message}`
    const fault = isAssayError(error) ? error : new AssayError('ENGINE_UNAVAILABLE', { message: unanswered, cause: error })
    this.#fault = fault.message
    return fault
  }
}

/** The HTTP status behind an error of dockerode or of a call, or undefined when there was no answer. */
export function statusOf (error: unknown): number | undefined {
  if (isAssayError(error)) return statusOf(error.cause)
  const status = error instanceof Error && 'statusCode' in error ? error.statusCode : undefined
  return typeof status === 'number' ? status : undefined
}

/** Only a connection that was never made proves that nothing was executed. */
function neverSent (error: unknown): boolean {
  return error instanceof Error && 'syscall' in error && error.syscall === 'connect' &&
    'code' in error && (error.code === 'EAGAIN' || error.code === 'ECONNREFUSED')
}

function createAgent (): Agent {
  // hijacked sockets leave the agent, so attached sandboxes do not count against this
  const agent = new Agent({ keepAlive: true, maxSockets: MAX_SOCKETS, maxFreeSockets: 8 })
  const connect = agent.createConnection.bind(agent)
  agent.createConnection = (options, done) => {
    const socket = connect(options, done)
    // between two requests a socket has no listener for a moment: an abort that falls into it must not be fatal
    socket?.on('error', () => {})
    return socket
  }
  return agent
}

function parseDockerHost (dockerHost: string): Docker.DockerOptions {
  // dockerode reads DOCKER_HOST on its own unless it is told that there is no host
  if (dockerHost.startsWith('unix://')) return { socketPath: dockerHost.slice('unix://'.length), host: undefined, port: undefined, protocol: 'http' }
  const url = URL.canParse(dockerHost) ? new URL(dockerHost) : undefined
  if (url === undefined || !['tcp:', 'http:'].includes(url.protocol) || url.port === '') {
    throw new AssayError('CONFIG_INVALID', { message: `dockerHost ${JSON.stringify(dockerHost)} must be "unix:///path/to/docker.sock" or "tcp://host:port".` })
  }
  return { host: url.hostname, port: url.port, protocol: 'http' }
}

const MAX_SOCKETS = 64
const ATTEMPTS = 6
