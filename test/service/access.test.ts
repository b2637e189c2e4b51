import t from 'tap'
import { manualClock } from '../../src/base/clock.ts'
import type { Episode } from '../../src/episodes/episode.ts'
import { EpisodeRegistry, Registry } from '../../src/episodes/registry.ts'
import type { Group } from '../../src/groups/group.ts'
import { checkClass, createAccess } from '../../src/service/access.ts'
import type { Context, Principal } from '../../src/service/service.ts'
import { createCatalogue } from '../../src/tasks/catalogue.ts'
import { silentLogger } from '../../src/telemetry/log.ts'
import { makeTask } from '../helpers/fake.ts'
import { ADMIN } from '../helpers/service.ts'

const alice: Principal = { name: 'alice', scopes: ['train'], classes: ['train'], splits: ['train'], maxEpisodes: 10 }

function start () {
  const logged: Array<Record<string, unknown>> = []
  const log = { ...silentLogger, info: (fields: Record<string, unknown>) => { logged.push(fields) } }
  const clock = manualClock()
  const episodes = new EpisodeRegistry({ clock })
  const groups = new Registry<Group>({ clock, onForgotten () {} })
  episodes.add({ id: 'ep_n1_a', setup: { principal: 'alice' } } as unknown as Episode)
  groups.add({ id: 'gr_n1_a', setup: { principal: 'alice' } } as unknown as Group)
  const catalogue = createCatalogue({ tasks: [makeTask(), makeTask({ id: 'hidden', split: 'val' })], admissions: [] })
  const context = (principal: Principal): Context => ({ principal, log, signal: new AbortController().signal })
  return { access: createAccess({ node: 'n1', catalogue, episodes, groups }), context, logged }
}

t.test('a val task is not there for a train key, and each access of others is logged', async t => {
  const { access, context, logged } = start()
  t.equal(access.task('answer', context(alice)).id, 'answer')
  t.throws(() => access.task('hidden', context(alice)), { code: 'TASK_NOT_FOUND' })
  t.same(logged, [])
  access.task('hidden', context({ ...alice, name: 'eve', splits: ['val'] }))
  t.same(logged, [{ principal: 'eve', task: 'hidden' }])
})

t.test('episodes and groups are their owner\'s and the admin\'s', async t => {
  const { access, context } = start()
  for (const principal of [alice, ADMIN]) {
    t.equal(access.episode('ep_n1_a', context(principal)).id, 'ep_n1_a')
    t.equal(access.group('gr_n1_a', context(principal)).id, 'gr_n1_a')
  }
  const bob = context({ ...alice, name: 'bob' })
  t.throws(() => access.episode('ep_n1_a', bob), { code: 'EPISODE_NOT_FOUND' })
  t.throws(() => access.group('gr_n1_a', bob), { code: 'GROUP_NOT_FOUND' })
})

t.test('the sentence says what is wrong with an id', async t => {
  const { access, context } = start()
  t.throws(() => access.episode('what', context(alice)), { message: /use an id as reset returned it/ })
  t.throws(() => access.episode('ep_n2_a', context(alice)), { message: /belongs to node "n2" and this is node "n1"/ })
  t.throws(() => access.group('gr_n1_b', context(alice)), { message: /finished ones are kept for a while only/ })
})

t.test('a class that the key may not use is forbidden, with those that it may', async t => {
  checkClass(alice, 'train')
  t.throws(() => checkClass(alice, 'load'), { code: 'FORBIDDEN', message: /may use train/ })
  t.throws(() => checkClass({ ...alice, classes: [] }, 'load'), { message: /may use none/ })
})
