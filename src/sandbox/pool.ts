// Keeps sandboxes ready per spec and hands each out once. Acts out warm/plan.ts; knows nothing of tasks or episodes.
import { setMaxListeners } from 'node:events'
import type { Clock } from '../base/clock.ts'
import { orAbort } from '../base/deadline.ts'
import { defer } from '../base/defer.ts'
import { AssayError, isAssayError } from '../errors.ts'
import type { Logger } from '../telemetry/log.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import type { Engine, Sandbox, SandboxSpec, WaitOptions } from './engine.ts'
import { Kind, LATELY_MS, specKey, type Waiter } from './warm/kind.ts'
import { planWarm } from './warm/plan.ts'

export interface Pool {
  readonly engine: Engine
  /** A ready sandbox that nobody has used: a warm one when there is one, else a new one. The caller disposes it. */
  acquire (spec: SandboxSpec, options?: WaitOptions): Promise<Sandbox>
  /** Asks that count more sandboxes of this spec be made ready ahead of use; the returned handle withdraws what was not taken. */
  stage (spec: SandboxSpec, count: number): Disposable
  stats (): PoolStats
  close (): Promise<void>
}

export interface PoolStats {
  ready: number
  starting: number
  /** Handed out and not yet disposed. */
  used: number
  created: number
  destroyed: number
}

export interface PoolOptions {
  engine: Engine
  clock: Clock
  log: Logger
  metrics: Metrics
  /** Ready sandboxes kept per spec that was used lately, beyond those staged. */
  warmSandboxes: number
  /** Starts in flight at once. */
  maxStarting: number
}

export function createPool (options: PoolOptions): Pool {
  return new WarmPool(options)
}

class WarmPool implements Pool {
  readonly engine: Engine
  #options: PoolOptions
  /** Bounded: a kind goes as soon as nothing waits, is staged, ready or starting and it was not used lately. */
  #kinds = new Map<string, Kind>()
  #used = new Set<Sandbox>()
  #work = new Set<Promise<unknown>>()
  #life = new AbortController()
  #created = 0
  #destroyed = 0

  constructor (options: PoolOptions) {
    this.#options = options
    this.engine = options.engine
    setMaxListeners(0, this.#life.signal) // one per start, each removed with it
  }

  async acquire (spec: SandboxSpec, { signal }: WaitOptions = {}): Promise<Sandbox> {
    this.#life.signal.throwIfAborted()
    signal?.throwIfAborted()
    const kind = this.#kind(spec)
    const refusal = kind.ready.size === 0 ? kind.quarantine.refusal(this.#now()) : undefined
    if (refusal !== undefined) throw refusal
    kind.usedAt = this.#now()
    this.#expireLater()
    kind.takeStaged()
    const [ready] = kind.takeReady(1)
    if (ready !== undefined) {
      this.#replan()
      return this.#handOut(ready)
    }
    return this.#handOut(await this.#wait(kind, signal))
  }

  stage (spec: SandboxSpec, count: number): Disposable {
    this.#life.signal.throwIfAborted()
    const kind = this.#kind(spec)
    const stage = { left: count }
    kind.stages.add(stage)
    this.#replan()
    return {
      [Symbol.dispose]: () => {
        kind.stages.delete(stage)
        this.#replan()
      },
    }
  }

  stats (): PoolStats {
    const kinds = [...this.#kinds.values()]
    return {
      ready: kinds.reduce((sum, kind) => sum + kind.ready.size, 0),
      starting: kinds.reduce((sum, kind) => sum + kind.starting, 0),
      used: this.#used.size,
      created: this.#created,
      destroyed: this.#destroyed,
    }
  }

  async close (): Promise<void> {
    this.#life.abort(new AssayError('DRAINING', { message: 'The pool is closed and makes no more sandboxes.' }))
    for (const kind of this.#kinds.values()) {
      kind.rejectWaiters(this.#life.signal.reason)
      kind.stages.clear()
      for (const sandbox of kind.takeReady(Infinity)) this.#destroy(sandbox)
    }
    await Promise.all([...this.#used].map(sandbox => sandbox[Symbol.asyncDispose]()))
    while (this.#work.size > 0) await Promise.allSettled(this.#work)
    this.#measure()
  }

  async #wait (kind: Kind, signal: AbortSignal | undefined): Promise<Sandbox> {
    const waiter: Waiter = { since: this.#now(), sandbox: defer<Sandbox>() }
    kind.waiters.push(waiter)
    this.#replan()
    try {
      return await orAbort(waiter.sandbox.promise, signal)
    } catch (error) {
      const at = kind.waiters.indexOf(waiter)
      if (at !== -1) kind.waiters.splice(at, 1)
      // given in the same turn in which the caller left: nobody has used it
      else waiter.sandbox.promise.then(sandbox => this.#give(kind, sandbox), () => {})
      this.#replan()
      throw error
    }
  }

  /** To the caller that waits longest, else onto the shelf. */
  #give (kind: Kind, sandbox: Sandbox): void {
    if (this.#life.signal.aborted) return this.#destroy(sandbox)
    const waiter = kind.waiters.shift()
    if (waiter !== undefined) return waiter.sandbox.resolve(sandbox)
    kind.ready.add(sandbox)
    const wave = kind.quarantine.wave
    sandbox.lost.then(({ reason }) => {
      if (!kind.ready.delete(sandbox)) return
      this.#destroy(sandbox)
      this.#failed(kind, new AssayError('ENGINE_FAULT', { message: `a ready sandbox was lost: ${reason}` }), wave)
    }, () => {}) // it never rejects
  }

  #handOut (sandbox: Sandbox): Sandbox {
    const handed = onDispose(sandbox, async () => {
      this.#used.delete(handed)
      this.#destroyed++
      this.#measure()
      await sandbox[Symbol.asyncDispose]()
    })
    this.#used.add(handed)
    this.#measure()
    return handed
  }

  /** Does what the plan says, in the background. */
  #replan (): void {
    if (this.#life.signal.aborted) return
    const demands = [...this.#kinds.values()].map(kind => kind.demand(this.#now()))
    const plan = planWarm(demands, this.#options)
    for (const key of plan.start) this.#start(this.#kinds.get(key))
    for (const { key, count } of plan.surplus) {
      for (const sandbox of this.#kinds.get(key)?.takeReady(count) ?? []) this.#destroy(sandbox)
    }
    for (const kind of this.#kinds.values()) if (kind.isIdle(this.#now())) this.#kinds.delete(kind.key)
    this.#measure()
  }

  #start (kind: Kind | undefined): void {
    if (kind === undefined) return
    const { clock, metrics } = this.#options
    const wave = kind.quarantine.wave
    const startedAt = clock.monotonic()
    kind.starting++
    this.#track(this.engine.create(kind.spec, { signal: this.#life.signal }).then(sandbox => {
      kind.starting--
      this.#created++
      metrics.createSeconds.observe((clock.monotonic() - startedAt) / 1000)
      kind.quarantine.succeeded()
      this.#give(kind, sandbox)
      this.#replan()
    }, (error: unknown) => {
      kind.starting--
      if (!this.#life.signal.aborted) this.#failed(kind, error, wave)
    }))
  }

  #failed (kind: Kind, error: unknown, wave: number): void {
    const { clock, log } = this.#options
    const pauseMs = kind.quarantine.failed(error, { wave, nowMs: this.#now() })
    log.warn({ image: kind.spec.image.id, error, pauseMs }, 'sandbox not started')
    if (!isAssayError(error) || error.info.retry === 'never') kind.rejectWaiters(error)
    const refusal = kind.quarantine.refusal(this.#now())
    if (refusal !== undefined) kind.rejectWaiters(refusal)
    clock.after(pauseMs, () => this.#replan())
    this.#replan()
  }

  #destroy (sandbox: Sandbox): void {
    this.#destroyed++
    this.#track(sandbox[Symbol.asyncDispose]())
  }

  #track (work: PromiseLike<unknown>): void {
    const tracked = Promise.resolve(work).catch((error: unknown) => {
      this.#options.log.error({ error }, 'pool work failed')
    }).finally(() => this.#work.delete(tracked))
    this.#work.add(tracked)
  }

  #kind (spec: SandboxSpec): Kind {
    const key = specKey(spec)
    let kind = this.#kinds.get(key)
    if (kind === undefined) {
      kind = new Kind(key, spec)
      this.#kinds.set(key, kind)
    }
    return kind
  }

  #expireLater (): void {
    if (this.#options.warmSandboxes > 0) this.#options.clock.after(LATELY_MS, () => this.#replan())
  }

  #measure (): void {
    const { ready, starting, used } = this.stats()
    const { sandboxes } = this.#options.metrics
    for (const [state, count] of Object.entries({ ready, starting, used })) sandboxes.set({ state }, count)
  }

  #now (): number {
    return this.#options.clock.monotonic()
  }
}

/** The sandbox with another way to end it, which runs once. */
function onDispose (sandbox: Sandbox, dispose: () => Promise<void>): Sandbox {
  let disposal: Promise<void> | undefined
  return {
    id: sandbox.id,
    ref: sandbox.ref,
    image: sandbox.image,
    lost: sandbox.lost,
    run: (command, options) => sandbox.run(command, options),
    put: (root, entries, options) => sandbox.put(root, entries, options),
    get: (root, paths, options) => sandbox.get(root, paths, options),
    manifest: (root, options) => sandbox.manifest(root, options),
    killAll: options => sandbox.killAll(options),
    [Symbol.asyncDispose]: async () => {
      disposal ??= dispose()
      await disposal
    },
  }
}
