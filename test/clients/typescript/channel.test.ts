import t from 'tap'
import { connect, ConnectionLost } from '../../../clients/typescript/index.ts'
import { defer } from '../../../src/base/defer.ts'
import { AssayError } from '../../../src/errors.ts'
import { SILENCE, scriptedServer, type Talk } from '../scripted-server.ts'

t.test('replies find their request in whatever order they come', async t => {
  const waiting: Array<() => void> = []
  await using server = await scriptedServer(async request => {
    const { promise, resolve } = defer<void>()
    waiting.push(resolve)
    if (waiting.length === 3) for (const release of waiting.reverse()) release()
    await promise
    return { id: request['task'] }
  })
  await using client = await connect(server.url)
  const views = await Promise.all(['a', 'b', 'c'].map(async task => await client.tasks.get(task)))
  t.same(views.map(view => view.id), ['a', 'b', 'c'])
  t.equal(new Set(server.requests.map(request => request.id)).size, 3, 'each request has its own id')
})

t.test('a failure reply rejects with its code, sentence, details and retry', async t => {
  await using server = await scriptedServer(() => {
    throw new AssayError('QUEUE_FULL', { message: 'The queue is full.', details: { length: 9 }, retryAfterMs: 250 })
  })
  await using client = await connect(server.url, { encoding: 'json' })
  const error = await client.info().catch((thrown: unknown) => thrown)
  t.ok(error instanceof AssayError)
  t.match(error, { code: 'QUEUE_FULL', message: 'The queue is full.', details: { length: 9 }, retryAfterMs: 250, info: { retry: 'same', blame: 'capacity' } })
})

t.test('a code that the client does not know is INTERNAL and names it', async t => {
  await using server = await scriptedServer((request, talk) => {
    talk.send({ id: request.id, ok: false, error: { code: 'NEW_IN_V1_9', blame: 'server', retry: 'never', message: 'So it is.' } })
    return SILENCE
  })
  await using client = await connect(server.url)
  await t.rejects(client.info(), { code: 'INTERNAL', message: 'NEW_IN_V1_9: So it is.', details: { code: 'NEW_IN_V1_9' } })
})

t.test('a request that is not answered rejects at its deadline and disturbs no other', async t => {
  await using server = await scriptedServer(request => request.op === 'info' ? SILENCE : { id: 'a' })
  await using client = await connect(server.url)
  await t.rejects(client.info({ timeoutMs: 20 }), { code: 'DEADLINE' })
  t.equal((await client.tasks.get('a')).id, 'a')
})

t.test('an aborted signal rejects with its reason', async t => {
  await using server = await scriptedServer(() => SILENCE)
  await using client = await connect(server.url)
  const controller = new AbortController()
  const call = client.info({ signal: controller.signal })
  controller.abort(new Error('enough'))
  await t.rejects(call, { message: 'enough' })
})

t.test('a lost connection rejects every request in flight, and later ones', async t => {
  let talk: Talk | undefined
  await using server = await scriptedServer((_request, with_) => {
    talk = with_
    if (server.requests.length === 2) talk.drop()
    return SILENCE
  })
  await using client = await connect(server.url)
  const calls = await Promise.allSettled([client.info(), client.tasks.get('a')])
  for (const call of calls) t.ok(call.status === 'rejected' && call.reason instanceof ConnectionLost)
  t.match(await client.closed, { closeCode: 1006 })
  await t.rejects(client.info(), { name: 'ConnectionLost', closeCode: 1006 })
})

t.test('a frame that cannot be decoded ends the connection instead of a request waiting for ever', async t => {
  await using server = await scriptedServer((_request, talk) => { talk.raw('{'); return SILENCE })
  await using client = await connect(server.url, { encoding: 'json' })
  await t.rejects(client.info(), { name: 'ConnectionLost' })
})

t.test('the key travels in the Authorization header, never in the address', async t => {
  await using server = await scriptedServer(() => ({}))
  await using client = await connect(server.url, { key: 'secret' })
  await client.info()
  t.equal(server.upgrades[0]?.headers.authorization, 'Bearer secret')
  t.notMatch(server.upgrades[0]?.url, /secret/)
})

t.test('a refused upgrade throws the error that the server gave', async t => {
  await using server = await scriptedServer(() => ({}), { refuse: new AssayError('UNAUTHENTICATED') })
  await t.rejects(connect(server.url), { name: 'AssayError', code: 'UNAUTHENTICATED' })
})

t.test('nobody listening is ConnectionLost with the address', async t => {
  await t.rejects(connect('ws://127.0.0.1:9/v1/ws'), { name: 'ConnectionLost', message: /127\.0\.0\.1:9/ })
})

t.test('events reach every listener until it is disposed', async t => {
  await using server = await scriptedServer((request, talk) => {
    talk.send({ event: 'goaway', deadlineMs: 5 })
    talk.send({ event: 'output', episode: 'e', stream: 'stdout', offset: 0, bytes: Buffer.from([0xff]) })
    return { op: request.op }
  })
  await using client = await connect(server.url, { encoding: 'json' })
  const seen: unknown[] = []
  {
    using listener = client.onEvent(event => seen.push(event))
    await client.info()
    t.ok(listener)
  }
  await client.info()
  t.match(seen, [{ event: 'goaway' }, { event: 'output', bytes: Buffer.from([0xff]) }])
  t.equal(seen.length, 2)
})
