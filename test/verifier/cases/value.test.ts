import t from 'tap'
import { parseOutcome, probeValue } from '../../../src/verifier/cases/value.ts'
import { ran } from '../scripted.ts'

const line = '{"kind":"value","value":42}\n'

await t.test('exactly one line with one tagged value is a value', async t => {
  t.same(parseOutcome(line), { kind: 'value', value: 42 })
  t.same(parseOutcome('{"kind":"value","value":null}\n'), { kind: 'value', value: null })
  t.same(parseOutcome('{"kind":"error","type":"E","message":"m"}\n'), { kind: 'error', type: 'E', message: 'm' })
})

await t.test('everything else that comes back is a failure', async t => {
  const forged = [
    '', '\n', 'x', line.trim(), line + line, `${line}\n`, `noise\n${line}`, `${line}noise`, ` ${line} `, '42\n', 'null\n', '[]\n', '{}\n',
    '{"kind":"value"}\n', '{"kind":"value","value":1,"extra":2}\n', '{"kind":"error","type":"E"}\n', '{"kind":"error","type":1,"message":""}\n',
    '{"kind":"passed","value":1}\n', '{"kind":"value","value":NaN}\n', `${'['.repeat(200_000)}\n`,
  ]
  for (const text of forged) t.type(parseOutcome(text), 'string', JSON.stringify(text.slice(0, 60)))
})

await t.test('the runner gets the input alone and must end well', async t => {
  const { script, stdin, judge } = probeValue({ id: 'c', requirement: 1, input: { n: 6 }, expect: { kind: 'equals', value: 42 } }, 'run "$RUNNER"')
  t.equal(script, 'run "$RUNNER"')
  t.equal(Buffer.from(stdin ?? []).toString(), '{"input":{"n":6}}\n')
  t.equal(judge(ran({ stdout: line })), undefined)
  t.match(judge(ran({ stdout: line, exitCode: 1 })), /the runner exited with 1/)
  t.match(judge(ran({ stdout: '{"kind":"value","value":41}\n' })), /expected 42, got 41/)
  t.match(judge(ran({})), /no value/)
  const flood = ran({ stdout: line })
  t.match(judge({ ...flood, stdout: { ...flood.stdout, droppedBytes: 9 } }), /larger/)
})
