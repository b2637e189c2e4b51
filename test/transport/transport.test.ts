// The assembled transport: both mouths answer alike, and it closes by itself.
import t from 'tap'
import { AssayError } from '../../src/errors.ts'
import { bytesToJson } from '../../src/protocol/index.ts'
import { connect, scriptedService, startTransport } from './harness.ts'

t.test('msgpack, JSON and HTTP give the same answers to the same requests', async t => {
  const raw = Buffer.from([0xff, 0x41])
  const service = scriptedService(async (op, params) => {
    if (op === 'status') throw new AssayError('EPISODE_NOT_FOUND', { details: { episode: params['episode'] } })
    return { committed: 0, stdout: raw, rewards: [1, 0, null], nested: { text: 'é', half: 0.5 } }
  })
  await using server = await startTransport({ service })
  await using msgpack = await connect(server.wsUrl, ['assay.v1.msgpack'])
  await using json = await connect(server.wsUrl, ['assay.v1.json'])
  const requests: Array<[string, Record<string, unknown>]> = [
    ['info', {}], ['status', { episode: 'x' }], ['status', { episode: 7 }], ['nope', {}], ['fork', {}], ['verify', { episode: 'e' }],
  ]
  for (const [op, params] of requests) {
    const http = await (await server.post(op, params)).json() as object
    const { id: _a, ...viaJson } = await json.request(op, params)
    const { id: _b, ...viaMsgpack } = await msgpack.request(op, params)
    t.same(viaJson, http, op)
    t.same(JSON.parse(JSON.stringify(viaMsgpack, asJson)), http, op)
  }
})

t.test('an app that nobody used closes at once', async t => {
  const server = await startTransport()
  await server.app.close()
  await t.rejects(fetch(`${server.httpUrl}/healthz`))
})

function asJson (this: unknown, key: string, value: unknown): unknown {
  const original = (this as Record<string, unknown>)[key]
  return original instanceof Uint8Array ? bytesToJson(original) : value
}
