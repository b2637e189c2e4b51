import t from 'tap'
import { connect } from '../../../clients/typescript/index.ts'
import type { Plan } from '../../../src/cli/quickstart/plan.ts'
import { rollOut } from '../../../src/cli/quickstart/rollout.ts'
import { writeCommands } from '../../../src/cli/quickstart/shell.ts'
import { scriptedServer } from '../../clients/scripted-server.ts'
import { tinyEnvironment } from '../../clients/tiny-environment.ts'

const solve: Plan = { kind: 'solve', name: 's', entries: [{ type: 'file', path: 'x', mode: 0o644, content: Buffer.from('right\n') }] }
const fail: Plan = { kind: 'fail', name: 'untouched', entries: [] }
const signal = new AbortController().signal

t.test('members act their plans out through steps, and right verdicts are no mismatch', async t => {
  const { answer } = tinyEnvironment(({ commands }) => commands.some(command => command.includes('right')) ? 1 : 0)
  await using server = await scriptedServer(answer)
  await using client = await connect(server.url)
  let seen = 0
  const rollout = await rollOut(client, 'a', { plans: [solve, fail, solve, fail], concurrency: 4, write: writeCommands, signal, onVerdict: count => { seen = count } })
  t.same(rollout.mismatches, [])
  t.equal(seen, 4)
  t.same(rollout.episodes.map(({ verdict }) => verdict?.reward), [1, 0, 1, 0])
  t.equal(rollout.latencies.submit.count, 4)
  t.ok(rollout.latencies.step.count >= 4 * 3)
})

t.test('a verdict that contradicts its plan is told with the member', async t => {
  await using server = await scriptedServer(tinyEnvironment(() => 1).answer)
  await using client = await connect(server.url)
  const { mismatches } = await rollOut(client, 'a', { plans: [solve, solve, fail, solve], concurrency: 4, write: writeCommands, signal, onVerdict () {} })
  t.match(mismatches, [/^member 2 \(fail: untouched\) must have reward 0, got reward 1/])
  t.equal(mismatches.length, 1)
})
