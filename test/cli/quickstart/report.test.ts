import t from 'tap'
import { outcomeTable, rewardLines } from '../../../src/cli/quickstart/report.ts'
import type { Verdict } from '../../../src/protocol/index.ts'

t.test('rewards are 1, 0 or a dot for none, wrapped in 100 columns', async t => {
  t.same(rewardLines([1, 0, null]), ['  rewards  1 0 ·'])
  const lines = rewardLines(Array.from({ length: 100 }, () => 1 as const))
  t.ok(lines.every(line => line.length <= 100))
  t.equal(lines.join('').match(/1/g)?.length, 100)
})

t.test('verdicts are counted by what they say, most frequent first', async t => {
  const verdict = (fields: Partial<Verdict>): Verdict => ({ truncated: null, ...fields }) as Verdict
  const lines = outcomeTable([
    verdict({ outcome: 'void', reward: null, reason: 'engine_lost' }),
    verdict({ outcome: 'solved', reward: 1, reason: 'verified' }),
    verdict({ outcome: 'solved', reward: 1, reason: 'verified' }),
    verdict({ outcome: 'unsolved', reward: 0, reason: 'verifier_failed', truncated: 'budget_steps' }),
  ])
  t.match(lines.slice(2), [
    /solved +1 +verified +– +2/,
    /void +null +engine_lost +– +1/,
    /unsolved +0 +verifier_failed +budget_steps +1/,
  ])
})
