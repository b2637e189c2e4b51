import t from 'tap'
import { FieldReader, fields } from '../../../src/sandbox/warden/fields.ts'

await t.test('fields are read as they were written', async t => {
  const from = new FieldReader(Buffer.concat([fields([1, 1], [0xfffe, 2], [0xfffffffd, 4], [2 ** 40, 8]), Buffer.from('tail')]))
  t.same([from.u8(), from.u16(), from.u32(), from.u64(), from.bytes(4).toString(), from.left], [1, 0xfffe, 0xfffffffd, 2 ** 40, 'tail', 0])
})

await t.test('reading past the end, or a number that JavaScript cannot hold, is the warden\'s fault', async t => {
  t.throws(() => new FieldReader(Buffer.alloc(3)).u32(), { code: 'WARDEN_FAULT' })
  t.throws(() => new FieldReader(Buffer.alloc(3)).bytes(2 ** 40), { code: 'WARDEN_FAULT' })
  t.throws(() => new FieldReader(Buffer.alloc(8, 0xff)).u64(), { code: 'WARDEN_FAULT' })
})
