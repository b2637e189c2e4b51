import t from 'tap'
import { AssayError } from '../../src/errors.ts'
import { refusal, until } from '../helpers/fake.ts'
import { startService } from '../helpers/service.ts'

t.test('group.open answers at once; an image that cannot be had shows in the resets and uses up no attempt', async t => {
  await using app = await startService()
  const ensureImage = app.engine.ensureImage
  app.engine.ensureImage = async () => { throw new AssayError('IMAGE_UNAVAILABLE') }
  const caller = app.connect()
  const { group, state } = await caller.call('group.open', { task: 'answer', size: 1 })
  t.equal(state, 'open')
  await refusal(caller.call('reset', { group, member: 0 }), 'IMAGE_UNAVAILABLE')
  t.match(await caller.call('group.get', { group }), { attempts: { requested: 0 } })
  app.engine.ensureImage = ensureImage
  t.match(await caller.call('reset', { group, member: 0 }), { attempt: 0 })
})

t.test('members take the group\'s budgets, seed and meta, and their own meta when they bring one', async t => {
  await using app = await startService()
  const caller = app.connect()
  const { group } = await caller.call('group.open', { task: 'answer', size: 2, seed: 9, meta: { policy: 1 }, budgets: { steps: 3 } })
  const plain = await caller.call('reset', { group, member: 0 })
  t.same(plain.observation.budgetLeft, { steps: 3 })
  t.match((await caller.call('submit', { episode: plain.episode, lease: plain.lease, seq: 1 })).verdict, { meta: { policy: 1 }, provenance: { seed: 9 } })
  const own = await caller.call('reset', { group, member: 1, meta: { policy: 2 } })
  t.same((await caller.call('status', { episode: own.episode })).meta, { policy: 2 })
})

t.test('concurrency is at most the size', async t => {
  await using app = await startService({ config: { maxPlaces: 4 } })
  t.equal((await app.connect().call('group.open', { task: 'answer', size: 2, concurrency: 100 })).concurrency, 2)
})

t.test('an attempt that is void answers its own reset with the reason', async t => {
  await using app = await startService()
  const caller = app.connect()
  const { group } = await caller.call('group.open', { task: 'answer', size: 1 })
  await caller.call('reset', { group, member: 0 })
  app.engine.loseAll({ kind: 'engine', reason: 'gone' })
  await until(() => caller.events.some(event => event.event === 'verdict'))
  t.match(await refusal(caller.call('reset', { group, member: 0 }), 'EPISODE_VOID'), { details: { reason: 'engine_lost' } })
  t.match(await caller.call('reset', { group, member: 0, attempt: 1 }), { attempt: 1 })
})

t.test('an admin may reset a member of another\'s group, who goes on driving it', async t => {
  await using app = await startService()
  const owner = app.connect({ name: 'owner', scopes: ['train'] })
  const { group } = await owner.call('group.open', { task: 'answer', size: 1 })
  const { episode } = await app.connect().call('reset', { group, member: 0 })
  t.equal((await owner.call('status', { episode })).state, 'ready')
  await refusal(app.connect({ name: 'other', scopes: ['train'] }).call('reset', { group, member: 0 }), 'GROUP_NOT_FOUND')
})
