// Bytes <-> message in both encodings. Messages are plain data; bytes inside them survive both ways.
import { Packr, Unpackr } from 'msgpackr'
import { AssayError } from '../errors.ts'
import { asBuffer, findText } from '../base/bytes.ts'
import type { Encoding } from './version.ts'

export interface Codec {
  readonly encoding: Encoding
  encode (message: unknown): Uint8Array | string
  /** Throws BAD_FRAME for anything that is not exactly one message. */
  decode (data: Uint8Array): unknown
}

export function createCodec (encoding: Encoding): Codec {
  return encoding === 'msgpack' ? createMsgpackCodec() : jsonCodec
}

function createMsgpackCodec (): Codec {
  const packr = new Packr({ useRecords: false, moreTypes: false, variableMapSize: true })
  const unpackr = new Unpackr({ useRecords: false, moreTypes: false, mapsAsObjects: true, int64AsType: 'number' })
  return {
    encoding: 'msgpack',
    // pack() reuses its buffer, so what is sent later must be a copy; msgpackr copies unless told not to
    encode: message => packr.pack(message),
    decode (data) {
      try {
        return unpackr.unpack(data)
      } catch (cause) {
        throw new AssayError('BAD_FRAME', { message: 'The frame is not one whole msgpack message; send one message per binary frame.', cause })
      }
    },
  }
}

const jsonCodec: Codec = {
  encoding: 'json',
  encode: message => JSON.stringify(message, writeBytes),
  decode (data) {
    const text = findText(data)
    if (text === undefined) throw new AssayError('BAD_FRAME', { message: 'The frame is not valid UTF-8; send JSON text.' })
    try {
      return JSON.parse(text)
    } catch (cause) {
      throw new AssayError('BAD_FRAME', { message: 'The frame is not one whole JSON text; send one message per text frame.', cause })
    }
  },
}

// A Buffer reaches a replacer already turned into {type: 'Buffer', data}, so the holder is asked instead.
function writeBytes (this: unknown, key: string, value: unknown): unknown {
  const original = (this as Record<string, unknown>)[key]
  return original instanceof Uint8Array ? bytesToJson(original) : value
}

/** The JSON form of bytes: text when valid UTF-8, else {base64}. */
export function bytesToJson (bytes: Uint8Array): string | { base64: string } {
  return findText(bytes) ?? { base64: asBuffer(bytes).toString('base64') }
}

/** Reads either JSON form of bytes, or bytes themselves. */
export function bytesFromWire (value: unknown): Uint8Array {
  if (value instanceof Uint8Array) return value
  if (typeof value === 'string') return Buffer.from(value, 'utf8')
  const { base64 } = value as { base64: string }
  return Buffer.from(base64, 'base64')
}
