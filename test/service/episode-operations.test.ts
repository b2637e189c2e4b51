import t from 'tap'
import { refusal, until } from '../helpers/fake.ts'
import { metric, startService } from '../helpers/service.ts'

t.test('a single episode takes one place, waits for it, and is told its position under its request\'s id', async t => {
  await using app = await startService({ config: { maxPlaces: 1 } })
  const caller = app.connect()
  const first = await caller.call('reset', { task: 'answer', requestKey: 'a' })
  const waiting = caller.call('reset', { task: 'answer', requestKey: 'b' })
  await until(() => caller.events.length > 0)
  t.same(caller.events, [{ event: 'queued', id: 'r1', position: 0, etaMs: null }])
  await caller.call('close', { episode: first.episode, lease: first.lease })
  t.equal((await waiting).committed, 0)
  t.equal(await metric(app.metrics, 'assay_places_free'), 0)
})

t.test('a full queue refuses a reset without a trace, and the same requestKey may try again', async t => {
  await using app = await startService({ config: { maxPlaces: 1, queueLength: 1 } })
  const caller = app.connect()
  const first = await caller.call('reset', { task: 'answer', requestKey: 'a' })
  const waiting = caller.call('reset', { task: 'answer', requestKey: 'b' })
  await refusal(caller.call('reset', { task: 'answer', requestKey: 'c' }), 'QUEUE_FULL')
  await caller.call('close', { episode: first.episode, lease: first.lease })
  const second = await waiting
  await caller.call('close', { episode: second.episode, lease: second.lease })
  t.match(await caller.call('reset', { task: 'answer', requestKey: 'c' }), { committed: 0 })
})

t.test('who leaves while it waits may come back with the same requestKey; who does not loses the place in the queue', async t => {
  await using app = await startService({ config: { maxPlaces: 1, leaseIdleMs: 1000 } })
  const [holder, caller] = [app.connect(), app.connect()]
  const first = await holder.call('reset', { task: 'answer', requestKey: 'a' })
  const refused = t.rejects(caller.call('reset', { task: 'answer', requestKey: 'b' }), /left/)
  await until(() => caller.events.length > 0)
  caller.leave()
  await refused
  app.clock.advance(900)
  const again = app.connect()
  const waiting = again.call('reset', { task: 'answer', requestKey: 'b' })
  app.clock.advance(5000)
  await holder.call('close', { episode: first.episode, lease: first.lease })
  const { episode } = await waiting
  again.leave()
  app.clock.advance(1000)
  t.match((await holder.call('status', { episode })).verdict, { reason: 'expired' })
  t.equal(await metric(app.metrics, 'assay_places_free'), 1)
})

t.test('tokens of a step are charged once, however often its seq is sent', async t => {
  await using app = await startService()
  const caller = app.connect()
  const { episode, lease } = await caller.call('reset', { task: 'answer', requestKey: 'a', budgets: { tokens: 100 } })
  for (let i = 0; i < 3; i++) await caller.call('step', { episode, lease, seq: 1, action: { type: 'exec', command: 'true' }, usage: { tokens: 40 } })
  t.same((await caller.call('status', { episode })).budgetLeft, { tokens: 60 })
})

t.test('an episode without a seed gets one, and its class must be the key\'s', async t => {
  await using app = await startService()
  const caller = app.connect({ classes: ['eval'] })
  const { episode, lease } = await caller.call('reset', { task: 'answer', requestKey: 'a' })
  const { verdict } = await caller.call('submit', { episode, lease, seq: 1 })
  t.ok(Number.isInteger(verdict.provenance.seed) && verdict.provenance.seed >= 0)
  await refusal(caller.call('reset', { task: 'answer', requestKey: 'b', class: 'load' }), 'FORBIDDEN')
})
