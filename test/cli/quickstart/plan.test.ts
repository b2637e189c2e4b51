import t from 'tap'
import { findMismatch, planMembers, type Plan } from '../../../src/cli/quickstart/plan.ts'
import type { Verdict } from '../../../src/protocol/index.ts'
import type { FileEntry } from '../../../src/sandbox/files.ts'

const tree = (name: string): FileEntry[] => [{ type: 'file', path: name, mode: 0o644, content: Buffer.from(`${name}\n`) }]
const solutions = {
  reference: { kind: 'overlay' as const, entries: tree('r') },
  alternatives: [{ name: 'one', entries: tree('1') }],
  wrong: [{ name: 'bad', entries: tree('b') }],
}
const named = (plans: Plan[], kind: Plan['kind']): string[] => plans.filter(plan => plan.kind === kind).map(({ name }) => name)

t.test('of 32 members twelve solve, twelve fail, eight wander, and solutions take turns', async t => {
  const plans = planMembers(solutions, 32)
  t.equal(plans.length, 32)
  t.same([...new Set(named(plans, 'solve'))], ['reference', 'alternative one'])
  t.same([...new Set(named(plans, 'fail'))], ['wrong bad', 'untouched'])
  t.same((['solve', 'fail', 'wander'] as const).map(kind => named(plans, kind).length), [12, 12, 8])
})

t.test('a reference that only an image holds is left out', async t => {
  const plans = planMembers({ ...solutions, reference: { kind: 'image', target: 'reference', path: '/reference' } }, 8)
  t.same([...new Set(named(plans, 'solve'))], ['alternative one'])
})

t.test('one member solves; without any right solution it wanders', async t => {
  t.match(planMembers(solutions, 1), [{ kind: 'solve', name: 'reference' }])
  t.match(planMembers({ reference: undefined, alternatives: [], wrong: [] }, 1), [{ kind: 'wander' }])
})

const verdict = (reward: Verdict['reward'], truncated: Verdict['truncated'] = null): Verdict =>
  ({ reward, truncated, reason: reward === null ? 'engine_lost' : 'verified' }) as Verdict
const [solve] = planMembers(solutions, 1)
const cases: Array<[string, Plan | undefined, Verdict | undefined, RegExp | undefined]> = [
  ['a solver with 1', solve, verdict(1), undefined],
  ['a solver with 0', solve, verdict(0), /must have reward 1, got reward 0/],
  ['a solver without a reward', solve, verdict(null), /must have reward 1, got reward null \(engine_lost\)/],
  ['a solver that was cut short', solve, verdict(1, 'budget_steps'), /must be truncated null/],
  ['a failure with 0', { kind: 'fail', name: 'f', entries: [] }, verdict(0), undefined],
  ['a failure with 1', { kind: 'fail', name: 'f', entries: [] }, verdict(1), /must have reward 0, got reward 1/],
  ['a failure without a reward', { kind: 'fail', name: 'f', entries: [] }, verdict(null), /must have reward 0, got reward null/],
  ['a wanderer out of steps', { kind: 'wander', name: 'w' }, verdict(0, 'budget_steps'), undefined],
  ['a wanderer that was not cut short', { kind: 'wander', name: 'w' }, verdict(0), /must be truncated budget_steps/],
  ['no verdict at all', solve, undefined, /no verdict/],
]
for (const [title, plan, got, wanted] of cases) {
  t.test(`${title} is ${wanted === undefined ? 'right' : 'a mismatch'}`, async t => {
    const mismatch = plan === undefined ? 'no plan' : findMismatch(plan, got)
    if (wanted === undefined) t.equal(mismatch, undefined)
    else t.match(mismatch, wanted)
  })
}
