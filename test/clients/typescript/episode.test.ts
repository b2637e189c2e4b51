import t from 'tap'
import { connect, text } from '../../../clients/typescript/index.ts'
import { AssayError } from '../../../src/errors.ts'
import { SILENCE, scriptedServer, type Answer, type Request } from '../scripted-server.ts'
import { tinyEnvironment } from '../tiny-environment.ts'

const seqs = (requests: Request[]): unknown[] => requests.filter(({ op }) => op === 'step' || op === 'submit').map(({ seq }) => seq)

for (const encoding of ['msgpack', 'json'] as const) {
  t.test(`over ${encoding}, steps take seqs in order and their bytes are bytes`, async t => {
    await using server = await scriptedServer(tinyEnvironment(() => 1).answer)
    await using client = await connect(server.url, { encoding })
    await using episode = await client.reset({ task: 'a', requestKey: 'k' })
    t.equal(episode.instruction, 'do it')
    const observations = await Promise.all(['echo ö', 'two', 'three'].map(async command => await episode.step(command)))
    t.same(observations.map(({ stdout }) => text(stdout)), ['echo ö', 'two', 'three'])
    t.ok(observations[0]?.stdout instanceof Uint8Array)
    const verdict = await episode.submit()
    t.equal(verdict.reward, 1)
    t.equal(episode.isDone, true)
    t.same(seqs(server.requests), [1, 2, 3, 4], 'steps called at once run one after another')
  })
}

t.test('a repeated submit returns the verdict it has, without a request', async t => {
  await using server = await scriptedServer(tinyEnvironment(() => 0).answer)
  await using client = await connect(server.url)
  await using episode = await client.reset({ task: 'a', requestKey: 'k' })
  t.equal(await episode.submit({ truncated: 'turns' }), await episode.submit())
  t.same(server.requests.filter(({ op }) => op === 'submit').map(({ truncated }) => truncated), ['turns'])
})

t.test('after a deadline the same step is sent again under the same seq', async t => {
  const { answer } = tinyEnvironment(() => 1)
  let isFirst = true
  await using server = await scriptedServer(lose(answer, 'step', () => isFirst && !(isFirst = false)))
  await using client = await connect(server.url)
  await using episode = await client.reset({ task: 'a', requestKey: 'k' })
  await t.rejects(episode.step('make', { timeoutMs: 20 }), { code: 'DEADLINE' })
  await episode.step('make')
  t.same(seqs(server.requests), [1, 1])
})

t.test('an error that names the committed seq puts the next step right', async t => {
  const { answer } = tinyEnvironment(() => 1)
  const conflict: Answer = (request, talk) => {
    if (request.op === 'step' && request['seq'] === 1) throw new AssayError('SEQ_CONFLICT', { details: { committed: 1 } })
    return request.op === 'step' ? { committed: request['seq'], observation: { exitCode: 0 } } : answer(request, talk)
  }
  await using server = await scriptedServer(conflict)
  await using client = await connect(server.url)
  await using episode = await client.reset({ task: 'a', requestKey: 'k' })
  await t.rejects(episode.step('other'), { code: 'SEQ_CONFLICT' })
  await episode.step('other')
  t.same(seqs(server.requests), [1, 2])
})

t.test('a final observation ends the episode, and submit returns what the server submitted', async t => {
  const { answer } = tinyEnvironment(() => 0)
  await using server = await scriptedServer((request, talk) => request.op === 'step'
    ? { committed: 0, observation: { exitCode: 0, final: true } }
    : answer(request, talk))
  await using client = await connect(server.url)
  await using episode = await client.reset({ task: 'a', requestKey: 'k' })
  await episode.step('last one')
  t.equal(episode.isDone, true)
  t.equal((await episode.submit()).reward, 0)
})

t.test('resume takes the new lease and the committed seq', async t => {
  const { answer } = tinyEnvironment(() => 1)
  await using server = await scriptedServer((request, talk) => request.op === 'resume'
    ? { episode: request['episode'], lease: 'l2', committed: 7, state: 'ready', last: { seq: 7, observation: { stdout: Buffer.from('seven') } } }
    : request.op === 'step' ? { committed: request['seq'], observation: {} } : answer(request, talk))
  await using client = await connect(server.url, { encoding: 'json' })
  await using episode = await client.reset({ task: 'a', requestKey: 'k' })
  const { last } = await episode.resume()
  t.equal(text(last?.observation?.stdout), 'seven')
  t.ok(last?.observation?.stdout instanceof Uint8Array)
  await episode.step('eight')
  t.match(server.requests.at(-1), { seq: 8, lease: 'l2' })
})

t.test('disposal closes an attempt without a verdict, and only such', async t => {
  await using server = await scriptedServer(tinyEnvironment(() => 1).answer)
  await using client = await connect(server.url)
  {
    await using left = await client.reset({ task: 'a', requestKey: 'left' })
    await using done = await client.reset({ task: 'a', requestKey: 'done' })
    await done.submit()
    t.not(left.isDone, true)
  }
  t.equal(server.requests.filter(({ op }) => op === 'close').length, 1)
})

t.test('disposal does not throw when the connection is gone', async t => {
  await using server = await scriptedServer(tinyEnvironment(() => 1).answer)
  const client = await connect(server.url)
  const episode = await client.reset({ task: 'a', requestKey: 'k' })
  await client.close()
  await t.resolves(episode[Symbol.asyncDispose]())
})

function lose (answer: Answer, op: string, isLost: () => boolean): Answer {
  return (request, talk) => request.op === op && isLost() ? SILENCE : answer(request, talk)
}
