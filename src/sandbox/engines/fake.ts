// An engine without containers: a file system in memory and a tiny interpreter. Measures and tests everything above sandboxes;
// isolates nothing, so its verdicts are never trainable.
import { createHash } from 'node:crypto'
import { systemClock, type Clock } from '../../base/clock.ts'
import { systemRandom, type Random } from '../../base/ids.ts'
import { AssayError } from '../../errors.ts'
import type { Engine, Image, Sandbox, SandboxLoss, SandboxSpec } from '../engine.ts'
import type { FileEntry } from '../files.ts'
import { FakeFiles } from './fake-files.ts'
import { FakeSandbox, type FakeScript } from './fake-sandbox.ts'

export interface FakeFaults {
  /** Probability that a create fails. */
  create?: number
  /** Probability, per command, that the sandbox is lost instead. */
  loss?: number
  /** Who is to blame for such a loss; default the engine. */
  lossKind?: SandboxLoss['kind']
  /** For the same faults again; default 1. */
  seed?: number
}

export interface FakeEngineOptions {
  node: string
  boot: string
  /** Answers a command before the interpreter does; undefined leaves it to the interpreter. */
  script?: FakeScript | undefined
  /** Milliseconds that creating a sandbox takes. */
  latencyMs?: number | undefined
  faults?: FakeFaults | undefined
  /** What every image holds in its workdir. */
  files?: readonly FileEntry[] | undefined
  memoryBytes?: number | undefined
  clock?: Clock | undefined
  random?: Random | undefined
}

export interface FakeEngine extends Engine {
  /** Ends every sandbox from outside, as a daemon that dies would. */
  loseAll (loss: SandboxLoss): void
  /** Sandboxes that live. */
  readonly size: number
}

export function createFakeEngine (options: FakeEngineOptions): FakeEngine {
  const { node, boot, script, latencyMs = 0, faults = {}, files = [], memoryBytes = 16 * 1024 ** 3 } = options
  const { clock = systemClock, random = systemRandom } = options
  const live = new Map<string, FakeSandbox>()
  const dice = createDice(faults.seed ?? 1)
  let isClosed = false
  let count = 0

  async function create (spec: SandboxSpec, signal: AbortSignal | undefined): Promise<Sandbox> {
    signal?.throwIfAborted()
    if (isClosed) throw new AssayError('ENGINE_UNAVAILABLE', { message: 'The engine is closed.' })
    if (latencyMs > 0) await pause(latencyMs, clock, signal)
    if (dice() < (faults.create ?? 0)) throw new AssayError('ENGINE_FAULT', { message: 'An injected fault: the sandbox was not created.' })
    const sandboxId = `sb_${node}_${(++count).toString(36)}${Buffer.from(random(6)).toString('hex')}`
    const sandbox = new FakeSandbox({
      ref: { ref: sandboxId, sandboxId, node, boot },
      spec,
      files: new FakeFiles([spec.workdir, '/tmp'], { root: spec.workdir, entries: files }),
      script,
      clock,
      fails: () => dice() < (faults.loss ?? 0) ? { kind: faults.lossKind ?? 'engine', reason: 'an injected fault' } : undefined,
      onGone: () => live.delete(sandboxId),
    })
    live.set(sandboxId, sandbox)
    return sandbox
  }

  return {
    name: 'fake',
    isolation: 'none',
    get size () { return live.size },
    async ensureImage (source): Promise<Image> {
      const name = source.kind === 'name' ? source.name : `${source.directory}#${source.target ?? ''}`
      return { id: `sha256:${createHash('sha256').update(name).digest('hex')}`, workdir: '/desk', user: '' }
    },
    create: async (spec, { signal } = {}) => await create(spec, signal),
    list: async () => [...live.values()].map(({ ref }) => ref),
    remove: async ({ sandboxId }) => { live.get(sandboxId)?.lose({ kind: 'outside', reason: 'it was removed by force' }) },
    capacity: async () => ({ memoryBytes, cpus: 1 }),
    health: () => isClosed ? { ok: false, reason: 'closed' } : { ok: true },
    async close () {
      isClosed = true
      await Promise.all([...live.values()].map(async sandbox => await sandbox[Symbol.asyncDispose]()))
    },
    loseAll (loss) {
      for (const sandbox of [...live.values()]) sandbox.lose(loss)
    },
  }
}

async function pause (ms: number, clock: Clock, signal: AbortSignal | undefined): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const onAbort = (): void => {
      cancel()
      reject(signal?.reason)
    }
    const cancel = clock.after(ms, () => {
      signal?.removeEventListener('abort', onAbort)
      resolve()
    })
    signal?.addEventListener('abort', onAbort, { once: true })
  })
}

// mulberry32: small and repeatable, which is all that injected faults need
function createDice (seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
