// Opening, ending and authenticating WebSockets.
import { createHash } from 'node:crypto'
import { createConnection } from 'node:net'
import t from 'tap'
import { systemClock } from '../../src/base/clock.ts'
import { Keyring } from '../../src/transport/keys.ts'
import { chooseSubprotocol } from '../../src/transport/ws.ts'
import { connect, eventually, refusedUpgrade, scriptedService, startTransport } from './harness.ts'

const sha256 = (key: string): string => createHash('sha256').update(key).digest('hex')

function keyring (): Keyring {
  const entry = { name: 'trainer', sha256: sha256('s3cret+&='), scopes: ['train' as const], classes: ['train' as const], splits: ['train' as const] }
  return new Keyring([entry], { episodesPerKey: 7 }, systemClock)
}

t.test('the first of the offered subprotocols that is known is chosen', async t => {
  t.equal(chooseSubprotocol(['other', 'assay.v1.json', 'assay.v1.msgpack']), 'assay.v1.json')
  t.equal(chooseSubprotocol(['assay.v2.json', 'toString']), false)
})

t.test('a socket speaks the negotiated subprotocol', async t => {
  await using server = await startTransport({ service: scriptedService(async () => ({ here: true })) })
  for (const protocol of ['assay.v1.msgpack', 'assay.v1.json']) {
    await using client = await connect(server.wsUrl, ['unknown', protocol])
    t.equal(client.ws.protocol, protocol)
    t.match(await client.request('info'), { ok: true, result: { here: true } })
  }
})

t.test('an upgrade that offers no known subprotocol is refused with a sentence', async t => {
  await using server = await startTransport()
  for (const protocols of [[], ['assay.v2.msgpack']]) {
    const { status, body } = await refusedUpgrade(server.wsUrl, protocols)
    t.equal(status, 400)
    t.match(body, { ok: false, error: { code: 'BAD_FRAME', message: /assay\.v1\.msgpack, assay\.v1\.json/ } })
  }
})

t.test('a plain GET of the WebSocket path says what it is for', async t => {
  await using server = await startTransport()
  const response = await fetch(`${server.httpUrl}/v1/ws`)
  t.equal(response.status, 400)
  t.match(await response.json(), { ok: false, error: { code: 'BAD_FRAME', message: /Upgrade/ } })
})

t.test('a key opens a socket by header or query, and its principal goes to the service', async t => {
  const service = scriptedService(async () => ({}))
  await using server = await startTransport({ service, keys: keyring() })
  await using byHeader = await connect(server.wsUrl, ['assay.v1.json'], { headers: { authorization: 'Bearer s3cret+&=' } })
  await byHeader.request('info')
  await using byQuery = await connect(`${server.wsUrl}?key=${encodeURIComponent('s3cret+&=')}`)
  await byQuery.request('info')
  t.same(service.calls.map(call => call.context.principal.name), ['trainer', 'trainer'])
  t.match(service.calls[0]?.context.principal, { maxEpisodes: 7, splits: ['train'] })
})

t.test('an upgrade without a known key is refused, and no key is ever logged', async t => {
  await using server = await startTransport({ keys: keyring() })
  for (const url of [server.wsUrl, `${server.wsUrl}?key=wrong-key`, `${server.wsUrl}?key=a&key=b`]) {
    const { status, body } = await refusedUpgrade(url, ['assay.v1.json'])
    t.equal(status, 401)
    t.match(body, { ok: false, error: { code: 'UNAUTHENTICATED', message: /Bearer/ } })
  }
  await using client = await connect(`${server.wsUrl}?key=${encodeURIComponent('s3cret+&=')}`)
  client.ws.send('garbage on the wrong kind of frame')
  await client.frame()
  t.notMatch(JSON.stringify(server.lines), /s3cret|wrong-key|key=/)
})

t.test('without keys, a web page of another site cannot open a socket', async t => {
  await using server = await startTransport()
  const foreign = [{ origin: 'https://evil.example' }, { origin: 'null' }, { host: 'rebound.example:7480' }]
  for (const headers of foreign) {
    const { status, body } = await refusedUpgrade(server.wsUrl, ['assay.v1.json'], { headers })
    t.equal(status, 403)
    t.match(body, { error: { code: 'FORBIDDEN', message: /loopback/ } })
  }
  await using local = await connect(server.wsUrl, ['assay.v1.json'], { headers: { origin: 'http://localhost:3000' } })
  t.match(await local.request('info'), { ok: true })
})

t.test('a message sent with the upgrade itself is answered', async t => {
  await using server = await startTransport({ service: scriptedService(async () => ({ early: true })) })
  const socket = createConnection(Number(new URL(server.httpUrl).port), '127.0.0.1')
  let received = ''
  socket.setEncoding('latin1').on('data', text => { received += text })
  const request = Buffer.from('{"id":"first","op":"info"}')
  const handshake = [
    'GET /v1/ws HTTP/1.1', 'Host: localhost', 'Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13',
    'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==', 'Sec-WebSocket-Protocol: assay.v1.json', '', '',
  ].join('\r\n')
  socket.write(Buffer.concat([Buffer.from(handshake), Buffer.from([0x81, 0x80 | request.length, 0, 0, 0, 0]), request]))
  await eventually(() => received.includes('{"id":"first","ok":true,"result":{"early":true}}'))
  t.match(received, /^HTTP\/1.1 101 /)
  socket.destroy()
})

t.test('close says goaway, drains while sockets still answer, then ends every socket with 1001', async t => {
  const service = scriptedService(async () => ({}))
  const server = await startTransport({ service, config: { drainMs: 4321 } })
  await using client = await connect(server.wsUrl)
  let finish = (): void => {}
  let drained = false
  service.onDrain = async () => {
    await new Promise<void>(resolve => { finish = resolve })
    drained = true
  }
  const closing = server.app.close()
  t.match(await client.frame(), { event: 'goaway', deadlineMs: 4321 })
  t.match(await client.request('info'), { ok: true }, 'requests are answered while draining')
  t.match(await (await server.post('info')).json(), { ok: true }, 'over HTTP too')
  t.equal(client.closed, undefined)
  await eventually(() => { finish(); return drained })
  t.same(await client.end(), { code: 1001, reason: 'the server stops' })
  await closing
  t.equal(service.gone.length, 1)
})

t.test('a socket whose peer does not answer the close is cut', async t => {
  const service = scriptedService(async () => ({}))
  const server = await startTransport({ service })
  await using client = await connect(server.wsUrl)
  client.ws.pause() // reads no close frame, so it never answers it
  await server.app.close()
  t.equal(service.gone.length, 1)
})

t.test('drain is cut off at drainMs, and one that fails does not keep the server from closing', async t => {
  const service = scriptedService(async () => ({}))
  const server = await startTransport({ service, config: { drainMs: 20 } })
  service.onDrain = async signal => {
    await new Promise<void>(resolve => signal.addEventListener('abort', () => resolve(), { once: true }))
    throw new Error('drain broke')
  }
  await server.app.close()
  t.match(server.lines, [{ level: 'error', message: 'drain failed' }])
})
