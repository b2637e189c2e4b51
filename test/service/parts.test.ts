import t from 'tap'
import { refusal, until } from '../helpers/fake.ts'
import { metric, startService } from '../helpers/service.ts'

t.test('ids carry the node, and records of episodes and groups reach the store', async t => {
  await using app = await startService({ config: { node: 'west7' } })
  const caller = app.connect({ name: 'me' })
  const { group } = await caller.call('group.open', { task: 'answer', size: 1 })
  const { episode, lease } = await caller.call('reset', { group, member: 0 })
  t.match(group, /^gr_west7_/)
  t.match(episode, /^ep_west7_/)
  t.match(await app.store.findEpisode(episode), { principal: 'me', node: 'west7', group, member: 0, attempt: 0, state: 'queued' })
  await caller.call('submit', { episode, lease, seq: 1 })
  await until(() => app.pool.stats().used === 0)
  t.match(await app.store.findEpisode(episode), { state: 'done' })
  t.match(await app.store.findGroup(group), { principal: 'me', size: 1, state: 'complete' })
})

t.test('what is finished answers for a while, then nothing of it is held', async t => {
  await using app = await startService()
  const caller = app.connect()
  const { group } = await caller.call('group.open', { task: 'answer', size: 2, refills: 0 })
  const { episode, lease } = await caller.call('reset', { group, member: 0 })
  await caller.call('submit', { episode, lease, seq: 1 })
  await caller.call('group.close', { group })
  await caller.call('reset', { task: 'answer', requestKey: 'k' }).then(one => caller.call('close', { episode: one.episode, lease: one.lease }))
  app.clock.advance(1_799_999)
  t.match(await caller.call('submit', { episode, lease, seq: 1 }), { replayed: true, verdict: { reward: 0 } })
  app.clock.advance(1)
  await refusal(caller.call('status', { episode }), 'EPISODE_NOT_FOUND')
  await refusal(caller.call('group.get', { group }), 'GROUP_NOT_FOUND')
  for (const term of ['requested', 'solved', 'unsolved', 'void', 'live']) t.equal(await metric(app.metrics, 'assay_members', { term }), 0, term)
  for (const state of ['queued', 'ready', 'done', 'void', 'closed']) t.equal(await metric(app.metrics, 'assay_episodes', { state }), 0, state)
  t.match(await caller.call('reset', { task: 'answer', requestKey: 'k' }), { committed: 0 }, 'the key is free again')
})
