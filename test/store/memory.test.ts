import t from 'tap'
import { manualClock } from '../../src/base/clock.ts'
import { createMemoryStore } from '../../src/store/memory.ts'
import { storeContract } from '../contracts/store.ts'

t.test('the memory store', t => storeContract(t, async () => {
  const clock = manualClock()
  return { store: createMemoryStore({ clock }), pass: async ms => clock.advance(ms) }
}))

const record = (id: string) => ({ version: 1, id, node: 'n1', principal: 'p', task: 'a', attempt: 0, state: 'ready', updatedAt: 1 }) as const

t.test('it is bounded: what was written longest ago goes first', async t => {
  const store = createMemoryStore({ clock: manualClock(), limit: 2 })
  for (const id of ['a', 'b']) await store.putEpisode(record(id))
  await store.putEpisode(record('a'))
  await store.putEpisode(record('c'))
  t.equal(await store.findEpisode('b'), undefined)
  t.equal((await store.findEpisode('a'))?.id, 'a')
})

t.test('records are forgotten some time after their last writing', async t => {
  const clock = manualClock()
  const store = createMemoryStore({ clock, keepMs: 100 })
  await store.putEpisode(record('a'))
  clock.advance(99)
  t.ok(await store.findEpisode('a'))
  clock.advance(1)
  t.equal(await store.findEpisode('a'), undefined)
})
