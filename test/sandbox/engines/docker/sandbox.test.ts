import t from 'tap'
import { defer } from '../../../../src/base/defer.ts'
import type { Inspection } from '../../../../src/sandbox/engines/docker/loss.ts'
import { DockerSandbox } from '../../../../src/sandbox/engines/docker/sandbox.ts'
import { ContainerWatch } from '../../../../src/sandbox/engines/docker/watch.ts'
import type { Warden } from '../../../../src/sandbox/warden/link.ts'

const turn = (): Promise<void> => new Promise(resolve => setImmediate(resolve))

function start (inspection: Inspection, { eventsHealthy = true } = {}) {
  const closed = defer<void>()
  const watch = new ContainerWatch()
  const counts = { inspected: 0, removed: 0 }
  const warden: Partial<Warden> = { closed: closed.promise, close: () => closed.resolve(), killAll: async () => {} }
  const sandbox = new DockerSandbox({
    ref: { ref: 'c1', sandboxId: 'sb_n1_x', node: 'n1', boot: 'b1' },
    image: { id: 'sha256:1', workdir: '/', user: '' },
    warden: warden as Warden,
    watch,
    inspect: async () => { counts.inspected++; return inspection },
    eventsHealthy: () => eventsHealthy,
    remove: async () => { counts.removed++ },
  })
  return { sandbox, watch, closed, counts }
}

await t.test('a stream that ends before the events tell waits for them, so that a kill is not taken for the agent', async t => {
  const { sandbox, watch, closed } = start({ kind: 'ended', exitCode: 137 })
  closed.resolve()
  await turn()
  watch.note('kill')
  watch.note('die')
  t.match(await sandbox.lost, { kind: 'outside' })
})

await t.test('an end without a kill is the doing of what runs inside', async t => {
  const { sandbox, watch } = start({ kind: 'ended', exitCode: 1 })
  watch.note('die')
  t.match(await sandbox.lost, { kind: 'inside' })
})

await t.test('without events nobody inside is blamed', async t => {
  const { sandbox, watch } = start({ kind: 'ended', exitCode: 1 }, { eventsHealthy: false })
  watch.note('die')
  t.match(await sandbox.lost, { kind: 'engine' })
})

await t.test('a disposal is not a loss, happens once, and ends all use', async t => {
  const { sandbox, counts } = start({ kind: 'gone' })
  let lost = false
  sandbox.lost.then(() => { lost = true }, () => {})
  await sandbox.killAll()
  await Promise.all([sandbox[Symbol.asyncDispose](), sandbox[Symbol.asyncDispose]()])
  await turn()
  t.notOk(lost)
  t.same(counts, { inspected: 0, removed: 1 })
  await t.rejects(sandbox.killAll(), { code: 'SANDBOX_LOST' })
})
