import t from 'tap'
import { connect, text, type Verdict } from '../../../clients/typescript/index.ts'
import { collect } from '../../../clients/typescript/examples/grpo.ts'
import { FAKE_TASKS } from '../../../src/cli/quickstart/fake-tasks.ts'
import { testServer } from '../../helpers/server.ts'

const SOLVE = 'echo "hello, world" > hello.txt && echo bye > bye.txt'

for (const encoding of ['msgpack', 'json'] as const) {
  t.test(`against the real server over ${encoding}, steps, verdict and report agree`, async t => {
    await using app = await testServer({ tasksDir: FAKE_TASKS })
    await using client = await connect(app.url, { encoding })
    t.match(await client.info(), { protocol: 'assay.v1', engine: 'fake' })
    await using group = await client.openGroup({ task: 'greet', size: 3 })
    const states: string[] = []
    using listener = group.onEvent(event => { if (event.event === 'member') states.push(event.state) })
    t.ok(listener)
    const { rewards, usable, episodes } = await group.run(async (episode, { member }) => {
      t.equal(text((await episode.step('echo ö')).stdout), 'ö\n')
      if (member !== 1) await episode.step(SOLVE)
    })
    t.same(rewards, [1, 0, 1])
    t.same(usable, [true, true, true])
    t.same((await group.get()).rewards, rewards)
    t.same(states.sort(), ['live', 'live', 'live', 'solved', 'solved', 'unsolved'])
    const verdict: Verdict | undefined = episodes[0]?.verdict
    t.match(verdict, { reason: 'verified', trainable: false, provenance: { task: 'greet', engine: 'fake' } })
  })
}

t.test('a repeated reset takes the episode over, and the older driver is fenced until it resumes', async t => {
  await using app = await testServer({ tasksDir: FAKE_TASKS })
  await using client = await connect(app.url)
  await using first = await client.reset({ task: 'greet', requestKey: 'k' })
  await first.step('echo 1')
  await using second = await client.reset({ task: 'greet', requestKey: 'k' })
  t.equal(second.id, first.id)
  t.equal(second.committed, 1)
  await t.rejects(first.step('echo 2'), { code: 'FENCED' })
  await second.step(SOLVE)
  t.equal((await second.submit()).reward, 1)
})

t.test('a step budget ends the episode, and submit returns the verdict of the server', async t => {
  await using app = await testServer({ tasksDir: FAKE_TASKS })
  await using client = await connect(app.url)
  await using episode = await client.reset({ task: 'greet', requestKey: 'k', budgets: { steps: 2 } })
  let steps = 0
  for (; !episode.isDone; steps++) await episode.step('ls')
  t.equal(steps, 2)
  t.match(await episode.submit(), { reward: 0, truncated: 'budget_steps' })
})

t.test('the GRPO example gives advantages of both signs', async t => {
  await using app = await testServer({ tasksDir: FAKE_TASKS })
  const advantages = await collect(app.url, 'greet', {
    size: 4,
    model: async (transcript, { member }) => transcript.includes('\n$ ') ? undefined : member === 0 ? SOLVE : 'ls',
  })
  t.ok((advantages[0] ?? 0) > 1, String(advantages))
  t.ok(advantages.slice(1).every(advantage => (advantage ?? 0) < 0), String(advantages))
})
