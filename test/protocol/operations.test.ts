// The operation table as a whole.
import t from 'tap'
import { OPERATIONS, isOperation } from '../../src/protocol/index.ts'

t.test('the table has every operation of v1 and says which are built', async t => {
  const named = (built: boolean): string[] => {
    return Object.entries(OPERATIONS).filter(([, op]) => op.built === built).map(([name]) => name).sort()
  }
  t.same(named(true), [
    'close', 'group.close', 'group.get', 'group.open', 'info', 'reset', 'resume', 'status', 'step', 'submit', 'tasks.get', 'tasks.list',
  ])
  t.same(named(false), ['cancel', 'files.get', 'files.put', 'fork', 'tasks.stage', 'verdict.get', 'verify'])
})

t.test('no operation accepts a member that its schema does not name', async t => {
  for (const [name, { params }] of Object.entries(OPERATIONS)) {
    const parsed = params.safeParse({ surprise: 1 })
    t.match(parsed.error?.issues.map(issue => issue.code), /unrecognized_keys/, name)
  }
})

t.test('only own names are operations', async t => {
  t.equal(isOperation('step'), true)
  for (const name of ['toString', '__proto__', 'Step', '', 3, undefined]) t.equal(isOperation(name), false, String(name))
})
