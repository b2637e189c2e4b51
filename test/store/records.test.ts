import t from 'tap'
import { EpisodeRecord, GroupRecord, NodeRecord } from '../../src/store/records.ts'

const episode = { version: 1, id: 'e', node: 'n1', principal: 'p', task: 'a', attempt: 0, state: 'ready', updatedAt: 1 }
const group = { version: 1, id: 'g', node: 'n1', principal: 'p', task: 'a', size: 2, state: 'open', updatedAt: 1 }
const node = { version: 1, id: 'n1', boot: 'b', startedAt: 1 }

t.test('records are read as they were written', async t => {
  t.same(EpisodeRecord.parse(episode), episode)
  t.same(EpisodeRecord.parse({ ...episode, group: 'g', member: 3 }).member, 3)
  t.same(GroupRecord.parse(group), group)
  t.same(NodeRecord.parse(node), node)
})

t.test('another version, or a field that nobody knows, is refused', async t => {
  for (const [schema, record] of [[EpisodeRecord, episode], [GroupRecord, group], [NodeRecord, node]] as const) {
    t.notOk(schema.safeParse({ ...record, version: 2 }).success)
    t.notOk(schema.safeParse({ ...record, surprise: 1 }).success)
  }
})
