import t from 'tap'
import { AssayFacts, TaskToml } from '../../../src/tasks/formats/schema.ts'

const facts = { title: 'T', kind: 'driver', interface: 'cli', language: 'c', domain: 'd', split: 'val', command: 'run' }

await t.test('only what decides about a task must be given', async t => {
  t.match(AssayFacts.parse(facts), { mode: 'fresh', pids: 256, step_timeout_sec: 60, build_timeout_sec: 120, case_timeout_sec: 10, protected: [] })
  for (const key of Object.keys(facts)) t.notOk(AssayFacts.safeParse({ ...facts, [key]: undefined }).success, key)
})

await t.test('the source of an adapted task is complete or absent', async t => {
  const source = { name: 'p', version: '1', licence: 'MIT', sha256: 'a'.repeat(64) }
  t.ok(AssayFacts.safeParse({ ...facts, source }).success)
  for (const key of Object.keys(source)) {
    t.notOk(AssayFacts.safeParse({ ...facts, source: { ...source, [key]: undefined } }).success, key)
  }
  t.notOk(AssayFacts.safeParse({ ...facts, source: { ...source, sha256: 'A'.repeat(64) } }).success)
})

await t.test('values that no sandbox could have are refused', async t => {
  const wrong = [
    { user: 'root' }, { user: '-1' }, { pids: 1 }, { case_timeout_sec: 0 }, { case_timeout_sec: 1e6 }, { command: '' }, { command: 'a\0b' },
    { id: 'Upper' }, { reference_target: 'r' }, { reference_target: 'r', reference_path: 'relative' }, { reference_ms: 1001 },
    { build_timeout_sec: 1, reference_ms: 500 }, { mode: 'shared' }, { nonsense: 1 },
  ]
  for (const change of wrong) t.notOk(AssayFacts.safeParse({ ...facts, ...change }).success, JSON.stringify(change))
  t.ok(AssayFacts.safeParse({ ...facts, reference_ms: 1000 }).success, 'exactly ten times is enough')
})

await t.test('the tables of Harbor may be missing and may hold keys of others', async t => {
  t.match(TaskToml.parse({ metadata: { assay: facts, author_name: 'x' }, custom: {} }), {
    verifier: { timeout_sec: 600 },
    environment: { cpus: 1, memory_mb: 512, storage_mb: 1024, env: {} },
  })
  for (const environment of [{ memory_mb: 1.5 }, { cpus: 0 }, { workdir: 'app' }, { docker_image: '' }, { env: { 'A-B': 'x' } }, { env: { A: 'x\0' } }]) {
    t.notOk(TaskToml.safeParse({ metadata: { assay: facts }, environment }).success, JSON.stringify(environment))
  }
})
