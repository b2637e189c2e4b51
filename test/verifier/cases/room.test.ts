import t from 'tap'
import { CaseRoom } from '../../../src/verifier/cases/room.ts'
import { answer, cliTask, ran, scriptedSandbox, spec } from '../scripted.ts'

const submission = (task = cliTask()) => ({ task, spec, delta: { entries: [], deleted: [] }, seed: 1 })

await t.test('each case has a directory of its own outside the workspace, and the last one\'s is gone before it', async t => {
  const sandbox = scriptedSandbox(answer, spec)
  const cases = [
    { id: 'a', requirement: 1, input: { args: ['1'], files: { 'in/x': 'one' } }, expect: { exitCode: 0 } },
    { id: 'b', requirement: 1, input: { args: ['2'] }, expect: { exitCode: 0 } },
  ]
  const task = cliTask({ cases })
  const room = new CaseRoom(sandbox, submission(task))
  const cwds: string[] = []
  for (const one of task.verifier.cases) {
    const { command } = await room.enter(one, {})
    cwds.push(command.cwd ?? '')
    t.equal(command.isolated, true)
    t.same(command.env, { WORKSPACE: '/app' })
  }
  const [first, second] = sandbox.puts.map(({ entries }) => entries)
  const name = cwds[0]?.split('/')[2]
  t.match(first?.map(({ type, path }) => `${type} ${path}`), [`directory ${name}`, `directory ${name}/cwd`, `directory ${name}/cwd/in`, `file ${name}/cwd/in/x`])
  t.match(second?.[0], { type: 'absent', path: name })
  t.not(cwds[0], cwds[1])
  t.ok(cwds.every(cwd => cwd.startsWith('/tmp/')))
  t.equal(sandbox.puts.every(({ root }) => root === '/tmp'), true)
})

await t.test('the runner lies read-only beside the case, new for each', async t => {
  const sandbox = scriptedSandbox(() => ran({}), spec)
  const task = { ...cliTask({ runner: { name: 'runner.py', content: Buffer.from('code') }, command: 'python3 "$RUNNER"' }), interface: 'function' as const }
  const room = new CaseRoom(sandbox, submission(task))
  const one = { id: 'a', requirement: 1, input: { n: 1 }, expect: { kind: 'equals', value: 2 } } as const
  for (let round = 0; round < 2; round++) {
    const { command } = await room.enter(one, {})
    const runner = sandbox.puts[round]?.entries.find(entry => entry.type === 'file')
    t.match(runner, { mode: 0o444 })
    t.equal(command.env?.['RUNNER'], `/tmp/${runner?.path}`)
    t.notMatch(command.cwd, runner?.path)
    t.notMatch(Buffer.from(command.stdin ?? []).toString(), 'equals')
  }
})

await t.test('leaving kills everything of the case', async t => {
  const sandbox = scriptedSandbox(answer, spec)
  await new CaseRoom(sandbox, submission()).leave({})
  t.same(sandbox.log, ['killAll'])
})
