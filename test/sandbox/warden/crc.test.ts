import t from 'tap'
import { crc32, plainCrc32 } from '../../../src/sandbox/warden/crc.ts'

await t.test('the check value of CRC-32 is what the standard says', async t => {
  t.equal(crc32(Buffer.from('123456789')), 0xCBF43926)
  t.equal(plainCrc32(Buffer.from('123456789')), 0xCBF43926)
  t.equal(plainCrc32(Buffer.alloc(0)), 0)
})

await t.test('our own agrees with that of Node on any bytes', async t => {
  for (const length of [0, 1, 7, 255, 4097]) {
    const bytes = Buffer.from(Array.from({ length }, (_, i) => (i * 167 + length) & 0xff))
    t.equal(plainCrc32(bytes), crc32(bytes))
  }
})
