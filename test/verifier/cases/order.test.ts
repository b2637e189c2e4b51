import t from 'tap'
import { shuffle } from '../../../src/verifier/cases/order.ts'

const items = Array.from({ length: 40 }, (_, index) => index)

await t.test('the same seed gives the same order and loses nothing', async t => {
  t.same(shuffle(items, 7), shuffle(items, 7))
  t.same(shuffle(items, 7).sort((a, b) => a - b), items)
})

await t.test('different seeds give different orders, none of them that of the file', async t => {
  const orders = new Set([0, 1, 2, 2 ** 31, 2 ** 40 + 1].map(seed => shuffle(items, seed).join()))
  t.equal(orders.size, 5)
  t.notOk(orders.has(items.join()))
})
