// Places of a group as its members come and go; the rest of its behaviour is in the service contract.
import t from 'tap'
import { refusal, until } from '../helpers/fake.ts'
import { metric, startService } from '../helpers/service.ts'

const PLACE = 64 * 1024 * 1024

const placesOf = (app: Awaited<ReturnType<typeof startService>>) => async (): Promise<number> => {
  // the gauge counts places of the default size, so capacity is set in them
  return await metric(app.metrics, 'assay_places_free')
}

t.test('a place goes back with its member\'s verdict, a void member keeps its own', async t => {
  await using app = await startService({ config: { maxPlaces: 4 }, engine: { memoryBytes: 1000 * PLACE } })
  const free = placesOf(app)
  const caller = app.connect()
  const { group } = await caller.call('group.open', { task: 'answer', size: 3, refills: 1 })
  t.equal(await free(), 1)
  const first = await caller.call('reset', { group, member: 0 })
  await caller.call('submit', { episode: first.episode, lease: first.lease, seq: 1 })
  t.equal(await free(), 2)
  const second = await caller.call('reset', { group, member: 1 })
  await caller.call('close', { episode: second.episode, lease: second.lease })
  t.equal(await free(), 2, 'kept for the refill')
  const refill = await caller.call('reset', { group, member: 1, attempt: 1 })
  await caller.call('close', { episode: refill.episode, lease: refill.lease })
  t.equal(await free(), 3, 'out of refills')
  await caller.call('group.close', { group })
  t.equal(await free(), 4)
})

t.test('with less concurrency than members a place serves one after another, and a refill has one', async t => {
  await using app = await startService({ config: { maxPlaces: 1 }, engine: { memoryBytes: 1000 * PLACE } })
  const caller = app.connect()
  const { group } = await caller.call('group.open', { task: 'answer', size: 2, concurrency: 1 })
  const first = await caller.call('reset', { group, member: 0 })
  const waiting = caller.call('reset', { group, member: 1 })
  await caller.call('close', { episode: first.episode, lease: first.lease })
  const second = await waiting
  const refilling = caller.call('reset', { group, member: 0, attempt: 1 })
  await caller.call('submit', { episode: second.episode, lease: second.lease, seq: 1 })
  const refill = await refilling
  await caller.call('submit', { episode: refill.episode, lease: refill.lease, seq: 1 })
  t.match(await caller.call('group.get', { group }), { state: 'complete', balance: { unsolved: 2 }, attempts: { requested: 3, void: 1 } })
  t.equal(await placesOf(app)(), 1)
})

t.test('a queued group can be closed, and those who waited for it are told', async t => {
  await using app = await startService({ config: { maxPlaces: 2 } })
  const caller = app.connect()
  await caller.call('group.open', { task: 'answer', size: 2 })
  const { group } = await caller.call('group.open', { task: 'answer', size: 2 })
  const refused = refusal(caller.call('reset', { group, member: 0 }), 'EPISODE_VOID')
  await until(() => caller.events.some(({ event }) => event === 'member'))
  t.match(await caller.call('group.close', { group }), { state: 'closed', balance: { void: 2 }, attempts: { void: 1 } })
  t.match(await refused, { details: { reason: 'cancelled' } })
  t.equal(await metric(app.metrics, 'assay_queue_length'), 0)
})

t.test('sandboxes are made ready when the group is admitted, and what nobody took goes with it', async t => {
  await using app = await startService()
  const caller = app.connect()
  const { group } = await caller.call('group.open', { task: 'answer', size: 4 })
  await until(() => app.pool.stats().ready === 4)
  await caller.call('reset', { group, member: 0 })
  t.equal(app.pool.stats().created, 4, 'the reset took a staged one')
  await caller.call('group.close', { group })
  await until(() => app.engine.size === 0)
})
