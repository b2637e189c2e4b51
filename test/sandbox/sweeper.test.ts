import t from 'tap'
import { manualClock } from '../../src/base/clock.ts'
import type { Engine, SandboxRef } from '../../src/sandbox/engine.ts'
import { startSweeper, sweep } from '../../src/sandbox/sweeper.ts'
import { silentLogger } from '../../src/telemetry/log.ts'
import { createMetrics } from '../../src/telemetry/metrics.ts'

const ref = (name: string, node: string, boot: string): SandboxRef => ({ ref: name, sandboxId: name, node, boot })

interface Shelf { engine: Engine, left: () => string[], add: (ref: SandboxRef) => void }

function shelf (...refs: SandboxRef[]): Shelf {
  const held = new Map(refs.map(entry => [entry.ref, entry]))
  const engine: Pick<Engine, 'list' | 'remove'> = {
    list: async () => [...held.values()],
    remove: async ({ ref }) => {
      if (ref === 'stuck') throw new Error('device busy')
      held.delete(ref)
    },
  }
  return { engine: engine as Engine, left: () => [...held.keys()], add: entry => held.set(entry.ref, entry) }
}

const isAlive = (node: string, boot: string): boolean => node === 'n1' && boot === 'new'

await t.test('it removes what no living start of a node owns, and nothing else', async t => {
  const { engine, left } = shelf(ref('mine', 'n1', 'new'), ref('before', 'n1', 'old'), ref('theirs', 'n2', 'new'))
  t.same(await sweep({ engine, isAlive }), { removed: 2, failures: [] })
  t.same(left(), ['mine'])
})

await t.test('one that cannot be removed does not hold up the others', async t => {
  const { engine, left } = shelf(ref('stuck', 'n2', 'b'), ref('before', 'n1', 'old'))
  t.match(await sweep({ engine, isAlive }), { removed: 1, failures: [{ ref: { ref: 'stuck' }, error: { message: 'device busy' } }] })
  t.same(left(), ['stuck'])
})

await t.test('the sweeper sweeps at once and again after each interval, and counts', async t => {
  const { engine, left, add } = shelf(ref('before', 'n1', 'old'))
  const clock = manualClock()
  const metrics = createMetrics()
  const turn = (): Promise<void> => new Promise(resolve => setImmediate(resolve))
  const until = async (condition: () => boolean): Promise<void> => { while (!condition()) await turn() }
  const sweeper = startSweeper({ engine, isAlive, everyMs: 1_000, clock, log: silentLogger, metrics })
  await until(() => left().length === 0)
  await turn()
  add(ref('later', 'n2', 'b'))
  clock.advance(1_000)
  await until(() => left().length === 0)
  await sweeper[Symbol.asyncDispose]()
  add(ref('after', 'n2', 'b'))
  clock.advance(10_000)
  t.same(left(), ['after'], 'stopped')
  t.equal((await metrics.swept.get()).values[0]?.value, 2)
})
