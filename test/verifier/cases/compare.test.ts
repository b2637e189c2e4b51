import t from 'tap'
import { COMPARE_LIMITS, compareOutcome, compareText, type Outcome } from '../../../src/verifier/cases/compare.ts'
import { Expectation } from '../../../src/tasks/cases.ts'

const value = (json: unknown): Outcome => ({ kind: 'value', value: json })
const expect = (input: unknown): Expectation => Expectation.parse(input)

await t.test('values compare as JSON does', async t => {
  const rows: Array<[expected: unknown, got: unknown, passes: boolean]> = [
    [{ a: 1, b: [true, null] }, { b: [true, null], a: 1 }, true],
    [{ a: 1 }, { a: 1, b: 2 }, false],
    [{ a: 1, b: 2 }, { a: 1 }, false],
    [[1, 2], [2, 1], false],
    [[1], { 0: 1 }, false],
    [{ 0: 1 }, [1], false],
    [1, '1', false],
    [0, -0, true],
    [0, false, false],
    [null, {}, false],
    [{}, null, false],
    ['a', 'a\n', false],
    [{ constructor: 1 }, {}, false],
    [{ __proto__: null }, {}, true],
    [[], [], true],
  ]
  for (const [expected, got, passes] of rows) {
    const why = compareOutcome({ kind: 'equals', value: expected as never }, value(got))
    t.equal(why === undefined, passes, `${JSON.stringify(expected)} against ${JSON.stringify(got)}`)
  }
})

await t.test('approx allows what it says and no more, also inside', async t => {
  const expected = expect({ kind: 'approx', value: { x: [1.0, 0] }, relative: 1e-3, absolute: 1e-6 })
  t.equal(compareOutcome(expected, value({ x: [1.0009, 1e-7] })), undefined)
  t.match(compareOutcome(expected, value({ x: [1.002, 0] })), /expected/)
  t.match(compareOutcome(expected, value({ x: [1, 1e-5] })), /expected/)
  t.match(compareOutcome(expected, value({ x: ['1', 0] })), /expected/)
})

await t.test('a set takes any order and counts duplicates', async t => {
  const expected = expect({ kind: 'set', values: [1, 1, { a: 1, b: 2 }] })
  t.equal(compareOutcome(expected, value([{ b: 2, a: 1 }, 1, 1])), undefined)
  t.match(compareOutcome(expected, value([1, { a: 1, b: 2 }, { a: 1, b: 2 }])), /expected/)
  t.match(compareOutcome(expected, value([1, { a: 1, b: 2 }])), /expected/)
  t.match(compareOutcome(expected, value('no list')), /expected/)
})

await t.test('a pattern must match the whole text, in time linear in it', async t => {
  t.equal(compareText(expect({ kind: 'matches', pattern: 'a.*z' }), 'a\nz'), undefined)
  t.match(compareText(expect({ kind: 'matches', pattern: 'b' }), 'abc'), /does not match/)
  const start = performance.now()
  t.match(compareText(expect({ kind: 'matches', pattern: '(a*)*b' }), 'a'.repeat(50_000)), /does not match/)
  t.ok(performance.now() - start < 5_000, 'a backtracking engine would not come back')
  t.match(compareText(expect({ kind: 'matches', pattern: 'a*' }), 'a'.repeat(COMPARE_LIMITS.textCharacters + 1)), /longer/)
  t.match(compareOutcome(expect({ kind: 'matches', pattern: '1' }), value(1)), /not text/)
})

await t.test('an exception must be of the type and hold the message', async t => {
  const expected = expect({ kind: 'throws', type: 'ValueError', message: 'day' })
  t.equal(compareOutcome(expected, { kind: 'error', type: 'ValueError', message: 'Bad day' }), undefined)
  t.match(compareOutcome(expected, { kind: 'error', type: 'KeyError', message: 'day' }), /instead of ValueError/)
  t.match(compareOutcome(expected, { kind: 'error', type: 'ValueError', message: 'month' }), /does not contain/)
  t.match(compareOutcome(expected, value({ type: 'ValueError', message: 'day' })), /returned/)
  t.match(compareOutcome(expect({ kind: 'equals', value: 1 }), { kind: 'error', type: 'E', message: 'x' }), /raised E/)
})

await t.test('a text is compared as text with a string, else as JSON', async t => {
  t.equal(compareText(expect({ kind: 'equals', value: 'a\n' }), 'a\n'), undefined)
  t.equal(compareText(expect({ kind: 'equals', value: { a: [1] } }), ' {\n"a": [1]}\n'), undefined)
  t.match(compareText(expect({ kind: 'equals', value: { a: 1 } }), '{"a": 1} trailing'), /not JSON/)
  t.match(compareText(expect({ kind: 'set', values: [1] }), ''), /not JSON/)
})

await t.test('a value nested without end is refused, not followed', async t => {
  const deep: unknown = JSON.parse('['.repeat(100_000) + ']'.repeat(100_000))
  t.match(compareOutcome(expect({ kind: 'equals', value: [] }), value(deep)), /nested deeper/)
  t.match(compareOutcome(expect({ kind: 'set', values: [1] }), value([deep])), /nested deeper/)
})

await t.test('a number past the range of doubles is close to nothing', async t => {
  const infinite: unknown = JSON.parse('1e999')
  for (const expected of [{ kind: 'approx', value: 1 }, { kind: 'approx', value: [1] }, { kind: 'set', values: [null] }]) {
    t.match(compareOutcome(expect(expected), value(infinite)), /range of doubles/)
    t.match(compareOutcome(expect(expected), value([infinite])), /range of doubles/)
  }
})
