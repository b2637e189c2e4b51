import t, { type Test } from 'tap'
import { manualClock, type ManualClock } from '../../src/base/clock.ts'
import { defer, type Deferred } from '../../src/base/defer.ts'
import { AssayError } from '../../src/errors.ts'
import type { Engine, Image, Sandbox, SandboxLoss, SandboxSpec } from '../../src/sandbox/engine.ts'
import { createPool, type Pool, type PoolOptions } from '../../src/sandbox/pool.ts'
import { LATELY_MS } from '../../src/sandbox/warm/kind.ts'
import { silentLogger } from '../../src/telemetry/log.ts'
import { createMetrics } from '../../src/telemetry/metrics.ts'

const image: Image = { id: 'sha256:1', workdir: '/', user: '' }
const spec: SandboxSpec = { image, workdir: '/', env: {}, limits: { memoryBytes: 1, pids: 1, cpus: 1, diskBytes: 1 } }
const other: SandboxSpec = { ...spec, workdir: '/other' }

/** An engine whose creations end when the test says so. */
class ScriptedEngine implements Partial<Engine> {
  readonly creating: Array<{ spec: SandboxSpec, made: Deferred<Sandbox>, signal: AbortSignal | undefined }> = []
  readonly alive = new Map<string, Deferred<SandboxLoss>>()
  #next = 0

  create (spec: SandboxSpec, { signal }: { signal?: AbortSignal | undefined } = {}): Promise<Sandbox> {
    const made = defer<Sandbox>()
    signal?.addEventListener('abort', () => made.reject(signal.reason), { once: true })
    this.creating.push({ spec, made, signal })
    return made.promise
  }

  /** Ends the oldest creation that is under way. */
  async finish (error?: Error): Promise<string> {
    const creation = this.creating.shift()
    if (creation === undefined) throw new Error('nothing is being created')
    const id = `s${this.#next++}`
    if (error !== undefined) creation.made.reject(error)
    else creation.made.resolve(this.#sandbox(id))
    await turn()
    return id
  }

  #sandbox (id: string): Sandbox {
    const lost = defer<SandboxLoss>()
    this.alive.set(id, lost)
    const dispose = async (): Promise<void> => { this.alive.delete(id) }
    const partial: Partial<Sandbox> = { id, image, lost: lost.promise, [Symbol.asyncDispose]: dispose }
    return partial as Sandbox
  }
}

const turn = async (): Promise<void> => { await new Promise(resolve => setImmediate(resolve)) }

interface Parts { engine: ScriptedEngine, pool: Pool, clock: ManualClock }

function startPool (t: Test, options: Partial<PoolOptions> = {}): Parts {
  const engine = new ScriptedEngine()
  const clock = manualClock()
  const port = engine as unknown as Engine
  const quiet = { log: silentLogger, metrics: createMetrics() }
  const pool = createPool({ engine: port, clock, ...quiet, warmSandboxes: 0, maxStarting: 4, ...options })
  t.teardown(() => pool.close())
  return { engine, pool, clock }
}

const fault = new AssayError('ENGINE_FAULT', { message: 'broken' })

await t.test('without anything ready a sandbox is made, and destroyed once when disposed of', async t => {
  const { engine, pool } = startPool(t)
  const acquiring = pool.acquire(spec)
  const id = await engine.finish()
  const sandbox = await acquiring
  t.equal(sandbox.id, id)
  t.match(pool.stats(), { ready: 0, starting: 0, used: 1, created: 1, destroyed: 0 })
  await Promise.all([sandbox[Symbol.asyncDispose](), sandbox[Symbol.asyncDispose]()])
  t.match(pool.stats(), { used: 0, destroyed: 1 })
  t.equal(engine.alive.size, 0)
})

await t.test('staged sandboxes are handed out at once, each to one caller', async t => {
  const { engine, pool } = startPool(t)
  pool.stage(spec, 3)
  for (let i = 0; i < 3; i++) await engine.finish()
  t.match(pool.stats(), { ready: 3, starting: 0 })
  const ids = await Promise.all([1, 2, 3].map(async () => (await pool.acquire(spec)).id))
  t.equal(new Set(ids).size, 3)
  t.match(pool.stats(), { ready: 0, starting: 0, used: 3 }, 'what was taken is not staged again')
  t.equal(engine.creating.length, 0)
})

await t.test('a caller takes the first that gets ready, be it staged or its own, and callers are served in order', async t => {
  const { engine, pool } = startPool(t)
  pool.stage(spec, 1)
  const first = pool.acquire(spec)
  const second = pool.acquire(spec)
  t.equal(engine.creating.length, 2, 'the staged one counts for the first')
  const a = await engine.finish()
  const b = await engine.finish()
  t.same([(await first).id, (await second).id], [a, b])
})

await t.test('callers come before what is staged, within the limit of starts', async t => {
  const { engine, pool } = startPool(t, { maxStarting: 2 })
  pool.stage(other, 5)
  t.equal(engine.creating.length, 2)
  const acquiring = pool.acquire(spec)
  t.equal(engine.creating.length, 2)
  await engine.finish()
  t.equal(engine.creating.at(-1)?.spec, spec)
  await engine.finish()
  await engine.finish()
  t.ok(await acquiring)
})

await t.test('withdrawing a stage destroys what was not taken', async t => {
  const { engine, pool } = startPool(t)
  const stage = pool.stage(spec, 3)
  await engine.finish()
  await engine.finish()
  await pool.acquire(spec)
  stage[Symbol.dispose]()
  await engine.finish()
  t.match(pool.stats(), { ready: 0, starting: 0, used: 1 })
  t.equal(engine.alive.size, 1)
})

await t.test('a ready sandbox that is lost is replaced and never handed out', async t => {
  const { engine, pool, clock } = startPool(t)
  pool.stage(spec, 1)
  const id = await engine.finish()
  engine.alive.get(id)?.resolve({ kind: 'outside', reason: 'killed' })
  await turn()
  t.match(pool.stats(), { ready: 0, destroyed: 1 })
  const acquiring = pool.acquire(spec)
  clock.advance(1_000)
  const next = await engine.finish()
  t.equal((await acquiring).id, next)
})

await t.test('who gives up leaves its sandbox to the next', async t => {
  const { engine, pool } = startPool(t)
  const controller = new AbortController()
  const leaving = pool.acquire(spec, { signal: controller.signal })
  const staying = pool.acquire(spec)
  controller.abort(new Error('left'))
  await t.rejects(leaving, { message: 'left' })
  const id = await engine.finish()
  t.equal((await staying).id, id)
  await engine.finish()
  t.match(pool.stats(), { ready: 0, used: 1, destroyed: 1 }, 'the one too many is not kept')
})

await t.test('a hiccup is tried again; an image that keeps failing is refused with the reason and tried later', async t => {
  const { engine, pool, clock } = startPool(t, { maxStarting: 1 })
  const patient = pool.acquire(spec)
  await engine.finish(fault)
  clock.advance(200)
  const id = await engine.finish()
  t.equal((await patient).id, id)

  const doomed = pool.acquire(spec)
  const rejected = t.rejects(doomed, { code: 'ENGINE_FAULT', message: /broken/ })
  for (const pauseMs of [200, 400, 0]) {
    await engine.finish(fault)
    clock.advance(pauseMs)
  }
  await rejected
  t.equal(engine.creating.length, 0)
  await t.rejects(pool.acquire(spec), { code: 'ENGINE_FAULT', retryAfterMs: 10_000 })
  const fine = pool.acquire(other)
  await engine.finish()
  t.ok(await fine, 'other images are not held up')
  clock.advance(10_000)
  const later = pool.acquire(spec)
  await engine.finish()
  t.ok(await later)
})

await t.test('what can never succeed is said at once', async t => {
  const { engine, pool } = startPool(t)
  const acquiring = pool.acquire(spec)
  const rejected = t.rejects(acquiring, { code: 'TASK_INVALID' })
  await engine.finish(new AssayError('TASK_INVALID'))
  await rejected
})

await t.test('some are kept ready of what was used lately, and let go when it was long ago', async t => {
  const { engine, pool, clock } = startPool(t, { warmSandboxes: 1 })
  const acquiring = pool.acquire(spec)
  await engine.finish()
  await acquiring
  await engine.finish()
  t.match(pool.stats(), { ready: 1, used: 1 })
  clock.advance(LATELY_MS)
  await turn()
  t.match(pool.stats(), { ready: 0, used: 1 })
})

await t.test('closing ends waiting callers, starts, ready and used sandboxes', async t => {
  const { engine, pool } = startPool(t)
  pool.stage(spec, 1)
  await engine.finish()
  await pool.acquire(spec)
  const waiting = pool.acquire(other)
  const rejected = t.rejects(waiting, { code: 'DRAINING' })
  await pool.close()
  await rejected
  t.match(pool.stats(), { ready: 0, starting: 0, used: 0 })
  t.equal(engine.alive.size, 0)
  await t.rejects(pool.acquire(spec), { code: 'DRAINING' })
  await pool.close()
})
