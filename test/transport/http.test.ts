// The HTTP mirror: the same operations and errors, as requests and JSON.
import { createHash } from 'node:crypto'
import { request as httpRequest } from 'node:http'
import t from 'tap'
import { manualClock, systemClock } from '../../src/base/clock.ts'
import { defer } from '../../src/base/defer.ts'
import { AssayError } from '../../src/errors.ts'
import { OPERATIONS } from '../../src/protocol/index.ts'
import { Keyring } from '../../src/transport/keys.ts'
import { eventually, scriptedService, startTransport, type Frame } from './harness.ts'

const step = { episode: 'e', lease: 'l', seq: 1, action: { type: 'exec', command: 'true' } }

const body = async (response: Response): Promise<Frame> => await response.json() as Frame

t.test('every operation of the table has a route', async t => {
  await using server = await startTransport()
  for (const [op, { built }] of Object.entries(OPERATIONS)) {
    const answer = await body(await server.post(op, { surprise: 1 }))
    t.match(answer, { ok: false, error: { code: built ? 'INVALID_PARAMS' : 'NOT_IMPLEMENTED' } }, op)
  }
})

t.test('a body is the parameters; none stands for none; the answer is the result', async t => {
  const service = scriptedService(async (_op, params) => ({ params }))
  await using server = await startTransport({ service })
  const answers = [
    await server.post('tasks.list', { limit: 3 }),
    await server.post('tasks.list'),
    await server.post('tasks.list', undefined, { headers: { 'content-type': 'application/json; charset=utf-8' } }),
  ]
  const expected = [3, 100, 100].map(limit => ({ ok: true, result: { params: { limit } } }))
  t.same(await Promise.all(answers.map(body)), expected)
  t.equal(answers[0]?.headers.get('content-type'), 'application/json; charset=utf-8')
  t.equal(service.calls[0]?.context.connection, undefined)
})

t.test('bytes are text when they are UTF-8, else base64, both ways', async t => {
  const raw = Buffer.from([0xff, 0x00, 0x80])
  const service = scriptedService(async () => ({ committed: 1, observation: { stdout: raw, stderr: Buffer.from('é') } }))
  await using server = await startTransport({ service })
  const action = { type: 'exec', command: 'cat', stdin: { base64: raw.toString('base64') } }
  const answer = await body(await server.post('step', { ...step, action }))
  t.same(answer['result'], { committed: 1, observation: { stdout: { base64: '/wCA' }, stderr: 'é' } })
  t.same((service.calls[0]?.params['action'] as { stdin: unknown }).stdin, raw)
})

t.test('bad requests get the code and status of the table and a sentence', async t => {
  await using server = await startTransport({ config: { frameBytes: 1000 } })
  const json = { 'content-type': 'application/json' }
  const cases: Array<[string, Promise<Response>, number, string, RegExp]> = [
    ['unknown op', server.post('stepp', {}), 404, 'UNKNOWN_OP', /"stepp"; did you mean "step"/],
    ['path outside', fetch(`${server.httpUrl}/step`), 404, 'UNKNOWN_OP', /POST \/v1\/<op>/],
    ['wrong method', fetch(`${server.httpUrl}/v1/step?key=k`), 404, 'UNKNOWN_OP', /step is called with POST, not GET/],
    ['malformed JSON', server.post('info', undefined, { body: '{"a":', headers: json }), 400, 'BAD_FRAME', /not one JSON object/],
    ['not UTF-8', server.post('info', undefined, { body: Buffer.from([0x22, 0xff]), headers: json }), 400, 'BAD_FRAME', /UTF-8/],
    ['no object', server.post('info', [1]), 400, 'INVALID_PARAMS', /expected object/],
    ['a form', server.post('info', undefined, { body: new URLSearchParams({ a: 'b' }) }), 400, 'BAD_FRAME', /Content-Type: application\/json/],
    ['too large', server.post('info', { a: 'x'.repeat(2000) }), 413, 'FRAME_TOO_LARGE', /frameBytes/],
    ['wrong type', server.post('step', { ...step, seq: 'one' }), 400, 'INVALID_PARAMS', /step: seq: .*expected/],
  ]
  for (const [title, sent, status, code, message] of cases) {
    const response = await sent
    t.equal(response.status, status, title)
    t.match(await body(response), { ok: false, error: { code, message } }, title)
  }
  t.same(server.lines.filter(line => line.level === 'error'), [])
})

t.test('faults of the service keep code, status, details and retry-after', async t => {
  const service = scriptedService(async () => {
    throw new AssayError('QUEUE_FULL', { message: 'Full; wait.', retryAfterMs: 1500, details: { committed: 4 } })
  })
  await using server = await startTransport({ service })
  const response = await server.post('reset', { task: 'a', requestKey: 'k' })
  t.equal(response.status, 503)
  t.equal(response.headers.get('retry-after'), '2')
  t.same(await body(response), {
    ok: false,
    error: { code: 'QUEUE_FULL', blame: 'capacity', retry: 'same', retryAfterMs: 1500, message: 'Full; wait.', details: { committed: 4 } },
  })
})

t.test('reset, step and submit answer pending when they take long; the same request goes on waiting', async t => {
  const clock = manualClock()
  const work = defer<unknown>()
  const service = scriptedService(async () => await work.promise)
  await using server = await startTransport({ service, clock, pendingMs: 50_000 })
  const first = server.post('step', step)
  await eventually(() => service.calls.length === 1)
  t.equal(service.calls[0]?.context.signal.aborted, false)
  clock.advance(50_000)
  t.same(await body(await first), { ok: true, result: { pending: true } })
  t.equal(service.calls[0]?.context.signal.aborted, true, 'this caller no longer waits')
  const again = server.post('step', step)
  await eventually(() => service.calls.length === 2)
  work.resolve({ committed: 1, observation: {} })
  t.same(await body(await again), { ok: true, result: { committed: 1, observation: {} } })
})

t.test('other operations are never answered with pending', async t => {
  const clock = manualClock()
  const work = defer<unknown>()
  const service = scriptedService(async () => await work.promise)
  await using server = await startTransport({ service, clock, pendingMs: 1000 })
  const asked = server.post('info')
  await eventually(() => service.calls.length === 1)
  clock.advance(2000)
  work.resolve({ late: true })
  t.same(await body(await asked), { ok: true, result: { late: true } })
})

t.test('a caller that goes away aborts its signal', async t => {
  const service = scriptedService(async (_op, _params, { signal }) => await new Promise((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
  }))
  await using server = await startTransport({ service })
  const asked = httpRequest(`${server.httpUrl}/v1/info`, { method: 'POST' }).on('error', () => {})
  asked.end()
  await eventually(() => service.calls.length === 1)
  asked.destroy()
  await eventually(() => service.calls[0]?.context.signal.aborted === true)
  t.same(server.lines.filter(line => line.level === 'error'), [])
})

t.test('a request needs a known key before its body is read', async t => {
  const sha256 = createHash('sha256').update('right').digest('hex')
  const entry = { name: 'a', sha256, scopes: ['eval' as const], classes: ['eval' as const], splits: ['val' as const] }
  const keys = new Keyring([entry], { episodesPerKey: 1 }, systemClock)
  await using server = await startTransport({ keys, config: { frameBytes: 100 } })
  for (const authorization of ['', 'Bearer wrong', 'Basic right', 'Bearer']) {
    const response = await server.post('info', undefined, { headers: { authorization }, body: 'x'.repeat(5000) })
    t.equal(response.status, 401, authorization)
    t.match(await body(response), { ok: false, error: { code: 'UNAUTHENTICATED' } })
  }
  t.equal((await fetch(`${server.httpUrl}/v1/info?key=right`, { method: 'POST' })).status, 401, 'a URL is no place for a key')
  t.equal((await server.post('info', undefined, { headers: { authorization: 'bearer right' } })).status, 200)
})
