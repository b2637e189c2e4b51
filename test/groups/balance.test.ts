import t from 'tap'
import { balanceAttempts, balanceMembers, isFinished, memberState, ruleAttempt, type AttemptState } from '../../src/groups/balance.ts'
import { MemberState } from '../../src/protocol/index.ts'

const member = (attempts: AttemptState[], isCancelled = false) => ({ attempts, isCancelled })

/** attempts, refills, in an open group, in a closed one */
const STATES: Array<[AttemptState[], number, MemberState, MemberState]> = [
  [[], 2, 'unstarted', 'void'],
  [['live'], 2, 'live', 'live'],
  [['solved'], 2, 'solved', 'solved'],
  [['unsolved'], 2, 'unsolved', 'unsolved'],
  [['void'], 2, 'refillable', 'void'],
  [['void'], 0, 'void', 'void'],
  [['void', 'live'], 1, 'live', 'live'],
  [['void', 'void'], 1, 'void', 'void'],
  [['void', 'void'], 2, 'refillable', 'void'],
  [['void', 'solved'], 1, 'solved', 'solved'],
]

for (const [attempts, refills, open, closed] of STATES) {
  t.test(`a member with attempts [${attempts}] and ${refills} refills is ${open}, in a closed group ${closed}`, async t => {
    t.equal(memberState(member(attempts), refills), open)
    t.equal(memberState(member(attempts, true), refills), closed)
  })
}

/** attempts so far, attempt asked for, refills, cancelled, ruling */
const RULINGS: Array<[AttemptState[], number, number, boolean, string]> = [
  [[], 0, 2, false, 'start'],
  [[], 1, 2, false, 'the next attempt is 0'],
  [['live'], 0, 2, false, 'repeat'],
  [['live'], 1, 2, false, 'attempt 0 is live'],
  [['solved'], 0, 2, false, 'repeat'],
  [['solved'], 1, 2, false, 'has its reward from attempt 0'],
  [['unsolved'], 1, 2, false, 'has its reward from attempt 0'],
  [['void'], 1, 2, false, 'start'],
  [['void'], 2, 2, false, 'the next attempt is 1'],
  [['void'], 0, 2, false, 'repeat'],
  [['void'], 1, 0, false, 'all 0 refills are used'],
  [['void', 'void'], 2, 1, false, 'all 1 refills are used'],
  [['void', 'void'], 2, 2, false, 'start'],
  [['void'], 1, 2, true, 'the group is closed'],
  [[], 0, 2, true, 'the group is closed'],
  [['solved'], 0, 2, true, 'repeat'],
]

for (const [attempts, attempt, refills, isCancelled, expected] of RULINGS) {
  t.test(`after [${attempts}] with ${refills} refills${isCancelled ? ', closed' : ''}: attempt ${attempt}: ${expected}`, async t => {
    const ruling = ruleAttempt(member(attempts, isCancelled), attempt, refills)
    if (ruling.do === 'refuse') t.match(ruling.why, expected)
    else t.equal(ruling.do, expected)
  })
}

t.test('unstarted and refillable members count as live, and every member counts once', async t => {
  t.same(balanceMembers(MemberState.options), { requested: 6, solved: 1, unsolved: 1, void: 1, live: 3 })
  t.same(balanceMembers([]), { requested: 0, solved: 0, unsolved: 0, void: 0, live: 0 })
  t.same(balanceAttempts(['live', 'void', 'void', 'solved']), { requested: 4, solved: 1, unsolved: 0, void: 2, live: 1 })
  t.same(MemberState.options.filter(isFinished), ['solved', 'unsolved', 'void'])
})
