import t from 'tap'
import type { SandboxSpec } from '../../../src/sandbox/engine.ts'
import { Kind, LATELY_MS, specKey } from '../../../src/sandbox/warm/kind.ts'

const spec: SandboxSpec = {
  image: { id: 'sha256:1', workdir: '/', user: '' },
  workdir: '/app',
  env: { A: '1', B: '2' },
  limits: { memoryBytes: 1, pids: 2, cpus: 3, diskBytes: 4 },
}

await t.test('the key is everything that a sandbox is made from, and nothing else', t => {
  const key = specKey(spec)
  t.equal(specKey({ ...spec, env: { B: '2', A: '1' }, image: { ...spec.image, workdir: '/other' } }), key)
  const others: SandboxSpec[] = [
    { ...spec, image: { ...spec.image, id: 'sha256:2' } },
    { ...spec, user: '1000' },
    { ...spec, workdir: '/' },
    { ...spec, env: { A: '1' } },
    { ...spec, limits: { ...spec.limits, pids: 9 } },
  ]
  t.equal(new Set([key, ...others.map(specKey)]).size, 6)
  t.end()
})

await t.test('a kind is idle when nothing waits, is announced, ready, starting or lately used', t => {
  const kind = new Kind('k', spec)
  t.ok(kind.isIdle(0))
  kind.usedAt = 0
  t.notOk(kind.isIdle(LATELY_MS - 1))
  t.ok(kind.isIdle(LATELY_MS))
  const stage = { left: 2 }
  kind.stages.add(stage)
  t.notOk(kind.isIdle(LATELY_MS))
  kind.takeStaged()
  t.equal(kind.demand(0).staged, 1)
  t.end()
})
