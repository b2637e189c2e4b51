import t from 'tap'
import { findWarnings } from '../../../src/tasks/formats/known-keys.ts'

const keys = (toml: Record<string, unknown>) => findWarnings(toml).map(({ key }) => key)

await t.test('keys that mean something, and free metadata, pass', async t => {
  t.same(keys({
    schema_version: '1.4',
    task: { name: 'a/b', keywords: [] },
    metadata: { difficulty: 'hard', assay: {} },
    agent: { user: '1' },
    verifier: { timeout_sec: 1 },
    environment: { cpus: 1, env: { ANY: 'x' } },
  }), [])
})

await t.test('unknown and unsupported keys are named with their path', async t => {
  t.same(keys({ what: 1, artifacts: [], agent: { timeout: 1 }, environment: { gpus: 1, constructor: 1 } }), [
    'what', 'artifacts', 'agent.timeout', 'environment.gpus', 'environment.constructor',
  ])
})

await t.test('asking for what is so anyway is no warning', async t => {
  t.same(keys({ environment: { allow_internet: false, network_mode: 'no-network', os: 'linux' } }), [])
  t.same(keys({ environment: { allow_internet: true, network_mode: 'public', os: 'windows' } }), ['environment.allow_internet', 'environment.network_mode', 'environment.os'])
})
