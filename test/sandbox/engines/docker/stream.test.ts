import { Duplex, PassThrough } from 'node:stream'
import { setImmediate as turn } from 'node:timers/promises'
import t from 'tap'
import { createFrameParser, demultiplex } from '../../../../src/sandbox/engines/docker/stream.ts'

/** A repeatable random number generator, so that a failure can be replayed by its seed. */
function randomOf (seed: number): (below: number) => number {
  let state = seed
  return below => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return Math.floor(state / 2 ** 32 * below)
  }
}

function frame (stream: 1 | 2, payload: Uint8Array): Buffer {
  const header = Buffer.alloc(8)
  header.writeUInt8(stream, 0)
  header.writeUInt32BE(payload.length, 4)
  return Buffer.concat([header, payload])
}

function * cut (bytes: Buffer, random: (below: number) => number, most: number): Generator<Buffer> {
  for (let at = 0; at < bytes.length;) {
    const next = at + 1 + random(most)
    yield bytes.subarray(at, next)
    at = next
  }
}

/** The two ends of a connection: what the daemon writes is what the engine reads, and the other way round. */
function connection (): { daemon: PassThrough, sent: Buffer[], socket: Duplex } {
  const daemon = new PassThrough()
  const sent: Buffer[] = []
  const socket = new Duplex({
    read () { daemon.resume() },
    write (chunk: Buffer, _encoding, done) { sent.push(chunk); done() },
  })
  daemon.on('data', chunk => { if (!socket.push(chunk)) daemon.pause() })
  daemon.on('end', () => socket.push(null))
  return { daemon, sent, socket }
}

async function readAll (stream: Duplex): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of stream) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks)
}

await t.test('any frames in any chunks come out whole and apart', async t => {
  for (let seed = 1; seed <= 200; seed++) {
    const random = randomOf(seed)
    const parser = createFrameParser()
    const expected = { stdout: [] as Buffer[], stderr: [] as Buffer[] }
    const frames = Array.from({ length: random(40) }, () => {
      const stream = random(3) === 0 ? 2 : 1
      const length = random(random(20) === 0 ? 5_000 : 12)
      const payload = Buffer.from(Array.from({ length }, () => random(256)))
      expected[stream === 1 ? 'stdout' : 'stderr'].push(payload)
      return frame(stream, payload)
    })
    const got = { stdout: [] as Uint8Array[], stderr: [] as Uint8Array[] }
    for (const chunk of cut(Buffer.concat(frames), random, 1 + random(300))) {
      for (const { stream, bytes } of parser.push(chunk)) got[stream].push(bytes)
    }
    const same = (stream: 'stdout' | 'stderr'): boolean => {
      return Buffer.concat(got[stream]).equals(Buffer.concat(expected[stream]))
    }
    if (!same('stdout') || !same('stderr') || !parser.isWhole()) t.fail(`seed ${seed}`)
  }
  t.pass('200 seeds')
})

await t.test('a hundred thousand one-byte frames in one chunk are taken apart without recursion', async t => {
  const chunk = Buffer.concat(Array.from({ length: 100_000 }, (_, i) => frame(1, Buffer.from([i % 256]))))
  const payloads = createFrameParser().push(chunk)
  t.equal(payloads.length, 100_000)
  t.equal(payloads.at(-1)?.bytes[0], 99_999 % 256)
})

await t.test('stdout is what is read, stderr goes aside, what is written is stdin', async t => {
  const { daemon, sent, socket } = connection()
  const aside: Uint8Array[] = []
  const stream = demultiplex(socket, { onStderr: bytes => aside.push(bytes) })
  daemon.end(Buffer.concat([frame(1, Buffer.from('out')), frame(2, Buffer.from('err')), frame(1, Buffer.from('put'))]))
  stream.write('in')
  t.equal((await readAll(stream)).toString(), 'output')
  t.equal(Buffer.concat(aside).toString(), 'err')
  t.equal(Buffer.concat(sent).toString(), 'in')
})

await t.test('a reader that stops makes the daemon stop, and loses nothing', async t => {
  const { daemon, socket } = connection()
  const stream = demultiplex(socket)
  const part = frame(1, Buffer.alloc(32 * 1024, 7))
  let written = 0
  while (written < 400 && daemon.write(part)) {
    written++
    await turn()
  }
  t.ok(written < 20, `the daemon is held back after ${written} frames`)
  daemon.end()
  const bytes = await readAll(stream)
  t.equal(bytes.length, (written + 1) * 32 * 1024)
})

await t.test('an end inside a frame, a bad header and a lost connection are errors, never a quiet end', async t => {
  const torn = connection()
  const tornStream = demultiplex(torn.socket)
  torn.daemon.end(frame(1, Buffer.from('whole')).subarray(0, 10))
  await t.rejects(readAll(tornStream), { name: 'StreamFault', message: /inside a frame/ })
  t.ok(torn.socket.destroyed)

  const bad = connection()
  const badStream = demultiplex(bad.socket)
  bad.daemon.end('HTTP/1.1 500 Internal')
  await t.rejects(readAll(badStream), { name: 'StreamFault', message: /header/ })

  const cutOff = connection()
  const cutStream = demultiplex(cutOff.socket)
  cutOff.socket.destroy()
  await t.rejects(readAll(cutStream), { name: 'StreamFault', message: /closed/ })
})
