// A whole server on a free loopback port for one test: the fake engine unless the test says otherwise.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { randomBytes } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import { loadConfig, type ConfigInput } from '../../src/config.ts'
import { startServer, type AssayServer } from '../../src/server.ts'
import { silentLogger } from '../../src/telemetry/log.ts'

export const FIXTURE_TASKS = fileURLToPath(new URL('../fixtures/tasks', import.meta.url))

export interface TestServer extends AsyncDisposable {
  readonly server: AssayServer
  readonly url: string
  readonly dataDir: string
}

export async function testServer (overrides: ConfigInput = {}): Promise<TestServer> {
  const dataDir = await mkdtemp(join(tmpdir(), 'assay-test-'))
  const node = `t${randomBytes(6).toString('hex')}`
  const config = loadConfig({
    node, dataDir, port: 0, engine: 'fake', tasksDir: FIXTURE_TASKS, logLevel: 'silent', drainMs: 2_000, ...overrides,
  })
  const server = await startServer(config, { log: silentLogger })
  return {
    server,
    url: server.url,
    dataDir,
    async [Symbol.asyncDispose] () {
      await server.close()
      await rm(dataDir, { recursive: true, force: true })
    },
  }
}
