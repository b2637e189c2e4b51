// The two encodings: bytes <-> message. Messages are plain data; bytes inside them survive both ways.
import { Packr, Unpackr } from 'msgpackr'
import { AssayError } from '../errors.ts'
import { asBuffer, findText } from '../base/bytes.ts'

export const PROTOCOL_VERSION = 'assay.v1'
/** The WebSocket subprotocols and the encoding that each stands for. */
export const SUBPROTOCOLS = { 'assay.v1.msgpack': 'msgpack', 'assay.v1.json': 'json' } as const

export type Subprotocol = keyof typeof SUBPROTOCOLS
export type Encoding = (typeof SUBPROTOCOLS)[Subprotocol]

export function isSubprotocol (name: string): name is Subprotocol {
  return Object.hasOwn(SUBPROTOCOLS, name)
}

export interface Codec {
  readonly encoding: Encoding
  /** Members that are undefined are left out, in both encodings. */
  encode (message: unknown): Uint8Array | string
  /** Throws BAD_FRAME for anything that is not exactly one plain message. */
  decode (data: Uint8Array): unknown
}

export function createCodec (encoding: Encoding): Codec {
  return encoding === 'msgpack' ? createMsgpackCodec() : jsonCodec
}

function createMsgpackCodec (): Codec {
  const plain = { useRecords: false, moreTypes: false }
  const packing = { ...plain, variableMapSize: true, skipValues: [undefined], encodeUndefinedAsNil: true }
  const packr = new Packr(packing)
  const unpackr = new Unpackr({ ...plain, mapsAsObjects: true, int64AsType: 'number', structuredClone: false })
  return {
    encoding: 'msgpack',
    encode: message => packr.pack(message),
    decode (data) {
      let message: unknown
      try {
        message = unpackr.unpack(data)
      } catch (cause) {
        throw badFrame('The frame is not one whole msgpack message; send one message per binary frame.', cause)
      }
      refuseStrange(message, 0)
      return message
    },
  }
}

const jsonCodec: Codec = {
  encoding: 'json',
  encode: message => JSON.stringify(message, writeBytes),
  decode (data) {
    const text = findText(data)
    if (text === undefined) throw badFrame('The frame is not valid UTF-8; send JSON text.')
    let message: unknown
    try {
      message = JSON.parse(text)
    } catch (cause) {
      throw badFrame('The frame is not one whole JSON text; send one message per text frame.', cause)
    }
    refuseStrange(message, 0)
    return message
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

// msgpack extensions build dates, sets, errors and the like; JSON nests without end. Neither is part of a message.
function refuseStrange (value: unknown, depth: number): void {
  if (typeof value === 'bigint') throw badFrame('The frame has an integer past 64 bits; send numbers that JSON can hold.')
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return
  if (depth === NESTING) throw badFrame(`The frame nests deeper than ${NESTING} levels; flatten it.`)
  if (Array.isArray(value)) {
    for (const item of value) refuseStrange(item, depth + 1)
  } else if (Object.getPrototypeOf(value) !== Object.prototype) {
    throw badFrame('The frame has a msgpack extension type; send maps, arrays, text, bin, numbers, booleans and nil only.')
  } else {
    for (const key of Object.keys(value)) refuseStrange((value as Record<string, unknown>)[key], depth + 1)
  }
}

function badFrame (message: string, cause?: unknown): AssayError {
  return new AssayError('BAD_FRAME', { message, cause })
}

const NESTING = 64
