// The closed table of reasons, which is the only source of rewards.
import t from 'tap'
import { BudgetReason, REASONS, Reason, Truncated, Verdict } from '../../src/protocol/index.ts'

t.test('one reason stands for solved; those of the machine are void', async t => {
  const of = (outcome: string): string[] => {
    return Object.entries(REASONS).filter(([, value]) => value === outcome).map(([reason]) => reason)
  }
  t.same(of('solved'), ['verified'])
  t.same(of('unsolved'), ['verifier_failed', 'verifier_timeout', 'agent_broke_verifier', 'agent_broke_sandbox', 'delta_rejected'])
  t.same(Reason.options.length, Object.keys(REASONS).length + BudgetReason.options.length)
  t.same(Truncated.options, ['tokens', 'turns', ...BudgetReason.options])
})

t.test('a reward is 1, 0 or null, and nothing in between', async t => {
  const reward = Verdict.shape.reward
  for (const value of [1, 0, null]) t.equal(reward.safeParse(value).success, true)
  for (const value of [0.5, -1, true, '1', undefined, NaN]) t.equal(reward.safeParse(value).success, false, String(value))
})
