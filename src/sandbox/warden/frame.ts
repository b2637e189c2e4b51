// Frames on the warden's stream (laid out in docker/warden/warden.h): encode, and find them in bytes that may hold anything.
import { AssayError } from '../../errors.ts'
import { crc32 } from './crc.ts'

export const FRAME = {
  headerBytes: 40,
  markerBytes: 8,
  payloadBytes: (1 << 20) - 40,
  /** Skipped in a row before the stream is given up. */
  noiseBytes: 8 << 20,
} as const

export const TYPES = {
  hello: 1,
  run: 2,
  cancel: 3,
  killAll: 4,
  ping: 5,
  put: 6,
  get: 7,
  manifest: 8,
  ready: 65,
  result: 66,
  stdout: 67,
  stderr: 68,
  killed: 69,
  pong: 70,
  records: 71,
  refused: 72,
} as const

/** The marker of a hello; every other frame begins with the nonce that the newest hello carried. */
export const HELLO_MARKER: Buffer = Buffer.from([0x9e, 0x61, 0x73, 0x73, 0x61, 0x79, 0x77, 0x01])

export interface Frame {
  type: number
  /** More frames of the same message follow. */
  more: boolean
  epoch: number
  seq: number
  /** Place of the payload in its message, or of output in its stream. */
  offset: number
  payload: Uint8Array
}

export function encodeFrame (marker: Uint8Array, frame: Frame): Buffer {
  const bytes = Buffer.allocUnsafe(FRAME.headerBytes + frame.payload.length)
  bytes.set(marker, 0)
  bytes[8] = frame.type
  bytes[9] = frame.more ? 1 : 0
  bytes.writeUInt16LE(0, 10)
  bytes.writeUInt32LE(frame.epoch, 12)
  bytes.writeUInt32LE(frame.seq, 16)
  bytes.writeBigUInt64LE(BigInt(frame.offset), 20)
  bytes.writeUInt32LE(frame.payload.length, 28)
  bytes.writeUInt32LE(crc32(frame.payload), 32)
  bytes.writeUInt32LE(crc32(bytes.subarray(0, 36)), 36)
  bytes.set(frame.payload, FRAME.headerBytes)
  return bytes
}

/** Takes bytes in pieces of any size and yields the whole frames of one marker; after a bad one it looks on one byte further. */
export class FrameDecoder {
  readonly #marker: Buffer
  #held: Buffer = Buffer.alloc(0)
  #noiseBytes = 0

  constructor (marker: Uint8Array) {
    this.#marker = Buffer.from(marker)
  }

  /** Bytes skipped since the last whole frame. */
  get noiseBytes (): number { return this.#noiseBytes }

  /** Throws WARDEN_FAULT once more than FRAME.noiseBytes in a row are no frame. Payloads are copies or views that nobody else writes. */
  push (chunk: Uint8Array): Frame[] {
    const frames: Frame[] = []
    let rest = this.#held.length === 0 ? Buffer.from(chunk) : Buffer.concat([this.#held, chunk])
    for (;;) {
      const at = this.#findMarker(rest)
      this.#skip(at)
      rest = rest.subarray(at)
      const found = this.#frameAt(rest)
      if (found === 'short') break
      if (found === 'bad') {
        this.#skip(1)
        rest = rest.subarray(1)
        continue
      }
      this.#noiseBytes = 0
      frames.push(found)
      rest = rest.subarray(FRAME.headerBytes + found.payload.length)
    }
    this.#held = rest
    return frames
  }

  #skip (bytes: number): void {
    this.#noiseBytes += bytes
    if (this.#noiseBytes <= FRAME.noiseBytes) return
    this.#held = Buffer.alloc(0)
    throw new AssayError('WARDEN_FAULT', { message: `More than ${FRAME.noiseBytes} bytes of the warden's stream are no frame.` })
  }

  /** Where the marker, or what could become it, begins. */
  #findMarker (bytes: Buffer): number {
    const at = bytes.indexOf(this.#marker)
    if (at !== -1) return at
    for (let start = Math.max(0, bytes.length - FRAME.markerBytes + 1); start < bytes.length; start++) {
      if (bytes.subarray(start).equals(this.#marker.subarray(0, bytes.length - start))) return start
    }
    return bytes.length
  }

  #frameAt (bytes: Buffer): Frame | 'short' | 'bad' {
    if (bytes.length < FRAME.headerBytes) return 'short'
    if (bytes.readUInt32LE(36) !== crc32(bytes.subarray(0, 36))) return 'bad'
    const length = bytes.readUInt32LE(28)
    const flags = bytes.readUInt8(9)
    const cell = bytes.readUInt16LE(10)
    const offset = bytes.readBigUInt64LE(20)
    if (length > FRAME.payloadBytes || flags > 1 || cell !== 0 || offset > MOST) return 'bad'
    if (bytes.length < FRAME.headerBytes + length) return 'short'
    const payload = bytes.subarray(FRAME.headerBytes, FRAME.headerBytes + length)
    if (bytes.readUInt32LE(32) !== crc32(payload)) return 'bad'
    return {
      type: bytes.readUInt8(8),
      more: flags === 1,
      epoch: bytes.readUInt32LE(12),
      seq: bytes.readUInt32LE(16),
      offset: Number(offset),
      payload,
    }
  }
}

const MOST = BigInt(Number.MAX_SAFE_INTEGER)
