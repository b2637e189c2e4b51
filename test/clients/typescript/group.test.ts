import t from 'tap'
import { connect } from '../../../clients/typescript/index.ts'
import { collect } from '../../../clients/typescript/examples/grpo.ts'
import { orAbort } from '../../../src/base/deadline.ts'
import { defer } from '../../../src/base/defer.ts'
import { AssayError } from '../../../src/errors.ts'
import { scriptedServer, type Answer, type Request } from '../scripted-server.ts'
import { tinyEnvironment, type Judge } from '../tiny-environment.ts'

const attemptsOf = (requests: Request[], member: number): unknown[] =>
  requests.filter(({ op, member: of }) => op === 'reset' && of === member).map(({ attempt }) => attempt)

t.test('run drives every member and returns rewards, usable and episodes of shape [size]', async t => {
  await using server = await scriptedServer(tinyEnvironment(({ member }) => member === 0 ? 1 : 0).answer)
  await using client = await connect(server.url)
  await using group = await client.openGroup({ task: 'a', size: 4 })
  const { rewards, usable, episodes } = await group.run(async episode => { await episode.step('true') })
  t.same(rewards, [1, 0, 0, 0])
  t.same(usable, [true, true, true, true])
  t.same(episodes.map(({ member }) => member), [0, 1, 2, 3])
})

t.test('members are driven at the same time', async t => {
  await using server = await scriptedServer(tinyEnvironment(() => 1).answer)
  await using client = await connect(server.url)
  await using group = await client.openGroup({ task: 'a', size: 4 })
  const all = defer<void>()
  let inside = 0
  await group.run(async () => {
    if (++inside === 4) all.resolve()
    await all.promise
  })
  t.equal(inside, 4)
})

t.test('a void attempt is refilled until it has a reward', async t => {
  const judge: Judge = ({ member, attempt }) => member === 2 && attempt < 2 ? null : 1
  await using server = await scriptedServer(tinyEnvironment(judge).answer)
  await using client = await connect(server.url)
  await using group = await client.openGroup({ task: 'a', size: 4 })
  const seen: unknown[] = []
  const { rewards, episodes } = await group.run(async () => {}, {
    onVerdict: ({ reward }, { member }) => { if (member === 2) seen.push(reward) },
  })
  t.same(rewards, [1, 1, 1, 1])
  t.same(attemptsOf(server.requests, 2), [0, 1, 2])
  t.equal(episodes[2]?.attempt, 2)
  t.same(seen, [null, null, 1])
})

t.test('a member whose attempts all end void has a null reward, never 0', async t => {
  await using server = await scriptedServer(tinyEnvironment(({ member }) => member === 1 ? null : 1).answer)
  await using client = await connect(server.url)
  await using group = await client.openGroup({ task: 'a', size: 4 })
  const { rewards, usable } = await group.run(async () => {}, { attempts: 2 })
  t.same(rewards, [1, null, 1, 1])
  t.same(usable, [true, false, true, true])
  t.same(attemptsOf(server.requests, 1), [0, 1])
})

t.test('a sandbox that is lost during a step is refilled as well', async t => {
  const { answer } = tinyEnvironment(() => 1)
  const losing: Answer = (request, talk) => {
    if (request.op === 'step' && String(request['episode']).endsWith('3x0')) throw new AssayError('SANDBOX_LOST')
    return answer(request, talk)
  }
  await using server = await scriptedServer(losing)
  await using client = await connect(server.url)
  await using group = await client.openGroup({ task: 'a', size: 4 })
  const { rewards } = await group.run(async episode => { await episode.step('true') })
  t.same(rewards, [1, 1, 1, 1])
  t.same(attemptsOf(server.requests, 3), [0, 1])
})

t.test('a server that gives no further attempt leaves the member at its void', async t => {
  const { answer } = tinyEnvironment(() => null)
  await using server = await scriptedServer((request, talk) => {
    if (request.op === 'reset' && request['attempt'] === 1) throw new AssayError('ATTEMPT_ILLEGAL')
    return answer(request, talk)
  })
  await using client = await connect(server.url)
  await using group = await client.openGroup({ task: 'a', size: 4 })
  t.same((await group.run(async () => {})).rewards, [null, null, null, null])
})

t.test('an error of the policy stops the others, closes its episode and is thrown', async t => {
  await using server = await scriptedServer(tinyEnvironment(() => 1).answer)
  await using client = await connect(server.url)
  await using group = await client.openGroup({ task: 'a', size: 4 })
  const run = group.run(async (_episode, { member, signal }) => {
    if (member === 1) throw new Error('a bug in the policy')
    await orAbort(new Promise(() => {}), signal)
  })
  await t.rejects(run, { message: 'a bug in the policy' })
  t.ok(server.requests.some(({ op, episode }) => op === 'close' && episode === 'ep_n1_1x0'))
})

t.test('the run ends with the reason of the signal that aborts it', async t => {
  await using server = await scriptedServer(tinyEnvironment(() => 1).answer)
  await using client = await connect(server.url)
  await using group = await client.openGroup({ task: 'a', size: 4 })
  const stop = new AbortController()
  const run = group.run(async () => { stop.abort(new Error('stop it')) }, { signal: stop.signal })
  await t.rejects(run, { message: 'stop it' })
})

t.test('a group that is left open is aborted by its disposal', async t => {
  await using server = await scriptedServer(tinyEnvironment(() => 1).answer)
  await using client = await connect(server.url)
  {
    await using group = await client.openGroup({ task: 'a', size: 4 })
    t.throws(() => group.member(4), RangeError)
  }
  t.match(server.requests.at(-1), { op: 'group.close', abort: true })
})

t.test('the GRPO example turns rewards into advantages and leaves void members out', async t => {
  const judge: Judge = ({ member, commands }) =>
    member === 3 ? null : commands.includes('solve') ? 1 : 0
  await using server = await scriptedServer(tinyEnvironment(judge).answer)
  const advantages = await collect(server.url, 'a', {
    size: 4,
    model: async (transcript, { member }) => transcript.includes('$') ? undefined : member === 0 ? 'solve' : 'idle',
  })
  t.equal(advantages[3], null)
  t.ok((advantages[0] ?? 0) > 1.4 && (advantages[1] ?? 0) < -0.7)
})
