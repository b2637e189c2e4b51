// Image sources become images: aliases, local images, stand-ins, pulls, and builds once per content.
import { setMaxListeners } from 'node:events'
import { readFile } from 'node:fs/promises'
import { orAbort } from '../../base/deadline.ts'
import { AssayError, boundary } from '../../errors.ts'
import type { DockerClient } from '../engines/docker/client.ts'
import type { EnsureImageOptions, Image, ImageSource } from '../engine.ts'
import { hashContext, packContext, readContext, type ContextEntry } from './context.ts'
import { externalImages, rewriteDockerfile } from './dockerfile.ts'
import { follow } from './follow.ts'
import { findImage, pullImage, standInName } from './pull.ts'
import { SharedWork, type Say } from './shared.ts'

export interface ImageStoreOptions {
  client: DockerClient
  /** Name in a task → name on the engine. */
  aliases: ReadonlyMap<string, string>
  /** Path of a CA bundle that builds must trust; undefined: the images' own. */
  caBundle?: string | undefined
}

export class ImageStore {
  #options: ImageStoreOptions
  #life = new AbortController()
  #bases = new SharedWork<Base>()
  #builds = new SharedWork<Image>()

  constructor (options: ImageStoreOptions) {
    this.#options = options
    setMaxListeners(0, this.#life.signal) // one per call, each removed with it
  }

  /** Throws IMAGE_UNAVAILABLE with the reason; TASK_INVALID for a context that cannot be read. */
  async ensure (source: ImageSource, { signal, onProgress }: EnsureImageOptions = {}): Promise<Image> {
    const work = source.kind === 'name' ? this.#ensureName(source.name, onProgress) : this.#ensureBuild(source, onProgress)
    return await orAbort(work, signal)
  }

  /** Stops pulls and builds. */
  close (): void {
    this.#life.abort(new AssayError('IMAGE_UNAVAILABLE', { message: 'The engine is closed.' }))
  }

  async #ensureName (name: string, onProgress: Say | undefined): Promise<Image> {
    return (await this.#base(name, onProgress)).image
  }

  async #ensureBuild (source: ImageSource & { kind: 'build' }, onProgress: Say | undefined): Promise<Image> {
    const entries = await boundary('TASK_INVALID', `the build context ${source.directory} cannot be read`, () => readContext(source.directory))
    const dockerfile = getDockerfile(entries, source.directory)
    if (entries.some(entry => entry.path === '.dockerignore')) onProgress?.(`${source.directory}: .dockerignore is not applied, every file is in the context`)
    const ca = await this.#readCa()
    const images = new Map<string, string>()
    for (const name of externalImages(dockerfile)) {
      const base = await this.#base(name, onProgress)
      images.set(name, ca === undefined ? base.name : await this.#trust(base, ca, onProgress))
    }
    const rewritten = rewriteDockerfile(dockerfile, { images, args: ca === undefined ? {} : CA_ARGS })
    const context = entries.map(entry => entry.path === 'Dockerfile' ? { ...entry, content: Buffer.from(rewritten) } : entry)
    const ids = await Promise.all([...images.values()].map(async name => (await this.#find(name))?.id ?? ''))
    const tag = `assay/build:${hashContext(context, [source.target ?? '', ...ids])}`
    return await this.#build(tag, { context, target: source.target, what: `the build of ${source.directory}` }, onProgress)
  }

  /** An image from outside: its alias, a local image of that name, a stand-in made earlier, or a pull. */
  async #base (name: string, onProgress: Say | undefined): Promise<Base> {
    return await this.#bases.run(name, async say => {
      const wanted = this.#options.aliases.get(name) ?? name
      for (const local of [wanted, standInName(wanted)]) {
        const image = await this.#find(local)
        if (image !== undefined) return { name: local, image }
      }
      say(`pulling ${wanted}`)
      const options = { signal: this.#life.signal, onLine: pullSteps(say) }
      const pull = async (): Promise<void> => { await pullImage(this.#options.client, wanted, options) }
      await unavailable(`image ${wanted} is not on the engine and cannot be pulled; map it with imageAliases or import one of that name`, pull)
      const image = await this.#find(wanted)
      if (image === undefined) throw new AssayError('IMAGE_UNAVAILABLE', { message: `image ${wanted} was pulled but is not there` })
      return { name: wanted, image }
    }, onProgress)
  }

  /** The base with our CA bundle laid over it, so that the task's own context stays as it is. */
  async #trust (base: Base, ca: Buffer, onProgress: Say | undefined): Promise<string> {
    const dockerfile = `FROM ${base.name}\nCOPY ca.crt ${CA_PATH}\n`
    const context: ContextEntry[] = [
      { type: 'file', path: 'Dockerfile', mode: 0o644, content: Buffer.from(dockerfile) },
      { type: 'file', path: 'ca.crt', mode: 0o644, content: ca },
    ]
    const tag = `assay/ca:${hashContext(context, [base.image.id])}`
    await this.#build(tag, { context, target: undefined, what: `adding the CA bundle to ${base.name}` }, onProgress)
    return tag
  }

  async #build (tag: string, { context, target, what }: Recipe, onProgress: Say | undefined): Promise<Image> {
    return await this.#builds.run(tag, async say => {
      const found = await this.#find(tag)
      if (found !== undefined) return found
      // without a version it is the classic builder: the other one needs a session
      const options = { t: tag, rm: true, forcerm: true, ...(target === undefined ? {} : { target }) }
      await unavailable(what, () => follow(this.#options.client, what, {
        open: (docker, abortSignal) => docker.buildImage(packContext(context), { ...options, abortSignal }),
        signal: this.#life.signal,
        firstMs: 300_000,
        idleMs: 900_000,
        onLine: line => { if (/^Step \d/.test(line)) say(line) },
      }))
      const image = await this.#find(tag)
      if (image === undefined) throw new AssayError('IMAGE_UNAVAILABLE', { message: `${what} ended without an image` })
      return image
    }, onProgress)
  }

  async #find (name: string): Promise<Image | undefined> {
    return await findImage(this.#options.client, name, { signal: this.#life.signal })
  }

  async #readCa (): Promise<Buffer | undefined> {
    const { caBundle } = this.#options
    if (caBundle === undefined) return undefined
    return await boundary('CONFIG_INVALID', `the CA bundle ${caBundle} cannot be read`, () => readFile(caBundle))
  }
}

interface Base { name: string, image: Image }

interface Recipe { context: readonly ContextEntry[], target: string | undefined, what: string }

function getDockerfile (entries: readonly ContextEntry[], directory: string): string {
  const entry = entries.find(({ path }) => path === 'Dockerfile')
  if (entry?.type !== 'file') throw new AssayError('TASK_INVALID', { message: `${directory} has no Dockerfile` })
  return Buffer.from(entry.content).toString('utf8')
}

/** An engine that refuses or goes silent here means the image cannot be had; an engine that is away stays that. */
async function unavailable (what: string, fn: () => Promise<void>): Promise<void> {
  try {
    await fn()
  } catch (error) {
    if (!(error instanceof AssayError) || error.code === 'ENGINE_UNAVAILABLE') throw error
    throw new AssayError('IMAGE_UNAVAILABLE', { message: error.code === 'IMAGE_UNAVAILABLE' ? error.message : `${what}: ${error.message}`, cause: error })
  }
}

/** Layers report many times; their names and byte counts are not for people. */
function pullSteps (say: Say): Say {
  let layers = 0
  return line => {
    if (line.endsWith('Pull complete')) say(`${++layers} layers pulled`)
  }
}

const CA_PATH = '/etc/ssl/certs/ca-certificates.crt'
const CA_ARGS = { PIP_CERT: CA_PATH, SSL_CERT_FILE: CA_PATH, NODE_EXTRA_CA_CERTS: CA_PATH, REQUESTS_CA_BUNDLE: CA_PATH }
