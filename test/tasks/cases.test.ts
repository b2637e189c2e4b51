import t from 'tap'
import { CliCase, Expectation, ValueCase } from '../../src/tasks/cases.ts'

await t.test('what an expectation leaves out has its stated default', async t => {
  t.same(Expectation.parse({ kind: 'approx', value: [1] }), { kind: 'approx', value: [1], relative: 1e-9, absolute: 0 })
  t.same(CliCase.parse({ id: 'a', requirement: 1, input: {}, expect: {} }).expect, { exitCode: 0 })
})

await t.test('an expectation is data of a known kind and nothing more', async t => {
  const wrong = [
    { kind: 'eval', code: '1' }, { kind: 'equals' }, { kind: 'equals', value: 1, extra: 1 },
    { kind: 'approx', value: 1, relative: 0 }, { kind: 'approx', value: 1, absolute: -1 },
    { kind: 'matches', pattern: 'a'.repeat(2001) }, { kind: 'throws' },
  ]
  for (const expectation of wrong) t.notOk(Expectation.safeParse(expectation).success, JSON.stringify(expectation))
})

await t.test('every case is traced to a requirement', async t => {
  const base = { id: 'a', input: null, expect: { kind: 'equals', value: 1 } }
  t.ok(ValueCase.safeParse({ ...base, requirement: 1 }).success)
  t.notOk(ValueCase.safeParse(base).success)
  t.notOk(ValueCase.safeParse({ ...base, requirement: 0 }).success)
})
