// Bytes and text.
import t from 'tap'
import { asBuffer, findText, lossyText, utf8 } from '../../src/base/bytes.ts'

t.test('valid UTF-8 is text, everything else is not', async t => {
  for (const text of ['', 'é', '日本', '🚀', '\0']) t.equal(findText(utf8(text)), text)
  for (const hex of ['ff', 'c328', 'e2', 'eda080', '80']) t.equal(findText(Buffer.from(hex, 'hex')), undefined, hex)
})

t.test('text for people shows a replacement where the bytes are no UTF-8', async t => {
  t.equal(lossyText(Buffer.from([0x61, 0xff, 0x62])), 'a\ufffdb')
})

t.test('a buffer over a view has the view\'s bytes and no others, and shares them', async t => {
  const whole = new Uint8Array([1, 2, 3, 4])
  const view = asBuffer(whole.subarray(1, 3))
  t.same([...view], [2, 3])
  whole[1] = 9
  t.equal(view[0], 9)
})
