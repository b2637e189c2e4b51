// Each bad input of a careless or hostile client gets a code and a sentence, and an episode beside it notices nothing.
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { WebSocket } from 'ws'
import { connect, text, type Episode } from '../../clients/typescript/index.ts'
import type { ErrorCode } from '../../src/errors.ts'
import { createCodec } from '../../src/protocol/index.ts'
import { testServer } from '../helpers/server.ts'

const TASK = 'fake-answer'
const codec = createCodec('msgpack')

interface Failure {
  id: string | number | null
  ok: boolean
  error?: { code: ErrorCode, message: string, details?: Record<string, unknown> }
}

/** Sends what no client would and reads one answer. */
async function raw (url: string, data: Buffer | string): Promise<Failure> {
  const socket = new WebSocket(url, 'assay.v1.msgpack')
  await once(socket, 'open')
  try {
    socket.send(data)
    const [answer] = await once(socket, 'message', { signal: AbortSignal.timeout(5_000) }) as [Buffer]
    return codec.decode(answer) as Failure
  } finally {
    socket.terminate()
  }
}

const frame = (message: unknown): Buffer => Buffer.from(codec.encode(message) as Uint8Array)

type Refusal = { code: ErrorCode, message: RegExp }

async function refused (t: Test, promise: Promise<unknown>, expected: Refusal): Promise<void> {
  t.match(await promise.then(() => undefined, (thrown: unknown) => thrown), expected)
}

async function answers (t: Test, bystander: Episode): Promise<void> {
  const { stdout } = await bystander.step('echo still here')
  t.equal(text(stdout), 'still here\n', 'the episode beside it is undisturbed')
}

await t.test('frames that are no requests', async t => {
  await using app = await testServer({ frameBytes: 65_536 })
  await using client = await connect(app.url)
  await using bystander = await client.reset({ task: TASK, requestKey: 'bystander' })
  const whole = frame({ id: 1, op: 'info' })
  const cases: Array<[string, Buffer | string, ErrorCode, RegExp]> = [
    ['binary garbage', Buffer.from([0xc1, 0xff, 0x00, 0xc1]), 'BAD_FRAME', /one whole msgpack message/],
    ['a torn frame', whole.subarray(0, whole.length - 2), 'BAD_FRAME', /one whole msgpack message/],
    ['two messages in one frame', Buffer.concat([whole, whole]), 'BAD_FRAME', /one message per/],
    ['text on a msgpack socket', '{"id":1,"op":"info"}', 'BAD_FRAME', /binary frames/],
    ['a list', frame([1, 2]), 'BAD_FRAME', /object/],
    ['no id', frame({ op: 'info' }), 'BAD_FRAME', /needs an id/],
    ['an oversized frame', Buffer.alloc(70_000, 0xc0), 'FRAME_TOO_LARGE', /65536/],
    ['an unknown operation', frame({ id: 'a', op: 'rest' }), 'UNKNOWN_OP', /did you mean "reset"/],
    ['an operation that is not built', frame({ id: 'a', op: 'fork', episode: 'x', lease: 'y' }), 'NOT_IMPLEMENTED', /not offer/],
    ['a wrong type', frame({ id: 'a', op: 'step', episode: 'x', lease: 'y', seq: 1, action: { type: 'exec', command: 7 } }), 'INVALID_PARAMS', /action\.command/],
    ['an unknown field', frame({ id: 'a', op: 'info', verbose: true }), 'INVALID_PARAMS', /verbose/],
    ['half a reset', frame({ id: 'a', op: 'reset', group: 'g' }), 'INVALID_PARAMS', /member: required with group/],
  ]
  for (const [name, data, code, sentence] of cases) {
    const { ok, error } = await raw(app.url, data)
    t.equal(ok, false, name)
    t.equal(error?.code, code, name)
    t.match(error?.message, sentence, name)
  }
  await answers(t, bystander)
})

await t.test('ids that lead nowhere', async t => {
  await using app = await testServer({ maxPlaces: 8 })
  await using client = await connect(app.url)
  await using bystander = await client.reset({ task: TASK, requestKey: 'bystander' })
  await refused(t, client.reset({ task: 'no-such-task', requestKey: 'k' }), { code: 'TASK_NOT_FOUND', message: /tasks\.list/ })
  const { ok, error } = await raw(app.url, frame({ id: 1, op: 'status', episode: 'ep_n1_zzz' }))
  t.equal(ok, false)
  t.equal(error?.code, 'EPISODE_NOT_FOUND')
  const group = await raw(app.url, frame({ id: 1, op: 'group.get', group: 'gr_n1_zzz' }))
  t.equal(group.error?.code, 'GROUP_NOT_FOUND')
  const { places } = await client.info()
  await refused(t, client.openGroup({ task: TASK, size: 4096, concurrency: places.total + 1 }), { code: 'GROUP_TOO_LARGE', message: /concurrency/ })
  await answers(t, bystander)
})

await t.test('the seqs and leases of an episode', async t => {
  await using app = await testServer()
  await using client = await connect(app.url)
  await using other = await connect(app.url)
  await using bystander = await client.reset({ task: TASK, requestKey: 'bystander' })
  await using episode = await client.reset({ task: TASK, requestKey: 'mine' })
  const step = async (params: Record<string, unknown>): Promise<Failure> =>
    await raw(app.url, frame({ id: 1, op: 'step', episode: episode.id, lease: episode.lease, action: { type: 'exec', command: 'echo one' }, ...params }))
  t.match(await step({ seq: 1 }), { ok: true, result: { committed: 1 } })
  t.match(await step({ seq: 1 }), { ok: true, result: { committed: 1, replayed: true } })
  t.match(await step({ seq: 1, action: { type: 'exec', command: 'echo two' } }), { error: { code: 'SEQ_CONFLICT', details: { committed: 1 } } })
  t.match(await step({ seq: 3 }), { error: { code: 'SEQ_GAP', message: /committed \+ 1/ } })
  t.match(await step({ seq: 2 }), { ok: true, result: { committed: 2 } })
  t.match(await step({ seq: 1 }), { error: { code: 'SEQ_EXPIRED' } })
  const again = await other.reset({ task: TASK, requestKey: 'mine' })
  t.equal(again.id, episode.id, 'the same episode')
  t.match(await step({ seq: 3 }), { error: { code: 'FENCED' } }, 'the older lease is fenced')
  const verdict = await again.submit()
  t.equal(verdict.reward, 0)
  await refused(t, again.step('echo late'), { code: 'EPISODE_DONE', message: /verdict/ })
  await again.close()
  await refused(t, other.reset({ task: TASK, requestKey: 'mine' }), { code: 'EPISODE_CLOSED', message: /closed/ })
  await answers(t, bystander)
})

await t.test('another key\'s episode is not there, and a train key sees no val task', async t => {
  const keys = ['alpha', 'beta'].map(key => ({
    name: key, sha256: createHash('sha256').update(key).digest('hex'), scopes: ['train'], classes: ['train', 'eval'], splits: ['train'],
  }))
  const keysFile = join(t.testdir({}), 'keys.json')
  await writeFile(keysFile, JSON.stringify(keys))
  await using app = await testServer({ keysFile })
  await refused(t, connect(app.url), { code: 'UNAUTHENTICATED', message: /Bearer/ })
  await refused(t, connect(app.url, { key: 'gamma' }), { code: 'UNAUTHENTICATED', message: /known key/ })
  await using alpha = await connect(app.url, { key: 'alpha' })
  await using beta = await connect(app.url, { key: 'beta' })
  await using episode = await alpha.reset({ task: TASK, requestKey: 'k' })
  await using own = await beta.reset({ task: TASK, requestKey: 'k' })
  t.not(own.id, episode.id, 'request keys belong to their key')
  const response = await fetch(`${app.server.httpUrl}/v1/status`, {
    method: 'POST',
    headers: { authorization: 'Bearer beta', 'content-type': 'application/json' },
    body: JSON.stringify({ episode: episode.id }),
  })
  t.equal(response.status, 404)
  t.match(await response.json(), { ok: false, error: { code: 'EPISODE_NOT_FOUND', message: /key/ } })
  await refused(t, alpha.openGroup({ task: TASK, class: 'load' }), { code: 'FORBIDDEN', message: /class/ })
  await answers(t, episode)
})
