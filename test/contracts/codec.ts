// What every encoding must do: give back what it was given, bytes included, and refuse all that is no plain message.
import { randomBytes, randomInt } from 'node:crypto'
import t from 'tap'
import { bytesFromWire, bytesToJson, type Codec } from '../../src/protocol/index.ts'

/** Runs the suite; `isText` says whether bytes come back as text or {base64}. */
export function codecContract (create: () => Codec, { isText }: { isText: boolean }): void {
  const codec = create()
  const through = (message: unknown): unknown => codec.decode(asFrame(codec.encode(message)))

  t.test(`${codec.encoding}: random messages survive the way there and back`, async t => {
    for (let i = 0; i < 500; i++) {
      const message = randomValue(4)
      t.strictSame(through(message), isText ? bytesAsJson(message) : message)
    }
  })

  t.test(`${codec.encoding}: bytes survive, whatever they are`, async t => {
    for (let i = 0; i < 200; i++) {
      const bytes = i % 2 === 0 ? randomBytes(randomInt(300)) : Buffer.from(randomText(100))
      const { value } = through({ value: bytes }) as { value: unknown }
      t.same(Buffer.from(bytesFromWire(value)), bytes)
    }
  })

  t.test(`${codec.encoding}: a view into a larger buffer sends its own bytes only`, async t => {
    const large = Buffer.from('secret-visible-secret')
    const { value } = through({ value: large.subarray(7, 14) }) as { value: unknown }
    t.equal(Buffer.from(bytesFromWire(value)).toString(), 'visible')
  })

  t.test(`${codec.encoding}: members that are undefined are left out, and null stays`, async t => {
    t.strictSame(through({ a: undefined, b: null, c: { d: undefined } }), { b: null, c: {} })
  })

  t.test(`${codec.encoding}: numbers keep their value up to the safe integers`, async t => {
    const integers = [0, 1, 63, 64, 127, 128, 2 ** 31, 2 ** 32, 1_700_000_000_000, Number.MAX_SAFE_INTEGER]
    const numbers = [...integers, ...integers.slice(1).map(integer => -integer), 0.1, -1e300]
    t.strictSame(through(numbers), numbers)
  })

  t.test(`${codec.encoding}: what was encoded stays as it was while more is encoded`, async t => {
    const frames = Array.from({ length: 200 }, (_, index) => ({ index, frame: codec.encode({ index, text: 'x'.repeat(index * 50) }) }))
    for (const { index, frame } of frames) t.match(codec.decode(asFrame(frame)), { index })
  })

  t.test(`${codec.encoding}: every torn frame is refused`, async t => {
    const whole = asFrame(codec.encode({ id: 'abc', op: 'step', list: [1, 2, { deep: 'text' }] }))
    for (let length = 0; length < whole.length; length++) {
      t.throws(() => codec.decode(whole.subarray(0, length)), { code: 'BAD_FRAME' }, `${length} of ${whole.length} bytes`)
    }
    t.throws(() => codec.decode(Buffer.concat([whole, whole])), { code: 'BAD_FRAME' }, 'two messages in one frame')
  })

  t.test(`${codec.encoding}: garbage is refused or decoded to plain data, and nothing else happens`, async t => {
    const whole = asFrame(codec.encode({ id: 1, op: 'step', action: { type: 'exec', command: 'true' }, list: [1.5, null, true] }))
    let refused = 0
    for (let i = 0; i < 5_000; i++) {
      const garbage = i % 2 === 0 ? randomBytes(randomInt(1, 60)) : mutated(whole)
      try {
        assertPlain(codec.decode(garbage))
      } catch (error) {
        if ((error as { code?: unknown }).code !== 'BAD_FRAME') t.fail(`${String(error)} for ${garbage.toString('hex')}`)
        refused++
      }
    }
    t.ok(refused > 1_000, `${refused} of 5000 refused`)
    t.strictSame(codec.decode(whole), codec.decode(whole), 'later messages are not affected')
  })

  t.test(`${codec.encoding}: a message nested deeper than 64 levels is refused`, async t => {
    t.doesNotThrow(() => through(nested(64)))
    for (const levels of [65, 1_000]) t.throws(() => through(nested(levels)), { code: 'BAD_FRAME', message: /64 levels/ })
  })

  t.test(`${codec.encoding}: a member called __proto__ changes no prototype`, async t => {
    const frame = asFrame(codec.encode(JSON.parse('{"id":1,"__proto__":{"polluted":true}}')))
    codec.decode(frame)
    t.equal(({} as Record<string, unknown>)['polluted'], undefined)
  })
}

function asFrame (encoded: Uint8Array | string): Buffer {
  return Buffer.from(encoded as string)
}

function mutated (frame: Buffer): Buffer {
  const copy = Buffer.from(frame)
  for (let i = randomInt(1, 4); i > 0; i--) copy[randomInt(copy.length)] = randomInt(256)
  return copy
}

function nested (levels: number): unknown {
  let value: unknown = 'core'
  for (let i = 0; i < levels; i++) value = i % 2 === 0 ? [value] : { in: value }
  return value
}

function randomValue (depth: number): unknown {
  const pick = randomInt(depth > 0 ? 9 : 7)
  switch (pick) {
    case 0: return null
    case 1: return randomInt(2) === 1
    case 2: return randomInt(-(2 ** 40), 2 ** 40)
    case 3: return randomInt(1_000_000) / 7
    case 4: return randomText(40)
    case 5: return randomBytes(randomInt(40))
    case 6: return Buffer.from(randomText(20))
    case 7: return Array.from({ length: randomInt(5) }, () => randomValue(depth - 1))
    default: return Object.fromEntries(Array.from({ length: randomInt(5) }, () => [`k${randomText(6)}`, randomValue(depth - 1)]))
  }
}

const ALPHABET = ['a', 'Z', '0', ' ', '\n', '\0', '"', '\\', 'é', '日', '🚀', '\u2028']

function randomText (length: number): string {
  return Array.from({ length: randomInt(length) }, () => ALPHABET[randomInt(ALPHABET.length)]).join('')
}

function bytesAsJson (value: unknown): unknown {
  if (value instanceof Uint8Array) return bytesToJson(value)
  if (Array.isArray(value)) return value.map(bytesAsJson)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, bytesAsJson(member)]))
}

function assertPlain (value: unknown): void {
  if (typeof value === 'bigint' || typeof value === 'function' || typeof value === 'symbol') throw new Error(`a ${typeof value}`)
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype !== Object.prototype && prototype !== Array.prototype) throw new Error('not plain')
  Object.values(value).forEach(assertPlain)
}
