// Settings: where they come from, and how wrong ones are told.
import t from 'tap'
import { Config, environmentName, loadConfig } from '../src/config.ts'

t.test('without anything set, every setting has its default', async t => {
  const config = loadConfig({}, {})
  t.match(config, { host: '127.0.0.1', port: 7480, engine: 'docker', keysFile: undefined, pingMs: 20_000 })
  t.ok(Object.isFrozen(config))
})

t.test('the environment sets settings, and overrides win over it', async t => {
  const env = { ASSAY_PORT: '0', ASSAY_TASKS_DIR: '/t', ASSAY_KEYS_FILE: 'k.json', PATH: '/bin', ASSAY_URL: 'ws://elsewhere' }
  t.match(loadConfig({}, env), { port: 0, tasksDir: '/t', keysFile: 'k.json' })
  t.match(loadConfig({ port: 9, tasksDir: undefined }, env), { port: 9, tasksDir: '/t' })
})

t.test('all that is wrong is told at once, by name', async t => {
  t.throws(() => loadConfig({}, { ASSAY_PORT: 'http', ASSAY_NODE: 'Node 1', ASSAY_PROT: '1' }), {
    code: 'CONFIG_INVALID', message: /ASSAY_PROT[^]*node[^]*port|node[^]*port[^]*ASSAY_PROT/,
  })
  for (const bad of [{ port: -1 }, { port: 70_000 }, { frameBytes: 0 }, { engine: 'podman' as 'docker' }]) {
    t.throws(() => loadConfig(bad, {}), { code: 'CONFIG_INVALID' }, JSON.stringify(bad))
  }
})

t.test('every setting has a default or is optional, and a sentence', async t => {
  for (const [name, schema] of Object.entries(Config.shape)) {
    t.equal(schema.safeParse(undefined).success, true, name)
    t.match(schema.description, /^[A-Z]/, name)
  }
})

t.test('a setting is called in capitals in the environment', async t => {
  t.equal(environmentName('leaseIdleMs'), 'ASSAY_LEASE_IDLE_MS')
  t.equal(environmentName('port'), 'ASSAY_PORT')
})

t.test('image aliases are pairs, and a broken pair is told', async t => {
  const { imageAliases } = loadConfig({}, { ASSAY_IMAGE_ALIASES: 'ubuntu:24.04=local/ubuntu:24.04, debian:12=d' })
  t.same([...imageAliases], [['ubuntu:24.04', 'local/ubuntu:24.04'], ['debian:12', 'd']])
  for (const bad of ['ubuntu', '=x', 'a=', 'a=b=c']) {
    t.throws(() => loadConfig({ imageAliases: bad }, {}), { code: 'CONFIG_INVALID', message: /name=local/ }, bad)
  }
})

t.test('the certificates for builds are those of the system setting, unless another file is named', async t => {
  const env = { SSL_CERT_FILE: '/system.crt' }
  t.equal(loadConfig({}, env).caBundle, '/system.crt')
  t.equal(loadConfig({}, { ...env, ASSAY_CA_BUNDLE: '/own.crt' }).caBundle, '/own.crt')
})
