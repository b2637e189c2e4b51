// Little-endian fields with bounds. Reading past the end is the other side's fault and says so.
import { asBuffer } from '../../base/bytes.ts'
import { AssayError } from '../../errors.ts'

export class FieldReader {
  readonly #bytes: Buffer
  #at = 0

  constructor (bytes: Uint8Array) {
    this.#bytes = asBuffer(bytes)
  }

  get left (): number { return this.#bytes.length - this.#at }

  u8 (): number { return this.#bytes.readUInt8(this.#step(1)) }
  u16 (): number { return this.#bytes.readUInt16LE(this.#step(2)) }
  u32 (): number { return this.#bytes.readUInt32LE(this.#step(4)) }

  u64 (): number {
    const value = this.#bytes.readBigUInt64LE(this.#step(8))
    if (value > BigInt(Number.MAX_SAFE_INTEGER)) throw new AssayError('WARDEN_FAULT', { message: 'A number from the warden is out of range.' })
    return Number(value)
  }

  bytes (length: number): Buffer {
    const at = this.#step(length)
    return this.#bytes.subarray(at, at + length)
  }

  #step (length: number): number {
    if (length > this.left) throw new AssayError('WARDEN_FAULT', { message: `A message from the warden ends ${length - this.left} bytes early.` })
    const at = this.#at
    this.#at += length
    return at
  }
}

/** [value, bytes] pairs, one after the other; bytes is at most 8. */
export function fields (...pairs: Array<readonly [value: number, bytes: 1 | 2 | 4 | 8]>): Buffer {
  const made = Buffer.alloc(pairs.reduce((sum, [, bytes]) => sum + bytes, 0))
  let at = 0
  for (const [value, bytes] of pairs) {
    if (bytes === 8) made.writeBigUInt64LE(BigInt(value), at)
    else made.writeUIntLE(value, at, bytes)
    at += bytes
  }
  return made
}
