import t from 'tap'
import { FRAME, FrameDecoder, encodeFrame, type Frame } from '../../../src/sandbox/warden/frame.ts'
import { chance, type Chance } from './support/random.ts'

const MARKER = Buffer.from('nonce-01')

await t.test('frames come out as they went in, however the stream is cut', async t => {
  for (let seed = 1; seed <= 50; seed++) {
    const random = chance(seed)
    const frames = Array.from({ length: 1 + random.below(8) }, () => anyFrame(random))
    const found = feed(new FrameDecoder(MARKER), Buffer.concat(frames.map(frame => encodeFrame(MARKER, frame))), random)
    t.same(found, frames, `seed ${seed}`)
  }
})

await t.test('noise, torn frames and frames of another nonce are skipped and the rest is found', async t => {
  for (let seed = 1; seed <= 100; seed++) {
    const random = chance(seed)
    const kept: Frame[] = []
    const parts: Buffer[] = []
    for (let i = 0; i < 12; i++) {
      const frame = anyFrame(random)
      const bytes = encodeFrame(MARKER, frame)
      switch (random.below(5)) {
        case 0: parts.push(random.bytes(random.below(100))); break
        case 1: parts.push(bytes.subarray(0, random.below(FRAME.headerBytes))); break
        case 2: parts.push(encodeFrame(Buffer.from('other-02'), frame)); break
        case 3: {
          const at = random.below(FRAME.headerBytes)
          bytes[at] = (bytes[at] ?? 0) ^ (1 + random.below(255))
          parts.push(bytes)
          break
        }
        default:
          parts.push(bytes)
          kept.push(frame)
      }
    }
    t.same(feed(new FrameDecoder(MARKER), Buffer.concat(parts), random), kept, `seed ${seed}`)
  }
})

await t.test('a frame that another writer cut in two does not swallow the one after it', async t => {
  const decoder = new FrameDecoder(MARKER)
  const whole: Frame = { type: 66, more: false, epoch: 1, seq: 2, offset: 0, payload: Buffer.from('whole') }
  const torn = encodeFrame(MARKER, { ...whole, seq: 1, payload: Buffer.alloc(200, 'x') }).subarray(0, 100)
  t.same(decoder.push(Buffer.concat([torn, encodeFrame(MARKER, whole)])), [], 'the torn one may still become whole')
  const next = encodeFrame(MARKER, { ...whole, seq: 3, payload: Buffer.alloc(60) })
  t.same(decoder.push(next).map(({ seq }) => seq), [2, 3])
})

await t.test('a length beyond the limit is never waited for', async t => {
  const sound: Frame = { type: 66, more: false, epoch: 1, seq: 1, offset: 0, payload: Buffer.alloc(4) }
  const frame = encodeFrame(MARKER, sound)
  frame.writeUInt32LE(0xffffffff, 28)
  const good = encodeFrame(MARKER, { ...sound, seq: 2 })
  t.same(new FrameDecoder(MARKER).push(Buffer.concat([frame, good])).map(({ seq }) => seq), [2])
})

await t.test('a stream of nothing but noise is a fault, not memory', async t => {
  const decoder = new FrameDecoder(MARKER)
  const noise = Buffer.alloc(1 << 20, 0x6e)
  t.throws(() => { for (let i = 0; i < 10; i++) decoder.push(noise) }, { code: 'WARDEN_FAULT' })
})

function feed (decoder: FrameDecoder, bytes: Buffer, random: Chance): Frame[] {
  const found: Frame[] = []
  for (let at = 0; at < bytes.length;) {
    const size = 1 + random.below(300)
    const frames = decoder.push(bytes.subarray(at, at + size))
    found.push(...frames.map(frame => ({ ...frame, payload: Buffer.from(frame.payload) })))
    at += size
  }
  return found
}

function anyFrame (random: Chance): Frame {
  return {
    type: 1 + random.below(250),
    more: random.below(2) === 1,
    epoch: random.below(2 ** 32),
    seq: random.below(2 ** 32),
    offset: random.below(2 ** 32) * 1000,
    payload: random.bytes(random.below(4) === 0 ? 0 : random.below(600)),
  }
}
