// What one WebSocket does with frames, limits, slow readers and its own end.
import t from 'tap'
import { manualClock } from '../../src/base/clock.ts'
import { defer, type Deferred } from '../../src/base/defer.ts'
import { AssayError } from '../../src/errors.ts'
import type { EpisodeId } from '../../src/protocol/index.ts'
import { connect, eventually, scriptedService, startTransport, type Client } from './harness.ts'

const step = (command: string) => ({ episode: 'e', lease: 'l', seq: 1, action: { type: 'exec', command } })

/** A service whose answers are let go by name of the command. */
function held () {
  const waiting = new Map<string, Deferred<unknown>>()
  const service = scriptedService(async (op, params) => {
    if (op !== 'step') return { op }
    const answer = defer<unknown>()
    waiting.set((params['action'] as { command: string }).command, answer)
    return await answer.promise
  })
  return { service, waiting, release: (command: string, value: unknown) => waiting.get(command)?.resolve(value) }
}

t.test('many requests are in flight at once, and replies come in the order in which they are ready', async t => {
  const { service, waiting, release } = held()
  await using server = await startTransport({ service })
  await using client = await connect(server.wsUrl)
  for (const id of ['a', 'b', 'c']) client.send({ id, op: 'step', ...step(id) })
  await eventually(() => waiting.size === 3)
  t.match(await client.request('info'), { ok: true, result: { op: 'info' } }, 'a later request overtakes them')
  release('c', 3)
  t.same(await client.frame(), { id: 'c', ok: true, result: 3 })
  release('a', 1)
  release('b', 2)
  t.same([await client.frame(), await client.frame()], [{ id: 'a', ok: true, result: 1 }, { id: 'b', ok: true, result: 2 }])
})

t.test('ids are echoed as sent: text and integers are different ids', async t => {
  const { service, waiting, release } = held()
  await using server = await startTransport({ service })
  await using client = await connect(server.wsUrl, ['assay.v1.json'])
  client.send({ id: 1, op: 'step', ...step('number') })
  client.send({ id: '1', op: 'step', ...step('text') })
  await eventually(() => waiting.size === 2)
  release('text', 'of text')
  t.same(await client.frame(), { id: '1', ok: true, result: 'of text' })
  release('number', 'of number')
  t.same(await client.frame(), { id: 1, ok: true, result: 'of number' })
})

t.test('an id that is in flight cannot be used again, and the first request is not disturbed', async t => {
  const { service, waiting, release } = held()
  await using server = await startTransport({ service })
  await using client = await connect(server.wsUrl)
  client.send({ id: 7, op: 'step', ...step('first') })
  await eventually(() => waiting.size === 1)
  client.send({ id: 7, op: 'info' })
  t.match(await client.frame(), { id: null, ok: false, error: { code: 'BAD_FRAME', message: /id 7 .* in flight/, details: { id: 7 } } })
  release('first', 'done')
  t.same(await client.frame(), { id: 7, ok: true, result: 'done' })
  client.send({ id: 7, op: 'info' })
  t.match(await client.frame(), { id: 7, ok: true }, 'once answered, the id is free')
})

t.test('a request past the in-flight limit is refused under its own id', async t => {
  const { service, waiting, release } = held()
  await using server = await startTransport({ service, config: { inFlightPerSocket: 2 } })
  await using client = await connect(server.wsUrl)
  await using other = await connect(server.wsUrl)
  client.send({ id: 'a', op: 'step', ...step('a') })
  client.send({ id: 'b', op: 'step', ...step('b') })
  client.send({ id: 'c', op: 'info' })
  t.match(await client.frame(), {
    id: 'c', ok: false, error: { code: 'TOO_MANY_IN_FLIGHT', retry: 'same', retryAfterMs: Number, details: { inFlightPerSocket: 2 } },
  })
  t.match(await other.request('info'), { ok: true }, 'the limit is of each socket')
  t.equal(waiting.size, 2)
  release('a', 1)
  await client.frame()
  t.match(await client.request('info'), { ok: true })
})

t.test('frames that are no request are refused with a sentence, and the socket stays usable', async t => {
  await using server = await startTransport({ service: scriptedService(async () => ({ fine: true })) })
  await using msgpack = await connect(server.wsUrl)
  await using json = await connect(server.wsUrl, ['assay.v1.json'])
  const packed = (message: unknown): Uint8Array => msgpack.codec.encode(message) as Uint8Array
  const cases: Array<[string, Client, string | Uint8Array, RegExp, unknown?]> = [
    ['a text frame on msgpack', msgpack, '{"id":1,"op":"info"}', /speaks msgpack/],
    ['a torn msgpack frame', msgpack, packed({ id: 1, op: 'info', text: 'x'.repeat(99) }).subarray(0, 40), /whole msgpack/],
    ['two msgpack messages', msgpack, Buffer.concat([packed({ id: 1, op: 'info' }), packed(1)]), /whole msgpack/],
    ['binary garbage', msgpack, Buffer.from('c1ff00d9ee93c4', 'hex'), /whole msgpack/],
    ['an empty frame', msgpack, new Uint8Array(0), /whole msgpack/],
    ['a msgpack date', msgpack, Buffer.from('83a26964a131a26f70a4696e666fa178d6ff00000000', 'hex'), /extension type/],
    ['a msgpack number', msgpack, packed(12), /object \{id, op/],
    ['msgpack bytes', msgpack, packed(Buffer.from('hello')), /object \{id, op/],
    ['a binary frame on json', json, Buffer.from('{"id":1,"op":"info"}'), /speaks JSON/],
    ['a torn JSON text', json, '{"id":1,"op":"in', /whole JSON/],
    ['JSON null', json, 'null', /object \{id, op/],
    ['a JSON array', json, '[]', /object \{id, op/],
    ['JSON nested without end', json, '['.repeat(100_000) + ']'.repeat(100_000), /nests deeper/],
    ['no id', json, '{"op":"info"}', /needs an id/],
    ['a fractional id', json, '{"id":1.5,"op":"info"}', /needs an id/],
    ['an id of 129 characters', json, JSON.stringify({ id: 'x'.repeat(129), op: 'info' }), /needs an id/],
    ['no op', json, '{"id":9}', /needs op/, 9],
    ['an op that is no text', json, '{"id":"n","op":3}', /needs op/, 'n'],
  ]
  for (const [title, client, data, message, id = null] of cases) {
    client.ws.send(data)
    t.match(await client.frame(), { id, ok: false, error: { code: 'BAD_FRAME', blame: 'caller', retry: 'never', message } }, title)
  }
  for (const client of [msgpack, json]) t.match(await client.request('info'), { ok: true, result: { fine: true } })
})

t.test('a text frame that is not UTF-8 is refused, and the socket stays usable', async t => {
  await using server = await startTransport()
  await using client = await connect(server.wsUrl, ['assay.v1.json'])
  client.ws.send(Buffer.from([0x22, 0xff, 0xfe, 0x22]), { binary: false })
  t.match(await client.frame(), { id: null, error: { code: 'BAD_FRAME', message: /UTF-8/ } })
  t.match(await client.request('info'), { ok: true })
})

t.test('twenty bad frames in a row end the socket; a good one in between starts the count anew', async t => {
  const service = scriptedService(async () => ({}))
  await using server = await startTransport({ service })
  await using client = await connect(server.wsUrl)
  const garbage = (times: number): void => { for (let i = 0; i < times; i++) client.ws.send(Buffer.from([0xc1])) }
  garbage(19)
  t.match(await client.request('info'), { ok: true })
  garbage(19)
  t.match(await client.request('info'), { ok: true })
  garbage(20)
  client.send({ id: 'late', op: 'info' })
  t.same(await client.end(), { code: 1008, reason: '20 bad frames in a row' })
  t.equal(service.calls.length, 2, 'nothing is handled after that')
})

t.test('an oversized message is explained, then the socket ends with 1009; others are undisturbed', async t => {
  await using server = await startTransport({ config: { frameBytes: 1000 } })
  await using client = await connect(server.wsUrl)
  await using other = await connect(server.wsUrl)
  client.send({ id: 1, op: 'info', padding: 'x'.repeat(2000) })
  t.match(await client.frame(), { id: null, ok: false, error: { code: 'FRAME_TOO_LARGE', message: /1000 bytes .* send less/ } })
  t.match(await client.end(), { code: 1009, reason: /1000 bytes/ })
  t.match(await other.request('info'), { ok: true })
})

t.test('a peer that breaks the WebSocket protocol itself loses its socket only', async t => {
  const service = scriptedService(async () => ({}))
  await using server = await startTransport({ service })
  await using client = await connect(server.wsUrl)
  await using other = await connect(server.wsUrl)
  ;(client.ws as unknown as { _socket: NodeJS.WritableStream })._socket.write(Buffer.from('ff00ff00ff00', 'hex'))
  t.equal((await client.end()).code, 1002)
  t.match(await other.request('info'), { ok: true })
  await eventually(() => service.gone.length === 1)
})

t.test('a slow reader is refused new requests and loses output events, never replies', async t => {
  const { service, waiting, release } = held()
  await using server = await startTransport({ service, config: { sendBufferBytes: 4_000_000, frameBytes: 32_000_000 } })
  await using client = await connect(server.wsUrl)
  client.send({ id: 'big', op: 'step', ...step('big') })
  client.send({ id: 'owed', op: 'step', ...step('owed') })
  await eventually(() => waiting.size === 2)
  const { connection } = service.calls[0]?.context ?? {}
  client.ws.pause()
  release('big', Buffer.alloc(12_000_000))
  await eventually(() => service.calls.length === 2)
  client.send({ id: 'refused', op: 'info' })
  await eventually(async () => await server.answered('unknown', 'SLOW_READER') === 1)
  const output = { event: 'output', episode: 'e' as EpisodeId, stream: 'stdout', bytes: Buffer.from('lost') } as const
  for (let offset = 0; offset < 5; offset++) connection?.emit({ ...output, offset })
  connection?.emit({ event: 'goaway', deadlineMs: 1 })
  release('owed', 'paid')
  client.ws.resume()
  t.match(await client.frame(), { id: 'big', ok: true })
  t.match(await client.frame(), { id: 'refused', ok: false, error: { code: 'SLOW_READER', retry: 'same', retryAfterMs: Number } })
  t.match(await client.frame(), { event: 'goaway' }, 'other events are kept')
  t.same(await client.frame(), { id: 'owed', ok: true, result: 'paid' })
  t.equal((await server.metrics.droppedEvents.get()).values[0]?.value, 5)
  connection?.emit({ ...output, offset: 9 })
  t.match(await client.frame(), { event: 'output', offset: 9 }, 'once it reads again, it gets output again')
})

t.test('a reader that never reads is ended at a ceiling', async t => {
  const service = scriptedService(async () => Buffer.alloc(1_000_000))
  await using server = await startTransport({ service, config: { sendBufferBytes: 1_000_000 } })
  await using client = await connect(server.wsUrl)
  client.ws.pause()
  for (let id = 0; id < 40; id++) client.send({ id, op: 'info' })
  await eventually(() => service.gone.length === 1)
  t.pass('the server let go of it')
})

t.test('two unanswered pings end the socket; a peer that answers keeps it', async t => {
  const clock = manualClock()
  const service = scriptedService(async () => ({}))
  await using server = await startTransport({ service, clock, config: { pingMs: 1000 } })
  await using alive = await connect(server.wsUrl)
  await using dead = await connect(server.wsUrl, ['assay.v1.msgpack'], { autoPong: false })
  let pings = 0
  alive.ws.on('ping', () => { pings++ })
  for (let beat = 1; beat <= 2; beat++) {
    clock.advance(1000)
    await eventually(() => pings === beat)
    await alive.request('info') // its pong is in before this
    t.equal(dead.closed, undefined)
  }
  clock.advance(1000)
  t.equal((await dead.end()).code, 1006)
  t.match(await alive.request('info'), { ok: true })
  await eventually(() => service.gone.length === 1)
})

t.test('when a socket goes, the service is told, signals abort, and late answers go nowhere', async t => {
  const { service, waiting, release } = held()
  await using server = await startTransport({ service })
  const client = await connect(server.wsUrl)
  client.send({ id: 1, op: 'step', ...step('long') })
  await eventually(() => waiting.size === 1)
  const context = service.calls[0]?.context
  t.equal(context?.signal.aborted, false)
  t.equal((await server.metrics.sockets.get()).values[0]?.value, 1)
  client.ws.terminate()
  await eventually(() => service.gone.length === 1)
  t.equal(service.gone[0], context?.connection)
  t.equal(context?.signal.aborted, true)
  t.ok(context?.signal.reason instanceof AssayError)
  release('long', 'late')
  context?.connection?.emit({ event: 'goaway', deadlineMs: 1 })
  await new Promise(setImmediate)
  t.equal((await server.metrics.sockets.get()).values[0]?.value, 0)
  t.same(server.lines.filter(line => line.level === 'error'), [])
})

t.test('thousands of waiting requests cost no warning', async t => {
  const warnings: Error[] = []
  const onWarning = (warning: Error): void => { warnings.push(warning) }
  process.on('warning', onWarning)
  t.teardown(() => process.off('warning', onWarning))
  const service = scriptedService(async (_op, _params, { signal }) => await new Promise((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
  }))
  await using server = await startTransport({ service })
  const client = await connect(server.wsUrl)
  for (let id = 0; id < 2000; id++) client.send({ id, op: 'info' })
  await eventually(() => service.calls.length === 2000)
  await client[Symbol.asyncDispose]()
  await eventually(() => service.gone.length === 1)
  t.same(warnings, [])
  t.same(server.lines.filter(line => line.level === 'error'), [], 'requests cut off by their caller are no bugs')
})

t.test('an answer that cannot be encoded is a bug of ours: INTERNAL, logged', async t => {
  const circular: Record<string, unknown> = {}
  circular['self'] = circular
  await using server = await startTransport({ service: scriptedService(async () => circular) })
  await using client = await connect(server.wsUrl, ['assay.v1.json'])
  t.match(await client.request('info'), { ok: false, error: { code: 'INTERNAL' } })
  t.match(server.lines.filter(line => line.level === 'error'), [{ message: 'message could not be encoded', err: TypeError }])
})

t.test('bytes that are not UTF-8 arrive unharmed in both encodings, both ways', async t => {
  const raw = Buffer.from([0xff, 0x00, 0xc3, 0x28, 0xe2])
  const service = scriptedService(async (_op, params) => ({
    committed: 1,
    observation: { stdout: (params['action'] as { stdin: Uint8Array }).stdin, stderr: Buffer.from('é\n'), cwd: undefined },
  }))
  await using server = await startTransport({ service })
  await using msgpack = await connect(server.wsUrl)
  await using json = await connect(server.wsUrl, ['assay.v1.json'])
  const sent = (stdin: unknown) => ({ ...step('cat'), action: { type: 'exec', command: 'cat', stdin } })
  const packed = await msgpack.request('step', sent(raw))
  t.same(packed['result'], { committed: 1, observation: { stdout: raw, stderr: Buffer.from('é\n') } })
  const text = await json.request('step', sent({ base64: raw.toString('base64') }))
  t.same(text['result'], { committed: 1, observation: { stdout: { base64: raw.toString('base64') }, stderr: 'é\n' } })
  for (const call of service.calls) t.same((call.params['action'] as { stdin: unknown }).stdin, raw)
})
