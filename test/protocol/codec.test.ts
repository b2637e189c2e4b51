// Both encodings pass one suite; then what is special to each.
import t from 'tap'
import { Packr } from 'msgpackr'
import { bytesFromWire, bytesToJson, createCodec, isSubprotocol } from '../../src/protocol/index.ts'
import { codecContract } from '../contracts/codec.ts'

codecContract(() => createCodec('msgpack'), { isText: false })
codecContract(() => createCodec('json'), { isText: true })

t.test('msgpack sends bytes as bin and plain maps that every decoder reads', async t => {
  const codec = createCodec('msgpack')
  t.equal(codec.encoding, 'msgpack')
  t.equal(Buffer.from(codec.encode({ a: Buffer.from([1, 2]) }) as Uint8Array).toString('hex'), '81a161c4020102')
})

t.test('msgpack refuses what other encoders build out of extension types', async t => {
  const codec = createCodec('msgpack')
  const rich = new Packr({ useRecords: false, moreTypes: true, structuredClone: true })
  const circular: Record<string, unknown> = {}
  circular['self'] = circular
  for (const value of [new Date(), new Set([1]), new Error('x'), /x/, circular, new Float32Array(2), 2n ** 80n]) {
    t.throws(() => codec.decode(rich.pack({ value })), { code: 'BAD_FRAME' }, String(value))
  }
})

t.test('records that one message defines do not change how the next one is read', async t => {
  const codec = createCodec('msgpack')
  const records = new Packr({ useRecords: true })
  codec.decode(records.pack([{ a: 1, b: 2 }, { a: 3, b: 4 }]))
  const small = Array.from({ length: 128 }, (_, index) => index)
  t.strictSame(codec.decode(createCodec('msgpack').encode(small) as Uint8Array), small)
})

t.test('JSON refuses bytes that are not UTF-8', async t => {
  t.throws(() => createCodec('json').decode(Buffer.from([0x22, 0xff, 0x22])), { code: 'BAD_FRAME', message: /UTF-8/ })
})

t.test('the JSON form of bytes is text when it can be, else base64, and both are read back', async t => {
  t.equal(bytesToJson(Buffer.from('né')), 'né')
  t.same(bytesToJson(Buffer.from([0xff])), { base64: '/w==' })
  for (const value of ['né', { base64: Buffer.from('né').toString('base64') }, Buffer.from('né')]) {
    t.equal(Buffer.from(bytesFromWire(value)).toString(), 'né')
  }
})

t.test('subprotocols are known by their exact names', async t => {
  t.equal(isSubprotocol('assay.v1.json'), true)
  for (const name of ['assay.v1', 'ASSAY.V1.JSON', 'constructor', '']) t.equal(isSubprotocol(name), false, name)
})
