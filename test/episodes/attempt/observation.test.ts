import t from 'tap'
import { receivedBytes, toCommand, toObservation } from '../../../src/episodes/attempt/observation.ts'
import { NOTHING_SPENT } from '../../../src/episodes/budget.ts'
import { Observation, type Budgets } from '../../../src/protocol/index.ts'
import type { Ending, Ran } from '../../../src/sandbox/command.ts'

const output = (text: string, droppedBytes = 0) => ({ bytes: Buffer.from(text), headBytes: text.length, droppedBytes })
const ran = (changes: Partial<Ran> = {}): Ran => ({
  ending: { kind: 'exited', exitCode: 0 }, stdout: output('out'), stderr: output('err'), durationMs: 5, cwd: '/desk', oomKilled: false, warnings: [], ...changes,
})
const budgets: Budgets = { onBudget: 'verify' }
const facts = { merge: false, budgets, spent: NOTHING_SPENT, isFinal: false }

t.test('an action\'s own limit goes before the task\'s, and neither passes the command time that is left', async t => {
  const limits = { timeoutMs: 1000, outputBytes: 50, execMsLeft: undefined }
  t.equal(toCommand({ type: 'exec', command: 'ls' }, limits).timeoutMs, 1000)
  t.equal(toCommand({ type: 'exec', command: 'ls', timeoutMs: 7 }, limits).timeoutMs, 7)
  t.equal(toCommand({ type: 'exec', command: 'ls', timeoutMs: 700 }, { ...limits, execMsLeft: 99.5 }).timeoutMs, 100)
  t.equal(toCommand({ type: 'exec', command: 'ls' }, { ...limits, execMsLeft: 0 }).timeoutMs, 1)
  const action = { type: 'exec', command: 'cat', stdin: Buffer.from('x'), cwd: '/tmp', env: { A: '1' }, merge: true } as const
  t.match(toCommand(action, limits), { script: 'cat', stdin: Buffer.from('x'), cwd: '/tmp', env: { A: '1' }, merge: true, outputBytes: 50 })
})

t.test('each ending is one field', async t => {
  const endings: Array<[Ending, object]> = [
    [{ kind: 'exited', exitCode: 3 }, { exitCode: 3 }],
    [{ kind: 'signalled', signal: 'SIGSEGV' }, { signal: 'SIGSEGV' }],
    [{ kind: 'timedOut' }, { timedOut: true }],
    [{ kind: 'cancelled' }, { cancelled: true }],
  ]
  for (const [ending, expected] of endings) {
    const { exitCode, signal, timedOut, cancelled } = toObservation(ran({ ending }), facts)
    t.same(JSON.parse(JSON.stringify({ exitCode, signal, timedOut, cancelled })), expected)
  }
})

t.test('what did not happen is absent', async t => {
  const observation = toObservation(ran(), facts)
  t.same(Object.keys(observation).sort(), ['budgetLeft', 'cwd', 'durationMs', 'exitCode', 'stderr', 'stdout'])
  t.same(Observation.parse(observation), observation)
  t.notOk('stderr' in toObservation(ran(), { ...facts, merge: true }))
})

t.test('dropped output, memory, warnings and the end of a budget are said', async t => {
  const observation = toObservation(ran({ stderr: output('er', 7), oomKilled: true, warnings: ['A was not carried over.'] }), {
    ...facts, budgets: { steps: 3, onBudget: 'verify' }, spent: { ...NOTHING_SPENT, steps: 2 },
  })
  t.match(observation, {
    dropped: { stdoutBytes: 0, stderrBytes: 7 },
    headBytes: { stdout: 3, stderr: 2 },
    oomKilled: true,
    budgetLeft: { steps: 1 },
    warnings: ['A was not carried over.', /^One step is left/],
  })
  const final = toObservation(ran(), { ...facts, budgets: { steps: 1, tokens: 10, onBudget: 'verify' }, spent: { ...NOTHING_SPENT, steps: 1, tokens: 9 }, isFinal: true })
  t.equal(final.final, true)
  t.notOk('warnings' in final, 'the last step warns of nothing')
})

t.test('only bytes that arrived are charged', async t => {
  t.equal(receivedBytes(ran({ stdout: output('abc', 1000) })), 6)
})
