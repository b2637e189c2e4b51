// The composition root: it serves, it closes everything that it opened, and it refuses settings that cannot be.
import t from 'tap'
import { connect } from '../clients/typescript/index.ts'
import { loadConfig } from '../src/config.ts'
import { startServer } from '../src/server.ts'
import { silentLogger } from '../src/telemetry/log.ts'
import { FIXTURE_TASKS, testServer } from './helpers/server.ts'

t.test('a server answers on its socket, its HTTP mirror and its health routes', async t => {
  await using app = await testServer()
  await using client = await connect(app.url)
  t.match(await client.info(), { protocol: 'assay.v1', engine: 'fake', operations: ['info'], limits: { inFlightPerSocket: Number } })
  const { httpUrl } = app.server
  t.match(await (await fetch(`${httpUrl}/v1/tasks.list`, { method: 'POST' })).json(), { ok: true, result: { tasks: [{ id: 'fake-answer' }] } })
  t.equal((await fetch(`${httpUrl}/healthz`)).status, 200)
  t.equal((await fetch(`${httpUrl}/readyz`)).status, 200)
  t.match(await (await fetch(`${httpUrl}/metrics`)).text(), /assay_sockets 1/)
})

t.test('closing drains: live episodes become void (drained), their clients are told, the socket ends', async t => {
  await using app = await testServer({ drainMs: 100 })
  await using client = await connect(app.url)
  const verdicts: unknown[] = []
  const events: string[] = []
  client.onEvent(event => {
    events.push(event.event)
    if (event.event === 'verdict') verdicts.push(event.verdict)
  })
  await client.reset({ task: 'fake-answer', requestKey: 'k' })
  await app.server.close()
  t.match(verdicts, [{ outcome: 'void', reward: null, reason: 'drained' }])
  t.same(events.filter(event => event === 'goaway'), ['goaway'])
  await client.closed
  t.match(app.server.pool.stats(), { ready: 0, starting: 0, used: 0 })
})

t.test('without keys it listens on loopback only', async t => {
  const config = loadConfig({ engine: 'fake', host: '0.0.0.0', port: 0, tasksDir: FIXTURE_TASKS, dataDir: t.testdir({}) })
  await t.rejects(startServer(config, { log: silentLogger }), { code: 'CONFIG_INVALID', message: /ASSAY_KEYS_FILE/ })
})

t.test('a Docker engine that does not answer is said at the start', async t => {
  const dataDir = t.testdir({})
  const config = loadConfig({ engine: 'docker', dockerHost: `unix://${dataDir}/none.sock`, port: 0, tasksDir: FIXTURE_TASKS, dataDir: '.assay' })
  await t.rejects(startServer(config, { log: silentLogger }), { code: 'ENGINE_UNAVAILABLE' })
})
