import t from 'tap'
import { manualClock } from '../../src/base/clock.ts'
import type { Episode } from '../../src/episodes/episode.ts'
import { EpisodeRegistry, Registry } from '../../src/episodes/registry.ts'

function start (keepCount = 3) {
  const clock = manualClock()
  const forgotten: string[] = []
  const onForgotten = ({ id }: { id: string }) => forgotten.push(id)
  const registry = new Registry<{ id: string }>({ clock, keepMs: 100, keepCount, onForgotten })
  return { clock, forgotten, registry }
}

t.test('live ones stay, finished ones are found for a while and then forgotten', async t => {
  const { clock, forgotten, registry } = start()
  for (const id of ['a', 'b', 'c']) registry.add({ id })
  registry.finish('a')
  registry.finish('a')
  clock.advance(60)
  registry.finish('b')
  t.same(registry.live().map(({ id }) => id), ['c'])
  t.equal(registry.size, 3)
  t.equal(registry.find('a')?.id, 'a')
  clock.advance(40)
  t.equal(registry.find('a'), undefined)
  t.same(forgotten, ['a'])
  clock.advance(60)
  t.same(forgotten, ['a', 'b'])
  clock.advance(1e6)
  t.equal(registry.find('c')?.id, 'c')
  t.equal(registry.size, 1)
})

t.test('finished ones are bounded in number, the oldest go first', async t => {
  const { forgotten, registry } = start(2)
  for (const id of ['a', 'b', 'c']) registry.add({ id })
  for (const id of ['b', 'a', 'c']) registry.finish(id)
  t.same(forgotten, ['b'])
  t.equal(registry.size, 2)
})

function episode (id: string, principal: string) {
  const calls: string[] = []
  const fake = { id, setup: { principal }, forgotten: () => calls.push('forgotten'), disconnected: (socket: string) => calls.push(socket) }
  return { calls, episode: fake as unknown as Episode }
}

t.test('episodes are counted per principal and found by requestKey until they are forgotten', async t => {
  const clock = manualClock()
  const registry = new EpisodeRegistry({ clock, keepMs: 100 })
  const one = episode('e1', 'alice')
  registry.add(one.episode, 'k')
  t.throws(() => registry.checkLimit({ name: 'alice', maxEpisodes: 1 }), { code: 'TOO_MANY_EPISODES', details: { live: 1, maxEpisodes: 1 } })
  registry.checkLimit({ name: 'bob', maxEpisodes: 1 })
  t.equal(registry.findByKey('alice', 'k'), one.episode)
  t.equal(registry.findByKey('bob', 'k'), undefined)
  registry.disconnected('ws1')
  registry.finish(one.episode)
  registry.checkLimit({ name: 'alice', maxEpisodes: 1 })
  t.equal(registry.findByKey('alice', 'k'), one.episode, 'a finished one still answers')
  registry.disconnected('ws2')
  clock.advance(100)
  t.equal(registry.findByKey('alice', 'k'), undefined)
  t.equal(registry.size, 0)
  t.same(one.calls, ['ws1', 'forgotten'])
})
