// The link against a scripted warden in memory: queueing, cancelling, and every way in which a peer can fail.
import t from 'tap'
import { defer } from '../../../src/base/defer.ts'
import type { Command } from '../../../src/sandbox/command.ts'
import { fields } from '../../../src/sandbox/warden/fields.ts'
import { TYPES, type Frame } from '../../../src/sandbox/warden/frame.ts'
import { openWarden, type Warden } from '../../../src/sandbox/warden/link.ts'
import { Peer } from './support/peer.ts'

const COMMAND: Command = { script: 'true', timeoutMs: 60_000, outputBytes: 1000 }
const READY = fields([1, 4], [1, 4], [41, 4], [0, 4], [0, 4])
const RESULT = Buffer.concat([
  fields([0, 1], [0, 1], [0, 1], [0, 1], [1000, 8], [0, 8], [0, 8], [0, 8], [1, 2]),
  fields([0, 4], [0, 4], [0, 8], [0, 4], [0, 4], [0, 8]),
  Buffer.from('/'),
])

await t.test('requests continue after the last result that the warden keeps', async t => {
  const { warden, seen } = await open((peer, frame) => peer.reply(TYPES.result, frame.seq, RESULT))
  t.equal((await warden.run(COMMAND)).cwd, '/')
  t.same(seen.map(({ type, seq }) => [type, seq]), [[TYPES.hello, 1], [TYPES.run, 42]])
})

await t.test('calls wait for one another', async t => {
  let running = 0
  const { warden } = await open((peer, frame) => {
    t.equal(++running, 1)
    setImmediate(() => {
      running -= 1
      peer.reply(TYPES.result, frame.seq, RESULT)
    })
  })
  await Promise.all([warden.run(COMMAND), warden.run(COMMAND), warden.run(COMMAND)])
})

await t.test('an aborted signal is told to the warden, and the result is what it then says', async t => {
  const controller = new AbortController()
  const cancelled = Buffer.from(RESULT)
  cancelled[0] = 3
  const { warden } = await open((peer, frame) => {
    if (frame.type === TYPES.run) setImmediate(() => controller.abort())
    else if (frame.type === TYPES.cancel) peer.reply(TYPES.result, frame.seq, cancelled)
  })
  t.same((await warden.run(COMMAND, { signal: controller.signal })).ending, { kind: 'cancelled' })
})

await t.test('a signal that aborts while others are served gives up its turn and nothing else', async t => {
  const asked = defer<Frame>()
  const { warden, seen, peer } = await open((_peer, frame) => asked.resolve(frame))
  const first = warden.run(COMMAND)
  const controller = new AbortController()
  const second = warden.run(COMMAND, { signal: controller.signal })
  controller.abort(new Error('changed my mind'))
  await t.rejects(second, { message: 'changed my mind' })
  peer.reply(TYPES.result, (await asked.promise).seq, RESULT)
  await first
  t.same(seen.map(({ type }) => type), [TYPES.hello, TYPES.run])
})

await t.test('a reply in parts is joined; a lost part is a fault that ends the conversation', async t => {
  const { warden } = await open((peer, frame) => {
    peer.reply(TYPES.result, frame.seq, RESULT.subarray(0, 10), { offset: 0, more: true })
    peer.reply(TYPES.result, frame.seq, RESULT.subarray(10), { offset: frame.seq === 42 ? 10 : 11, more: false })
  })
  await warden.run(COMMAND)
  await t.rejects(warden.run(COMMAND), { code: 'WARDEN_FAULT' })
  await warden.closed
  await t.rejects(warden.run(COMMAND), { code: 'WARDEN_FAULT' })
})

await t.test('output comes as it is printed', async t => {
  const chunks: string[] = []
  const { warden } = await open((peer, frame) => {
    peer.reply(TYPES.stdout, frame.seq, Buffer.from('hi'), { offset: 5, more: false })
    peer.reply(TYPES.stderr, frame.seq, Buffer.from('oh'))
    peer.reply(TYPES.stdout, frame.seq - 1, Buffer.from('of a former command'))
    peer.reply(TYPES.result, frame.seq, RESULT)
  })
  await warden.run(COMMAND, {
    onOutput: ({ stream, offset, bytes }) => chunks.push(`${stream} ${offset} ${Buffer.from(bytes).toString()}`),
  })
  t.same(chunks, ['stdout 5 hi', 'stderr 0 oh'])
})

await t.test('the end of the stream loses the sandbox for those who wait and those who come', async t => {
  const { warden, peer } = await open(() => setImmediate(() => peer.push(null)))
  await t.rejects(warden.run(COMMAND), { code: 'SANDBOX_LOST' })
  await warden.closed
  await t.rejects(warden.killAll(), { code: 'SANDBOX_LOST' })
})

await t.test('a reply larger than was asked for is a fault', async t => {
  const { warden } = await open((peer, frame) => {
    const part = Buffer.alloc(20_000)
    for (let i = 0; i < 10; i++) peer.reply(TYPES.result, frame.seq, part, { offset: i * part.length, more: true })
  })
  await t.rejects(warden.run(COMMAND), { code: 'WARDEN_FAULT' })
})

await t.test('a newer owner means the sandbox is lost for this one', async t => {
  const { warden } = await open((peer, frame) => peer.reply(TYPES.refused, frame.seq, Buffer.from('\x03taken over')))
  await t.rejects(warden.run(COMMAND), { code: 'SANDBOX_LOST', message: 'taken over' })
})

await t.test('a greeting that is refused, ignored or answered with nonsense leaves the stream destroyed', async t => {
  const refused = new Peer((peer, frame) => peer.reply(TYPES.refused, frame.seq, Buffer.from('\x05no rights')))
  await t.rejects(greet(refused), { code: 'WARDEN_FAULT', message: 'no rights' })
  t.ok(refused.destroyed)
  const nonsense = new Peer((peer, frame) => peer.reply(TYPES.ready, frame.seq, Buffer.from('??')))
  await t.rejects(greet(nonsense), { code: 'WARDEN_FAULT' })
  const controller = new AbortController()
  const silent = new Peer(() => controller.abort(new Error('enough')))
  await t.rejects(greet(silent, controller.signal), { message: 'enough' })
  t.ok(silent.destroyed)
})

await t.test('a large put waits for the stream to drain', async t => {
  let bytes = 0
  const { warden, peer } = await open((own, frame) => {
    bytes += frame.payload.length
    if (!frame.more) own.reply(TYPES.records, frame.seq, fields([255, 2], [0, 2], [0, 4], [0, 8]))
  })
  await warden.put('/w', [{ type: 'file', path: 'big', mode: 0o644, content: Buffer.alloc(3 << 20) }])
  t.ok(bytes > 3 << 20)
  t.ok(peer.mostBuffered < 1 << 20, `${peer.mostBuffered} bytes were buffered`)
})

interface Opened { warden: Warden, peer: Peer, seen: Frame[] }

async function open (answer: (peer: Peer, frame: Frame) => void): Promise<Opened> {
  const peer = new Peer((own, frame) => {
    if (frame.type === TYPES.hello) own.reply(TYPES.ready, frame.seq, READY)
    else answer(own, frame)
  })
  return { warden: await greet(peer), peer, seen: peer.seen }
}

async function greet (peer: Peer, signal?: AbortSignal): Promise<Warden> {
  return await openWarden(peer, { epoch: 1, uid: 0, gid: 0, workdir: '/', signal })
}
