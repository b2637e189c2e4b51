// The composition root: builds everything from a Config and closes it in the opposite order. Decides nothing itself.
import { readFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { pino } from 'pino'
import { createBootId, findBootState } from './base/boot.ts'
import { systemClock } from './base/clock.ts'
import { systemRandom } from './base/ids.ts'
import { Scope } from './base/scope.ts'
import { Semaphore } from './base/semaphore.ts'
import { ensureWarden } from './cli/setup/warden.ts'
import type { Config } from './config.ts'
import { createDockerEngine } from './sandbox/engines/docker.ts'
import { createFakeEngine } from './sandbox/engines/fake.ts'
import type { Engine } from './sandbox/engine.ts'
import { createPool, type Pool } from './sandbox/pool.ts'
import { startSweeper } from './sandbox/sweeper.ts'
import { createLocalService } from './service/local.ts'
import type { Service } from './service/service.ts'
import { createMemoryStore } from './store/memory.ts'
import { loadCatalogue } from './tasks/catalogue.ts'
import { createFileJournal } from './telemetry/journal.ts'
import type { Logger } from './telemetry/log.ts'
import { createMetrics, type Metrics } from './telemetry/metrics.ts'
import { loadKeyring } from './transport/keys.ts'
import { createTransport } from './transport/transport.ts'
import { createVerifier } from './verifier/driver.ts'

export interface AssayServer extends AsyncDisposable {
  /** ws://host:port/v1/ws */
  readonly url: string
  readonly httpUrl: string
  readonly service: Service
  readonly engine: Engine
  readonly pool: Pool
  readonly metrics: Metrics
  /** Drains for at most config.drainMs, then ends everything that this server made. Idempotent. */
  close (): Promise<void>
}

export interface ServerOptions {
  /** Default: pino to stdout at config.logLevel. */
  log?: Logger | undefined
}

interface EngineParts {
  config: Config
  boot: string
  log: Logger
}

/** Engines by their name in the settings. */
const ENGINES = {
  async docker ({ config, boot, log }: EngineParts): Promise<Engine> {
    const wardenPath = await ensureWarden({ dataDir: config.dataDir, say: line => log.info({ line }, 'warden') })
    const { node, dockerHost, caBundle, imageAliases } = config
    return createDockerEngine({ dockerHost, node, boot, wardenPath, imageAliases, caBundle, log, clock: systemClock })
  },
  async fake ({ config, boot }: EngineParts): Promise<Engine> {
    return createFakeEngine({ node: config.node, boot, clock: systemClock })
  },
} as const satisfies Record<Config['engine'], (parts: EngineParts) => Promise<Engine>>

/** Serves once it resolves. Throws CONFIG_INVALID or ENGINE_UNAVAILABLE and leaves nothing behind when it does. */
export async function startServer (config: Config, options: ServerOptions = {}): Promise<AssayServer> {
  const { log = createLogger(config) } = options
  const scope = new Scope()
  try {
    return await compose(config, scope, log)
  } catch (error) {
    await scope.close()
    throw error
  }
}

async function compose (config: Config, scope: Scope, log: Logger): Promise<AssayServer> {
  const clock = systemClock
  const random = systemRandom
  const boot = createBootId()
  const metrics = createMetrics({ processMetrics: true })
  const keys = await loadKeyring(config, clock)
  const catalogue = await loadCatalogue(config.tasksDir, { log })
  const store = createMemoryStore({ clock })
  await scope.defer(() => store.close())
  const journal = await scope.add(createFileJournal({ directory: join(config.dataDir, 'journal'), clock, log, metrics }))
  const engine = await ENGINES[config.engine]({ config, boot, log })
  await scope.defer(() => engine.close())
  const capacity = await engine.capacity()
  const isAlive = (_node: string, owner: string): boolean => findBootState(owner) !== 'ended'
  await scope.add(startSweeper({ engine, isAlive, everyMs: SWEEP_MS, clock, log, metrics }))
  const { warmSandboxes } = config
  const pool = createPool({ engine, clock, log, metrics, warmSandboxes, maxStarting: STARTING_PER_CPU * capacity.cpus })
  await scope.defer(() => pool.close())
  const places = new Semaphore(config.verifierPlaces)
  const verifier = createVerifier({ pool, places, stopAtFailure: config.verifierStopsAtFailure, clock, log, metrics })
  const service = createLocalService({
    config, version: VERSION, engine, capacity, pool, catalogue, verifier, store, journal, clock, random, metrics, log,
  })
  const transport = createTransport({ config, service, keys, metrics, log, clock, random })
  await scope.defer(() => transport.close())
  await transport.listen({ host: config.host, port: config.port })
  const address = describeAddress(transport.server.address() as AddressInfo)
  log.info({ address, node: config.node, boot, engine: engine.name, tasks: catalogue.list().length, keyless: keys.keyless }, 'serving')
  return {
    url: `ws://${address}/v1/ws`,
    httpUrl: `http://${address}`,
    service,
    engine,
    pool,
    metrics,
    close: () => scope.close(),
    [Symbol.asyncDispose]: () => scope.close(),
  }
}

function createLogger ({ logLevel }: Config): Logger {
  return pino({ level: logLevel })
}

function describeAddress ({ address, family, port }: AddressInfo): string {
  return family === 'IPv6' ? `[${address}]:${port}` : `${address}:${port}`
}

const { version: VERSION } = JSON.parse(readFileSync(findPackage(), 'utf8')) as { version: string }

// src/ runs in a clone, dist/src/ in an installed package
function findPackage (): string {
  const here = import.meta.dirname
  return join(here, here.endsWith(join('dist', 'src')) ? '../..' : '..', 'package.json')
}

const SWEEP_MS = 30_000
const STARTING_PER_CPU = 4
