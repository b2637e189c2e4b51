import t from 'tap'
import { parseCases } from '../../../src/tasks/formats/cases-file.ts'

const cli = (fields: Record<string, unknown>) => JSON.stringify({ id: 'a', requirement: 1, input: {}, expect: {}, ...fields })
const parse = (text: string, kind: 'cli' | 'function' = 'cli') => parseCases(text, { file: 'cases.jsonl', kind, requirements: 3 })

await t.test('each line is one case, blank lines are none, defaults are filled in', async t => {
  t.same(parse(`${cli({})}\n\n${cli({ id: 'b', requirement: 3 })}\n`), [
    { id: 'a', requirement: 1, input: { args: [] }, expect: { exitCode: 0 } },
    { id: 'b', requirement: 3, input: { args: [] }, expect: { exitCode: 0 } },
  ])
})

await t.test('a value case keeps its input as it is', async t => {
  const line = { id: 'v', requirement: 2, input: { deep: [null] }, expect: { kind: 'set', values: [1] } }
  t.same(parse(JSON.stringify(line), 'function'), [line])
})

await t.test('a wrong line is refused with its number', async t => {
  const rows: Array<[line: string, message: RegExp]> = [
    ['{', /:2: is not one JSON object/],
    [cli({ id: 'first' }), /:2: the id "first" is taken/],
    [cli({ requirement: 4 }), /:2: requirement 4 is not in/],
    [cli({ extra: 1 }), /:2: .*extra/],
    [cli({ input: { args: ['a\0'] } }), /:2: .*NUL/],
    [cli({ input: { args: ['\ud800'] } }), /:2: .*surrogates/],
    [cli({ input: { files: { '../x': '' } } }), /:2: .*"\.\.\/x"/],
    [cli({ input: { files: { '/etc/x': '' } } }), /:2: .*relative/],
    [cli({ expect: { stdout: { kind: 'matches', pattern: '(' } } }), /:2: pattern/],
    [cli({ expect: { stderr: { kind: 'matches', pattern: '(a)\\1' } } }), /:2: pattern/],
    [cli({ expect: { exitCode: 256 } }), /:2: .*exitCode/s],
  ]
  for (const [line, message] of rows) t.throws(() => parse(`${cli({ id: 'first' })}\n${line}\n`), { code: 'TASK_INVALID', message }, line)
  t.throws(() => parse('\n\n'), { code: 'TASK_INVALID', message: /no case/ })
  t.throws(() => parse(cli({}), 'function'), { code: 'TASK_INVALID' })
})
