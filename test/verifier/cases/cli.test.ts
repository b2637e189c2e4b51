import { execFileSync } from 'node:child_process'
import t from 'tap'
import { CliCase } from '../../../src/tasks/cases.ts'
import { probeCli, quote } from '../../../src/verifier/cases/cli.ts'
import { ran } from '../scripted.ts'

const probe = (input: unknown, expect: unknown) => probeCli(CliCase.parse({ id: 'c', requirement: 1, input, expect }), 'prog --flag')

await t.test('arguments reach a program exactly, whatever they hold', async t => {
  const nasty = ['', ' ', 'a b', '$(touch /tmp/x)', '`id`', '\'', '\'\'"', '\\', '\n', '*', '~', '-n', '!x', '#c', '\u0001', 'é\u{1F600}', '\'; exit 3; \'']
  for (const shell of ['bash', 'sh']) {
    const script = `printf '%s\\0' ${nasty.map(quote).join(' ')}`
    t.same(execFileSync(shell, ['-c', script]).toString().split('\0').slice(0, -1), nasty, shell)
  }
})

await t.test('a case becomes a command, with parents of its files before them', async t => {
  const { script, stdin, entries } = probe({ args: ['a b'], stdin: 'in', files: { 'x/y/z': 'text', w: '' } }, {})
  t.equal(script, 'prog --flag \'a b\'')
  t.equal(Buffer.from(stdin ?? []).toString(), 'in')
  t.same(entries.map(({ type, path }) => [type, path]), [['directory', 'x'], ['directory', 'x/y'], ['file', 'x/y/z'], ['file', 'w']])
  t.equal(probe({}, {}).stdin, undefined)
})

await t.test('exit code and both streams decide', async t => {
  const { judge } = probe({}, { exitCode: 2, stdout: { kind: 'equals', value: '' }, stderr: { kind: 'matches', pattern: '.*bad.*' } })
  t.equal(judge(ran({ exitCode: 2, stderr: 'so bad\n' })), undefined)
  t.match(judge(ran({ exitCode: 0, stderr: 'so bad\n' })), /exited with 0 instead of 2/)
  t.match(judge(ran({ exitCode: 2, stdout: 'x', stderr: 'bad' })), /stdout expected/)
  t.match(judge(ran({ exitCode: 2, stderr: 'good' })), /stderr does not match/)
  t.match(judge({ ...ran({}), ending: { kind: 'signalled', signal: 'SIGKILL' } }), /SIGKILL/)
})
