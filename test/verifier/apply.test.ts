import t from 'tap'
import { applyDelta } from '../../src/verifier/apply.ts'
import { answer, cliTask, scriptedSandbox, spec } from './scripted.ts'

const file = (path: string) => ({ type: 'file', path, mode: 0o644, content: new Uint8Array() }) as const

await t.test('deletions come first and protected paths stay as they are', async t => {
  const sandbox = scriptedSandbox(answer, spec)
  const delta = { entries: [file('a'), file('tests/t')], deleted: ['z/y', 'z', 'tests/u'] }
  await applyDelta(sandbox, { task: cliTask({ protected: ['tests/**'] }), spec, delta, seed: 1 }, {})
  t.same(sandbox.puts.map(({ root, entries }) => [root, ...entries.map(({ type, path }) => `${type} ${path}`)]), [
    ['/app', 'absent z/y', 'absent z', 'file a'],
  ])
})

await t.test('an empty delta touches nothing', async t => {
  const sandbox = scriptedSandbox(answer, spec)
  await applyDelta(sandbox, { task: cliTask(), spec, delta: { entries: [], deleted: [] }, seed: 1 }, {})
  t.same(sandbox.log, [])
})
