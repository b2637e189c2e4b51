import t from 'tap'
import { OPERATIONS } from '../../src/protocol/index.ts'
import { silentLogger } from '../../src/telemetry/log.ts'
import { makeTask } from '../helpers/fake.ts'
import { startService } from '../helpers/service.ts'

const tasks = ['a', 'b', 'c', 'd'].map(id => makeTask({ id, split: id === 'b' ? 'val' : 'train' }))

t.test('info says what is built, what this key sees and what is free', async t => {
  await using app = await startService({ config: { maxPlaces: 3 } })
  const caller = app.connect({ splits: ['train'], maxEpisodes: 9 })
  await caller.call('group.open', { task: 'answer', size: 2 })
  const info = await caller.call('info', {})
  t.match(info, { protocol: 'assay.v1', serverVersion: '0.0.0-test', node: 'n1', engine: 'fake', splits: ['train'], places: { total: 3, free: 1 }, limits: { episodesPerKey: 9 } })
  t.ok(info.operations.includes('step'))
  t.notOk(info.operations.includes('fork'))
  t.same(OPERATIONS.info.result.parse(info), info)
})

t.test('tasks are listed in order, by page, as far as the key sees them', async t => {
  const logged: unknown[] = []
  const log = { ...silentLogger, info: (fields: unknown) => { logged.push(fields) } }
  await using app = await startService({ tasks, log })
  const caller = app.connect({ splits: ['train'] })
  const first = await caller.call('tasks.list', { limit: 2 })
  t.same([first.tasks.map(({ id }) => id), first.next], [['a', 'c'], 'c'])
  const second = await caller.call('tasks.list', { limit: 2, after: 'c' })
  t.same([second.tasks.map(({ id }) => id), second.next], [['d'], undefined])
  t.same((await caller.call('tasks.list', { split: 'val' })).tasks, [])
  t.same(logged, [])
  t.same((await app.connect().call('tasks.list', { split: 'val' })).tasks.map(({ id }) => id), ['b'])
  t.same(logged, [{ principal: 'admin', tasks: ['b'] }])
})

t.test('a task shows its workdir even when only the image knows it', async t => {
  await using app = await startService({ tasks: [makeTask({ workdir: undefined }), makeTask({ id: 'own', workdir: '/own' })], admitted: ['digest-of-own'] })
  const caller = app.connect()
  t.match(await caller.call('tasks.get', { task: 'answer' }), { workdir: '/desk', admitted: false })
  t.match(await caller.call('tasks.get', { task: 'own' }), { workdir: '/own', admitted: true, instruction: 'Write 42 into answer.txt.' })
})
