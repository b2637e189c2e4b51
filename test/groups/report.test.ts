import t from 'tap'
import { balanceAttempts, balanceMembers } from '../../src/groups/balance.ts'
import type { GroupSetup } from '../../src/groups/group.ts'
import { reportGroup } from '../../src/groups/report.ts'
import { GroupReport, type EpisodeId, type GroupId, type MemberState } from '../../src/protocol/index.ts'
import { makeTask } from '../helpers/fake.ts'

const setup: GroupSetup = {
  id: 'gr_n1_1' as GroupId, principal: 'p', task: makeTask(), size: 3, concurrency: 2, refills: 1, minUsable: 2, budgets: { onBudget: 'verify' }, seed: 1, run: 'r', meta: { a: 1 },
}

const report = (states: MemberState[], { isOver = false, minUsable = 2 } = {}): GroupReport => reportGroup({
  setup: { ...setup, minUsable },
  state: 'open',
  position: undefined,
  isOver,
  members: states.map(state => ({ state, attempts: state === 'unstarted' ? [] : [{ episode: `of ${state}` as EpisodeId, state: 'live' as const }] })),
  balance: balanceMembers(states),
  attempts: balanceAttempts([]),
})

t.test('rewards are null where there is none (yet), and usable says where there is one', async t => {
  const made = report(['solved', 'unsolved', 'void', 'live', 'refillable', 'unstarted'])
  t.same(made.rewards, [1, 0, null, null, null, null])
  t.same(made.usable, [true, true, false, false, false, false])
  t.same(made.members[0], { member: 0, state: 'solved', attempts: 1, episode: 'of solved' })
  t.same(made.members[5], { member: 5, state: 'unstarted', attempts: 0 })
  t.same(GroupReport.parse(made), made)
})

t.test('a group is degenerate when its usable rewards are all equal; null is no reward', async t => {
  t.equal(report(['solved', 'solved', 'void']).degenerate, true)
  t.equal(report(['unsolved', 'unsolved']).degenerate, true)
  t.equal(report(['solved', 'unsolved', 'void']).degenerate, false)
  t.equal(report(['void', 'void']).degenerate, true)
})

t.test('only a finished group can be degraded', async t => {
  t.equal(report(['solved', 'live']).degraded, false)
  t.equal(report(['solved', 'void'], { isOver: true }).degraded, true)
  t.equal(report(['solved', 'unsolved'], { isOver: true }).degraded, false)
  t.equal(report(['void', 'void'], { isOver: true, minUsable: 0 }).degraded, false)
})

t.test('a position is told only while the group waits', async t => {
  const facts = { setup, isOver: false, members: [], balance: balanceMembers([]), attempts: balanceAttempts([]) }
  t.equal(reportGroup({ ...facts, state: 'queued', position: 3 }).position, 3)
  t.notOk('position' in reportGroup({ ...facts, state: 'open', position: undefined }))
})
