// Beyond what the service contract covers: corners of one episode that need its parts in hand.
import t from 'tap'
import { refusal, defer, until } from '../helpers/fake.ts'
import { startService } from '../helpers/service.ts'

const exec = (command: string) => ({ type: 'exec', command }) as const

t.test('an abort during verification answers the submit with the void verdict', async t => {
  await using app = await startService()
  const caller = app.connect()
  const { group } = await caller.call('group.open', { task: 'answer', size: 1 })
  const { episode, lease } = await caller.call('reset', { group, member: 0 })
  app.verifier.gate = defer()
  const submitting = caller.call('submit', { episode, lease, seq: 1 })
  await until(() => app.verifier.submissions.length === 1)
  await caller.call('group.close', { group, abort: true })
  t.match(await submitting, { verdict: { reward: null, reason: 'cancelled' } })
  await until(() => app.pool.stats().used === 0)
})

t.test('a close that waits for the running verification keeps its reward', async t => {
  await using app = await startService()
  const caller = app.connect()
  const { group } = await caller.call('group.open', { task: 'answer', size: 1 })
  const { episode, lease } = await caller.call('reset', { group, member: 0 })
  await caller.call('step', { episode, lease, seq: 1, action: exec('write answer.txt 42') })
  app.verifier.gate = defer()
  const submitting = caller.call('submit', { episode, lease, seq: 2 })
  await until(() => app.verifier.submissions.length === 1)
  const closing = caller.call('group.close', { group })
  app.verifier.gate.resolve()
  t.match(await submitting, { verdict: { reward: 1 } })
  t.match(await closing, { state: 'closed', rewards: [1], balance: { solved: 1, live: 0 } })
})

t.test('the client may submit while the server submits after the last step', async t => {
  await using app = await startService()
  const caller = app.connect()
  const { episode, lease } = await caller.call('reset', { task: 'answer', requestKey: 'k', budgets: { steps: 1 } })
  app.verifier.gate = defer()
  const { observation } = await caller.call('step', { episode, lease, seq: 1, action: exec('true') })
  t.equal(observation.final, true)
  await until(() => app.verifier.submissions.length === 1)
  t.match(await refusal(caller.call('step', { episode, lease, seq: 2, action: exec('true') }), 'EPISODE_DONE'), { message: /is submitted/ })
  const replay = await caller.call('step', { episode, lease, seq: 1, action: exec('true') })
  t.match(replay, { replayed: true, committed: 1, observation: { final: true } })
  const submitting = caller.call('submit', { episode, lease, seq: 2, truncated: 'tokens' })
  app.verifier.gate.resolve()
  t.match(await submitting, { committed: 2, verdict: { truncated: 'budget_steps' } })
})

t.test('an episode may be closed while it waits, steps or verifies, and its sandbox is gone when close answers', async t => {
  await using app = await startService()
  const caller = app.connect()
  const stepping = await caller.call('reset', { task: 'answer', requestKey: 'stepping' })
  const step = caller.call('step', { episode: stepping.episode, lease: stepping.lease, seq: 1, action: exec('sleep 9000') })
  const refused = refusal(step, 'EPISODE_CLOSED')
  await caller.call('close', { episode: stepping.episode, lease: stepping.lease })
  t.match(await refused, { details: { committed: 0 } })
  const verifying = await caller.call('reset', { task: 'answer', requestKey: 'verifying' })
  app.verifier.gate = defer()
  const submitting = caller.call('submit', { episode: verifying.episode, lease: verifying.lease, seq: 1 })
  await until(() => app.verifier.submissions.length === 1)
  await caller.call('close', { episode: verifying.episode, lease: verifying.lease })
  t.match(await submitting, { verdict: { reason: 'cancelled' } })
  t.equal(app.pool.stats().used, 0)
})

t.test('the command time left bounds the command, and its end exhausts the budget', async t => {
  await using app = await startService()
  const caller = app.connect()
  const { episode, lease } = await caller.call('reset', { task: 'answer', requestKey: 'k', budgets: { execMs: 40 } })
  const step = caller.call('step', { episode, lease, seq: 1, action: exec('sleep 9000') })
  await until(() => app.pool.stats().used === 1)
  app.clock.advance(40) // the server's own clock is what is charged
  t.match((await step).observation, { timedOut: true, final: true, budgetLeft: { execMs: 0 } })
  t.match((await caller.call('submit', { episode, lease, seq: 2 })).verdict, { truncated: 'budget_exec' })
})

t.test('a step whose sandbox fails on a bug of ours is an internal error and leaves no reward', async t => {
  await using app = await startService({ engine: { script: ({ script }) => { if (script === 'bug') throw new TypeError('a bug') } } })
  const caller = app.connect()
  const { episode, lease } = await caller.call('reset', { task: 'answer', requestKey: 'k' })
  await t.rejects(caller.call('step', { episode, lease, seq: 1, action: exec('bug') }), TypeError)
  t.match(await caller.call('status', { episode }), { state: 'void', verdict: { reward: null } })
})
