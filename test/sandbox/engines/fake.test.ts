import t from 'tap'
import { isAssayError } from '../../../src/errors.ts'
import type { Command } from '../../../src/sandbox/command.ts'
import { createFakeEngine, type FakeEngineOptions } from '../../../src/sandbox/engines/fake.ts'
import { makeSpec } from '../../helpers/fake.ts'

const engineOf = (options: Partial<FakeEngineOptions> = {}) => createFakeEngine({ node: 'n1', boot: 'b1', ...options })
const command = (script: string): Command => ({ script, timeoutMs: 5000, outputBytes: 1000 })

t.test('it says of itself that it isolates nothing', async t => {
  const engine = engineOf({ memoryBytes: 123 })
  t.same([engine.name, engine.isolation, engine.health()], ['fake', 'none', { ok: true }])
  t.match(await engine.capacity(), { memoryBytes: 123 })
})

t.test('an image has an id of its content\'s name', async t => {
  const engine = engineOf()
  const a = await engine.ensureImage({ kind: 'name', name: 'a' })
  t.match(a.id, /^sha256:[0-9a-f]{64}$/)
  t.same(await engine.ensureImage({ kind: 'name', name: 'a' }), a)
  t.not((await engine.ensureImage({ kind: 'name', name: 'b' })).id, a.id)
  t.not((await engine.ensureImage({ kind: 'build', directory: 'd' })).id, (await engine.ensureImage({ kind: 'build', directory: 'd', target: 'x' })).id)
})

t.test('sandboxes are listed until they are gone, each with files of its own', async t => {
  const engine = engineOf({ files: [{ type: 'file', path: 'start', mode: 0o644, content: Buffer.from('s') }] })
  const [a, b] = [await engine.create(makeSpec()), await engine.create(makeSpec())]
  t.same((await engine.list()).map(({ sandboxId, node, boot }) => [sandboxId, node, boot]), [[a.id, 'n1', 'b1'], [b.id, 'n1', 'b1']])
  await a.run(command('write start changed'))
  t.equal(Buffer.from((await b.run(command('cat start'))).stdout.bytes).toString(), 's')
  await a[Symbol.asyncDispose]()
  await a[Symbol.asyncDispose]()
  t.equal(engine.size, 1)
  await engine.remove(b.ref)
  await engine.remove(b.ref)
  t.match(await b.lost, { kind: 'outside' })
  t.same(await engine.list(), [])
})

t.test('creating takes its time and can be given up', async t => {
  const alive = setTimeout(() => {}, 60_000)
  t.teardown(() => clearTimeout(alive))
  const engine = engineOf({ latencyMs: 20 })
  const start = performance.now()
  await engine.create(makeSpec())
  t.ok(performance.now() - start >= 19)
  const stop = new AbortController()
  const refused = t.rejects(engine.create(makeSpec(), { signal: stop.signal }), /enough/)
  stop.abort(new Error('enough'))
  await refused
  t.equal(engine.size, 1)
})

t.test('faults come at their rate, and again at the same places for the same seed', async t => {
  const outcomes = async (seed: number): Promise<string> => {
    const engine = engineOf({ faults: { create: 0.3, loss: 0.3, seed } })
    let made = ''
    for (let i = 0; i < 200; i++) {
      try {
        const sandbox = await engine.create(makeSpec())
        await sandbox.run(command('true'))
        made += '.'
      } catch (error) {
        made += isAssayError(error, 'ENGINE_FAULT') ? 'c' : isAssayError(error, 'SANDBOX_LOST') ? 'l' : '?'
      }
    }
    return made
  }
  const first = await outcomes(1)
  t.equal(await outcomes(1), first)
  t.not(await outcomes(2), first)
  t.notMatch(first, /\?/)
  for (const [fault, least, most] of [['c', 40, 80], ['l', 20, 60]] as const) {
    const count = first.split(fault).length - 1
    t.ok(count > least && count < most, `${count} of ${fault}`)
  }
})

t.test('a daemon that dies takes every sandbox along, a closed engine makes none', async t => {
  const engine = engineOf({ faults: { lossKind: 'engine' } })
  const sandbox = await engine.create(makeSpec())
  engine.loseAll({ kind: 'engine', reason: 'gone' })
  t.match(await sandbox.lost, { kind: 'engine', reason: 'gone' })
  await engine.create(makeSpec())
  await engine.close()
  t.equal(engine.size, 0)
  t.match(engine.health(), { ok: false })
  await t.rejects(engine.create(makeSpec()), { code: 'ENGINE_UNAVAILABLE' })
})

t.test('it is cheap: thousands of commands a second', async t => {
  const sandbox = await engineOf().create(makeSpec())
  const start = performance.now()
  for (let i = 0; i < 5000; i++) await sandbox.run(command('true'))
  const perSecond = 5000 / ((performance.now() - start) / 1000)
  t.ok(perSecond > 2000, `${Math.round(perSecond)} a second`)
})
