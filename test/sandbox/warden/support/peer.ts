// A scripted warden in memory: the other end of a stream, which understands frames and answers as told.
import { Duplex } from 'node:stream'
import { FrameDecoder, HELLO_MARKER, TYPES, encodeFrame, type Frame } from '../../../../src/sandbox/warden/frame.ts'

type Reply = [payload: Uint8Array, place?: { offset: number, more: boolean }]

export class Peer extends Duplex {
  readonly seen: Frame[] = []
  mostBuffered = 0
  readonly #answer: (peer: Peer, frame: Frame) => void
  readonly #hello = new FrameDecoder(HELLO_MARKER)
  #rest: FrameDecoder | undefined
  #nonce = Buffer.alloc(8)

  constructor (answer: (peer: Peer, frame: Frame) => void) {
    super()
    this.#answer = answer
  }

  reply (type: number, seq: number, ...[payload, place]: Reply): void {
    this.push(encodeFrame(this.#nonce, { type, epoch: 1, seq, payload, offset: 0, more: false, ...place }))
  }

  override _read (): void {}

  override _write (chunk: Buffer, _encoding: string, done: () => void): void {
    this.mostBuffered = Math.max(this.mostBuffered, this.writableLength)
    for (const frame of (this.#rest ?? this.#hello).push(chunk)) {
      if (frame.type === TYPES.hello) {
        this.#nonce = Buffer.from(frame.payload.subarray(0, 8))
        this.#rest = new FrameDecoder(this.#nonce)
      }
      this.seen.push(frame)
      this.#answer(this, frame)
    }
    setImmediate(done)
  }
}
