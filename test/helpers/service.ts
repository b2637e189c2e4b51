// A local service over the fake engine, with time in the test's hands, and callers that speak to it as a transport would.
import { setMaxListeners } from 'node:events'
import { manualClock, type ManualClock } from '../../src/base/clock.ts'
import { systemRandom } from '../../src/base/ids.ts'
import { loadConfig, type Config } from '../../src/config.ts'
import { OPERATIONS, type OperationName, type Params, type ParamsInput, type Result, type ServerEvent } from '../../src/protocol/index.ts'
import type { FakeEngine, FakeEngineOptions } from '../../src/sandbox/engines/fake.ts'
import type { Pool } from '../../src/sandbox/pool.ts'
import { createLocalService } from '../../src/service/local.ts'
import type { Connection, Principal, Service } from '../../src/service/service.ts'
import { createMemoryStore } from '../../src/store/memory.ts'
import type { Store } from '../../src/store/store.ts'
import { createCatalogue } from '../../src/tasks/catalogue.ts'
import type { Task } from '../../src/tasks/task.ts'
import { noJournal, type Journal } from '../../src/telemetry/journal.ts'
import { silentLogger, type Logger } from '../../src/telemetry/log.ts'
import { createMetrics, type Metrics } from '../../src/telemetry/metrics.ts'
import type { Verifier } from '../../src/verifier/verifier.ts'
import { createScriptedVerifier, makeEngine, makePool, makeTask, until, type ScriptedVerifier } from './fake.ts'

export interface ServiceOptions {
  config?: Partial<Config>
  tasks?: readonly Task[]
  /** Digests that passed the admission gate. */
  admitted?: readonly string[]
  engine?: Partial<FakeEngineOptions>
  log?: Logger
  journal?: Journal
  /** Default: a scripted one. */
  verifier?: (pool: Pool) => Verifier
}

/** One caller: a principal, and a socket unless it speaks HTTP. */
export interface Caller {
  readonly events: ServerEvent[]
  readonly connection: Connection | undefined
  call<O extends OperationName> (op: O, params: ParamsInput<O>, options?: { signal?: AbortSignal }): Promise<Result<O>>
  /** The socket is gone. */
  leave (): void
}

export interface ServiceUnderTest extends AsyncDisposable {
  readonly service: Service
  readonly clock: ManualClock
  readonly engine: FakeEngine
  readonly pool: Pool
  readonly verifier: ScriptedVerifier
  readonly store: Store
  readonly metrics: Metrics
  connect (principal?: Partial<Principal>, options?: { http?: boolean }): Caller
  /** Throws unless every sandbox, place and member is accounted for and nothing is in use. */
  settled (): Promise<void>
}

export const ADMIN: Principal = {
  name: 'admin',
  scopes: ['admin'],
  classes: ['eval', 'train', 'load'],
  splits: ['train', 'val'],
  maxEpisodes: 4096,
}

export async function startService (options: ServiceOptions = {}): Promise<ServiceUnderTest> {
  const clock = manualClock()
  const engine = makeEngine(options.engine)
  const pool = makePool(engine)
  const scripted = createScriptedVerifier()
  const metrics = createMetrics()
  const store = createMemoryStore({ clock })
  const tasks = options.tasks ?? [makeTask(), makeTask({ id: 'hidden', split: 'val' })]
  const admissions = (options.admitted ?? []).map(digest => ({ task: 'any', digest, admittedAt: '2026-01-01T00:00:00Z' }))
  const service = createLocalService({
    config: { ...loadConfig({}, {}), ...options.config },
    version: '0.0.0-test',
    engine,
    capacity: await engine.capacity(),
    pool,
    catalogue: createCatalogue({ tasks, admissions }),
    verifier: options.verifier?.(pool) ?? scripted,
    store,
    journal: options.journal ?? noJournal,
    clock,
    random: systemRandom,
    metrics,
    log: options.log ?? silentLogger,
  })
  let sockets = 0
  const alive = setInterval(() => {}, 60_000) // our own timers keep no process alive, and a test has no server that does
  return {
    service,
    clock,
    engine,
    pool,
    verifier: scripted,
    store,
    metrics,
    connect: (principal, { http = false } = {}) =>
      createCaller(service, {
        principal: { ...ADMIN, ...principal },
        socket: http ? undefined : `ws${++sockets}`,
        log: options.log ?? silentLogger,
      }),
    settled: async () => await until(() => pool.stats().used === 0, `no sandbox in use (${JSON.stringify(pool.stats())})`),
    async [Symbol.asyncDispose] () {
      await service.drain({ signal: AbortSignal.abort(new Error('the test is over')) })
      await pool.close()
      await engine.close()
      clearInterval(alive)
    },
  }
}

interface CallerFacts { principal: Principal, socket: string | undefined, log: Logger }

function createCaller (service: Service, { principal, socket, log }: CallerFacts): Caller {
  const events: ServerEvent[] = []
  const gone = new AbortController()
  setMaxListeners(0, gone.signal) // one per request in flight
  const emit = (event: ServerEvent): void => { events.push(event) }
  const connection = socket === undefined ? undefined : { id: socket, emit }
  return {
    events,
    connection,
    async call (op, params, { signal = gone.signal } = {}) {
      const parsed = OPERATIONS[op].params.parse(params) as Params<typeof op>
      return await service.call(op, parsed, { principal, log, connection, requestId: 'r1', signal })
    },
    leave () {
      gone.abort(new Error('the caller left'))
      if (connection !== undefined) service.disconnected(connection)
    },
  }
}

/** The value of a gauge or counter under these labels; 0 when it was never set. */
export async function metric (metrics: Metrics, name: string, labels: Record<string, string> = {}): Promise<number> {
  const found = await metrics.registry.getSingleMetric(name)?.get()
  const value = found?.values.find(one => {
    const given: Record<string, unknown> = one.labels
    return Object.entries(labels).every(([key, wanted]) => given[key] === wanted)
  })
  return value?.value ?? 0
}
