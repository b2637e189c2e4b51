// The rules between the parameters of reset, and the defaults of a group.
import t from 'tap'
import { GroupOpenParams, ResetParams } from '../../src/protocol/index.ts'

t.test('reset names either a request key with a task, or a member of a group', async t => {
  const cases: Array<[Record<string, unknown>, string[]]> = [
    [{ task: 'a', requestKey: 'k' }, []],
    [{ task: 'a', requestKey: 'k', class: 'eval', budgets: { steps: 1 }, seed: 0 }, []],
    [{ group: 'g', member: 0 }, []],
    [{ group: 'g', member: 0, attempt: 2, task: 'a' }, []],
    [{}, ['requestKey', 'task']],
    [{ requestKey: 'k' }, ['task']],
    [{ task: 'a', requestKey: 'k', member: 1, attempt: 0 }, ['member', 'attempt']],
    [{ group: 'g' }, ['member']],
    [{ group: 'g', member: 0, requestKey: 'k' }, ['requestKey']],
    [{ group: 'g', member: 0, class: 'eval' }, ['class']],
    [{ group: 'g', member: 0, budgets: {} }, ['budgets']],
  ]
  for (const [params, paths] of cases) {
    const issues = ResetParams.safeParse(params).error?.issues ?? []
    t.same(issues.map(issue => issue.path.join('.')), paths, JSON.stringify(params))
  }
})

t.test('a group has 32 members of the train class and two refills each unless it says otherwise', async t => {
  t.same(GroupOpenParams.parse({ task: 'a' }), { task: 'a', size: 32, class: 'train', run: 'default', refills: 2 })
})
