// One container as a Sandbox: the warden does the work, evidence from the daemon says how it ended.
import { defer } from '../../../base/defer.ts'
import { orAbort } from '../../../base/deadline.ts'
import { AssayError } from '../../../errors.ts'
import type { Command, Ran } from '../../command.ts'
import type { Image, RunOptions, Sandbox, SandboxLoss, SandboxRef, WaitOptions } from '../../engine.ts'
import type { FileEntry, Manifest } from '../../files.ts'
import type { Warden } from '../../warden/link.ts'
import { decideLoss, type Inspection } from './loss.ts'
import type { ContainerWatch } from './watch.ts'

export interface DockerSandboxOptions {
  ref: SandboxRef
  image: Image
  warden: Warden
  watch: ContainerWatch
  /** Never throws. */
  inspect: () => Promise<Inspection>
  eventsHealthy: () => boolean
  /** Never throws; called once. */
  remove: () => Promise<void>
}

export class DockerSandbox implements Sandbox {
  readonly ref: SandboxRef
  readonly image: Image
  #options: DockerSandboxOptions
  #lost = defer<SandboxLoss>()
  #disposal: Promise<void> | undefined

  constructor (options: DockerSandboxOptions) {
    this.ref = options.ref
    this.image = options.image
    this.#options = options
    Promise.race([options.warden.closed, options.watch.ended]).then(() => this.#look()).catch((error: unknown) => {
      this.#lost.resolve({ kind: 'engine', reason: `the end of the sandbox could not be explained: ${String(error)}` })
    })
  }

  get id (): string { return this.ref.sandboxId }
  get lost (): Promise<SandboxLoss> { return this.#lost.promise }

  async run (command: Command, options: RunOptions = {}): Promise<Ran> {
    return await this.#live().run(command, options)
  }

  async put (root: string, entries: readonly FileEntry[], options: WaitOptions = {}): Promise<void> {
    await this.#live().put(root, entries, options)
  }

  async get (root: string, paths: readonly string[], options: Parameters<Sandbox['get']>[2]): Promise<FileEntry[]> {
    return await this.#live().get(root, paths, options)
  }

  async manifest (root: string, options: WaitOptions & { maxEntries: number }): Promise<Manifest> {
    return await this.#live().manifest(root, options)
  }

  async killAll (options: WaitOptions = {}): Promise<void> {
    await this.#live().killAll(options)
  }

  async [Symbol.asyncDispose] (): Promise<void> {
    this.#disposal ??= this.#dispose()
    await this.#disposal
  }

  async #dispose (): Promise<void> {
    this.#options.warden.close()
    await this.#options.remove()
  }

  #live (): Warden {
    if (this.#disposal !== undefined) throw new AssayError('SANDBOX_LOST', { message: 'The sandbox was already disposed of.' })
    return this.#options.warden
  }

  /** At the first sign of an end that nobody here asked for. */
  async #look (): Promise<void> {
    if (this.#disposal !== undefined) return
    const loss = await this.#decide()
    this.#options.warden.close()
    if (this.#disposal === undefined) this.#lost.resolve(loss)
  }

  async #decide (): Promise<SandboxLoss> {
    const { inspect, watch, eventsHealthy } = this.#options
    const inspection = await inspect()
    // kill comes before die on the daemon's one ordered stream: once die is here, no kill is still on its way
    const informed = inspection.kind !== 'ended' || await settles(watch.ended)
    return decideLoss(inspection, watch.evidence, { eventsHealthy: informed && eventsHealthy() })
  }
}

async function settles (promise: Promise<unknown>): Promise<boolean> {
  try {
    await orAbort(promise, AbortSignal.timeout(EVENT_WAIT_MS))
    return true
  } catch {
    return false // the deadline: the event did not come
  }
}

const EVENT_WAIT_MS = 1_000
