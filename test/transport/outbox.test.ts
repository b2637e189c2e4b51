// Writing to a socket: batching, the high-water mark and the ceiling, over a stream that the test holds.
import { PassThrough } from 'node:stream'
import type { WebSocket } from 'ws'
import t from 'tap'
import { createCodec } from '../../src/protocol/index.ts'
import { Outbox } from '../../src/transport/outbox.ts'

/** A stream that remembers its writes, and as much of a WebSocket as the outbox uses. */
function setUp ({ highWaterBytes }: { highWaterBytes: number }) {
  const stream = new PassThrough({ highWaterMark: 1 })
  const batches: string[][] = []
  stream._write = (chunk, _encoding, _done) => { batches.push([String(chunk)]) } // never done: the peer does not read
  stream._writev = (chunks, _done) => { batches.push(chunks.map(({ chunk }) => String(chunk))) }
  const socket = {
    terminated: false,
    get bufferedAmount () { return stream.writableLength },
    send (data: string) { stream.write(data) },
    terminate () { socket.terminated = true },
  }
  const outbox = new Outbox(socket as unknown as WebSocket, stream, { codec: createCodec('json'), highWaterBytes })
  return { outbox, batches, socket }
}

t.test('messages of one turn leave in one write', async t => {
  const { outbox, batches } = setUp({ highWaterBytes: 1000 })
  for (let i = 0; i < 3; i++) outbox.send({ i })
  t.same(batches, [], 'nothing yet')
  await new Promise(setImmediate)
  t.same(batches, [['{"i":0}', '{"i":1}', '{"i":2}']])
})

t.test('past the high-water mark the reader is slow; past four times that the socket is ended', async t => {
  const { outbox, batches, socket } = setUp({ highWaterBytes: 100 })
  outbox.send('x'.repeat(60))
  t.equal(outbox.isSlow, false)
  outbox.send('x'.repeat(60))
  t.equal(outbox.isSlow, true)
  t.equal(batches.length, 1, 'what is over the mark is offered to the kernel at once')
  t.equal(socket.terminated, false)
  outbox.send('x'.repeat(300))
  t.equal(socket.terminated, true)
})

t.test('a message that cannot be encoded throws and sends nothing', async t => {
  const { outbox, batches } = setUp({ highWaterBytes: 100 })
  t.throws(() => outbox.send({ big: 1n }), TypeError)
  await new Promise(setImmediate)
  t.same(batches, [])
})
