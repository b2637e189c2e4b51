import t from 'tap'
import { budgetLeft, charge, findExhausted, NOTHING_SPENT, warnBudgets } from '../../src/episodes/budget.ts'
import type { Budgets } from '../../src/protocol/index.ts'

const all: Budgets = { steps: 10, execMs: 1000, outputBytes: 100, tokens: 50, wallMs: 5000, onBudget: 'verify' }

t.test('a step costs one step and what it used; wall time is a reading', async t => {
  const once = charge(NOTHING_SPENT, { execMs: 10, outputBytes: 3, tokens: 5, wallMs: 700 })
  const twice = charge(once, { execMs: 20, outputBytes: 4, tokens: 0, wallMs: 900 })
  t.same(twice, { steps: 2, execMs: 30, outputBytes: 7, tokens: 5, wallMs: 900 })
  t.same(budgetLeft(all, twice), { steps: 8, execMs: 970, outputBytes: 93, tokens: 45, wallMs: 4100 })
})

t.test('only budgets that are set have something left, and never less than nothing', async t => {
  t.same(budgetLeft({ onBudget: 'verify' }, NOTHING_SPENT), {})
  t.same(budgetLeft({ outputBytes: 5, onBudget: 'verify' }, { ...NOTHING_SPENT, outputBytes: 9 }), { outputBytes: 0 })
})

t.test('each budget is exhausted at its limit and names itself', async t => {
  for (const [kind, reason] of [
    ['steps', 'budget_steps'], ['execMs', 'budget_exec'], ['outputBytes', 'budget_output'], ['tokens', 'budget_tokens'], ['wallMs', 'budget_wall'],
  ] as const) {
    const limit = all[kind] ?? 0
    t.equal(findExhausted(all, { ...NOTHING_SPENT, [kind]: limit - 1 }), undefined, `${kind} below`)
    t.equal(findExhausted(all, { ...NOTHING_SPENT, [kind]: limit }), reason, `${kind} at its limit`)
    t.equal(findExhausted({ onBudget: 'verify' }, { ...NOTHING_SPENT, [kind]: 1e9 }), undefined, `${kind} not set`)
  }
})

t.test('the agent is warned before the end and told what comes after it', async t => {
  t.same(warnBudgets(all, NOTHING_SPENT), [])
  t.match(warnBudgets(all, { ...NOTHING_SPENT, steps: 9 }), [/^One step is left; after it the work is submitted as it stands\.$/])
  t.match(warnBudgets({ ...all, onBudget: 'zero' }, { ...NOTHING_SPENT, steps: 9 }), [/reward 0/])
  t.match(warnBudgets({ ...all, onBudget: 'void' }, { ...NOTHING_SPENT, execMs: 901 }), [/^99 milliseconds of command time are left; .* without a reward/])
  t.same(warnBudgets(all, { ...NOTHING_SPENT, outputBytes: 89 }), [])
  t.match(warnBudgets(all, { ...NOTHING_SPENT, outputBytes: 90, tokens: 45 }), [/10 bytes of output/, /5 tokens/])
  t.same(warnBudgets(all, { ...NOTHING_SPENT, steps: 10 }), [], 'what is spent is past warning')
})
