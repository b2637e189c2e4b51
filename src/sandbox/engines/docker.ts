// The Docker engine: sandboxes as containers whose first process is the warden, spoken to over the attach stream.
import type { Duplex } from 'node:stream'
import type { ContainerCreateOptions } from 'dockerode'
import { z } from 'zod'
import { createId, systemRandom } from '../../base/ids.ts'
import type { Clock } from '../../base/clock.ts'
import { deadline, orAbort } from '../../base/deadline.ts'
import { AssayError } from '../../errors.ts'
import type { Logger } from '../../telemetry/log.ts'
import type { Capacity, Engine, EnsureImageOptions, Health, Image, ImageSource, Sandbox, SandboxRef, SandboxSpec, WaitOptions } from '../engine.ts'
import { ImageStore } from '../images/store.ts'
import { Limiter } from '../limiter.ts'
import { openWarden, type Warden } from '../warden/link.ts'
import { DockerClient, statusOf } from './docker/client.ts'
import { followEvents, type Events, type EventsOptions } from './docker/events.ts'
import type { Inspection } from './docker/loss.ts'
import { Remover } from './docker/remover.ts'
import { DockerSandbox } from './docker/sandbox.ts'
import { containerOptions, findRef, LABELS, parseUser } from './docker/spec.ts'
import { demultiplex } from './docker/stream.ts'
import { ContainerWatch } from './docker/watch.ts'

export interface DockerEngineOptions {
  /** "unix:///var/run/docker.sock" or "tcp://host:port". */
  dockerHost: string
  node: string
  boot: string
  /** The compiled warden's absolute path, as the daemon's machine sees it. */
  wardenPath: string
  imageAliases: ReadonlyMap<string, string>
  /** A CA bundle for builds behind a TLS-inspecting proxy. */
  caBundle?: string | undefined
  log: Logger
  clock: Clock
  /** Engine calls that create, start or remove at once; default 2 x the daemon's CPUs. */
  limiterWidth?: number | undefined
}

/** Connects on first use. Throws CONFIG_INVALID for a dockerHost that cannot be. */
export function createDockerEngine (options: DockerEngineOptions): Engine {
  return new DockerEngine(options)
}

interface Meeting extends WaitOptions {
  uid: number
  gid: number
  workdir: string
}

interface Started {
  host: Capacity
  limiter: Limiter
  remover: Remover
}

class DockerEngine implements Engine {
  readonly name = 'docker'
  readonly isolation = 'container'
  #options: DockerEngineOptions
  #client: DockerClient
  #events: Events
  #images: ImageStore
  /** By container id. */
  #live = new Map<string, DockerSandbox>()
  #watches = new Map<string, ContainerWatch>()
  #creating = new Set<Promise<unknown>>()
  #started: Promise<Started> | undefined
  #closing: Promise<void> | undefined

  constructor (options: DockerEngineOptions) {
    const { dockerHost, clock, node, imageAliases, caBundle } = options
    this.#options = options
    this.#client = new DockerClient({ dockerHost, clock })
    const log = options.log.child({ engine: 'docker' })
    const onEvent: EventsOptions['onEvent'] = (id, action) => this.#watches.get(id)?.note(action)
    this.#events = followEvents({ client: this.#client, node, clock, log, onEvent })
    this.#images = new ImageStore({ client: this.#client, aliases: imageAliases, caBundle })
  }

  async ensureImage (source: ImageSource, options: EnsureImageOptions = {}): Promise<Image> {
    this.#refuseWhenClosed()
    return await this.#images.ensure(source, options)
  }

  async create (spec: SandboxSpec, { signal }: WaitOptions = {}): Promise<Sandbox> {
    const work = this.#create(spec, signal)
    this.#creating.add(work)
    try {
      return await work
    } finally {
      this.#creating.delete(work)
    }
  }

  async list ({ signal }: WaitOptions = {}): Promise<SandboxRef[]> {
    const query = { all: true, filters: { label: [LABELS.sandbox] } }
    const containers = await this.#client.call('the list of containers', (docker, abortSignal) => {
      return docker.listContainers({ ...query, abortSignal })
    }, { signal })
    return containers.map(container => findRef(container.Id, container.Labels)).filter(ref => ref !== undefined)
  }

  async remove (ref: SandboxRef, { signal }: WaitOptions = {}): Promise<void> {
    const { remover } = await this.#start(signal)
    await remover.remove(ref.ref, { signal })
  }

  async capacity ({ signal }: WaitOptions = {}): Promise<Capacity> {
    return (await this.#start(signal)).host
  }

  health (): Health {
    return this.#client.health()
  }

  async close (): Promise<void> {
    this.#closing ??= this.#close()
    await this.#closing
  }

  async #create (spec: SandboxSpec, signal: AbortSignal | undefined): Promise<Sandbox> {
    const user = parseUser(spec.user)
    const { host, limiter, remover } = await this.#start(signal)
    const { node, boot, wardenPath, clock } = this.#options
    const sandboxId = createId('sb', node, { nowMs: clock.now(), random: systemRandom })
    const watch = new ContainerWatch()
    const container = await limiter.run('high', async () => {
      this.#refuseWhenClosed()
      const id = await this.#make(containerOptions(spec, { sandboxId, node, boot, wardenPath, host }), remover)
      this.#watches.set(id, watch)
      return await this.#orRemove(id, remover, async () => ({ id, stream: await this.#launch(id, signal) }))
    }, { signal })
    return await this.#orRemove(container.id, remover, async () => {
      const { id, stream } = container
      const warden = await this.#meet(stream, { ...user, workdir: spec.workdir, signal })
      const sandbox = new DockerSandbox({
        ref: { ref: id, sandboxId, node, boot },
        image: spec.image,
        warden,
        watch,
        inspect: () => this.#inspect(id),
        eventsHealthy: () => this.#events.isConnected(),
        remove: () => this.#forget(id, remover),
      })
      this.#live.set(id, sandbox)
      return sandbox
    })
  }

  /** Creates the container. The caller's signal does not reach this call: only a finished one can be undone for certain. */
  async #make (options: ContainerCreateOptions, remover: Remover): Promise<string> {
    try {
      const container = await this.#client.call('the creation of a container', (docker, abortSignal) => {
        return docker.createContainer({ ...options, abortSignal })
      })
      return container.id
    } catch (error) {
      const status = statusOf(error)
      if (status === 404) throw new AssayError('IMAGE_UNAVAILABLE', { message: `the image ${options.Image} is not on the engine`, cause: error })
      if ((status === undefined || status >= 500) && options.name !== undefined) remover.removeUncertain(options.name)
      throw error
    }
  }

  /** Attaches, then starts, so that not a byte of the first process is missed. */
  async #launch (id: string, signal: AbortSignal | undefined): Promise<Duplex> {
    const attach = { stream: true, stdin: true, stdout: true, stderr: true, hijack: true }
    const socket = await this.#client.call('attaching to a container', (docker, abortSignal) => {
      return docker.getContainer(id).attach({ ...attach, abortSignal })
    }, { signal })
    const stream = demultiplex(socket as Duplex)
    stream.on('error', () => {}) // whoever reads it learns of it; until then it must not be fatal
    try {
      await this.#client.call('the start of a container', (docker, abortSignal) => {
        return docker.getContainer(id).start({ abortSignal })
      }, { signal })
      return stream
    } catch (error) {
      stream.destroy()
      throw error
    }
  }

  async #meet (stream: Duplex, { signal, ...options }: Meeting): Promise<Warden> {
    using limit = deadline(WARDEN_MS, { parent: signal, code: 'ENGINE_FAULT', what: 'the first word of the warden' })
    try {
      return await openWarden(stream, { epoch: 1, ...options, signal: limit.signal })
    } catch (error) {
      stream.destroy()
      throw error
    }
  }

  async #orRemove<T> (id: string, remover: Remover, fn: () => Promise<T>): Promise<T> {
    try {
      return await fn()
    } catch (error) {
      await this.#forget(id, remover)
      throw error
    }
  }

  async #forget (id: string, remover: Remover): Promise<void> {
    await remover.removeSurely(id)
    this.#live.delete(id)
    this.#watches.delete(id)
  }

  async #inspect (id: string): Promise<Inspection> {
    try {
      const { State: state } = await this.#client.call('the inspection of a container', (docker, abortSignal) => {
        return docker.getContainer(id).inspect({ abortSignal })
      }, { timeoutMs: INSPECT_MS })
      return state.Running ? { kind: 'running', paused: state.Paused } : { kind: 'ended', exitCode: state.ExitCode }
    } catch (error) {
      if (statusOf(error) === 404) return { kind: 'gone' }
      return { kind: 'unreachable', reason: error instanceof Error ? error.message : String(error) }
    }
  }

  /** Asks the daemon what it is and follows its events, once; a failure is forgotten, so that the next call tries again. */
  async #start (signal: AbortSignal | undefined): Promise<Started> {
    this.#refuseWhenClosed()
    const started = this.#started ??= this.#connect()
    try {
      return await orAbort(started, signal)
    } catch (error) {
      if (signal?.aborted !== true && this.#started === started) this.#started = undefined
      throw error
    }
  }

  async #connect (): Promise<Started> {
    const info = await this.#client.call('info', async docker => Info.parse(await docker.info()))
    await this.#events.start()
    const { clock, log, limiterWidth } = this.#options
    const limiter = new Limiter(limiterWidth ?? 2 * info.NCPU)
    const remover = new Remover({ client: this.#client, limiter, clock, log })
    return { host: { memoryBytes: info.MemTotal, cpus: info.NCPU }, limiter, remover }
  }

  async #close (): Promise<void> {
    this.#images.close()
    await Promise.allSettled(this.#creating)
    await Promise.all([...this.#live.values()].map(sandbox => sandbox[Symbol.asyncDispose]()))
    const started = await this.#started?.catch(() => undefined) // never connected: nothing to remove
    await started?.remover.close()
    await this.#events[Symbol.asyncDispose]()
    this.#client.close()
  }

  #refuseWhenClosed (): void {
    if (this.#closing !== undefined) throw new AssayError('ENGINE_UNAVAILABLE', { message: 'The engine is closed.' })
  }
}

const Info = z.object({ NCPU: z.int(), MemTotal: z.number() })
const WARDEN_MS = 15_000
const INSPECT_MS = 5_000
