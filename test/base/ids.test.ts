// Ids: where they are from, in what order, and that they cannot be guessed.
import t from 'tap'
import { createId, findNodeId, isNodeId, systemRandom } from '../../src/base/ids.ts'

t.test('an id carries its kind, its node and its time, and its node can be read back', async t => {
  const id = createId('ep', 'n1', { nowMs: 1_700_000_000_000.9, random: bytes => new Uint8Array(bytes).fill(0xab) })
  t.equal(id, `ep_n1_${(1_700_000_000_000).toString(36)}${'ab'.repeat(9)}`)
  t.equal(findNodeId(id), 'n1')
})

t.test('ids of one node sort by time of birth, and do not repeat', async t => {
  const ids = Array.from({ length: 1_000 }, (_, index) => createId('g', 'n1', { nowMs: 1_700_000_000_000 + index, random: systemRandom }))
  t.same([...ids].sort(), ids)
  const same = new Set(Array.from({ length: 10_000 }, () => createId('g', 'n1', { nowMs: 0, random: systemRandom })))
  t.equal(same.size, 10_000)
})

t.test('what is not an id has no node', async t => {
  for (const text of ['', 'ep', 'ep_n1', 'ep_N1_x', 'ep_n1_x_y', 'ep__x', 'ep_../_x']) t.equal(findNodeId(text), undefined, text)
})

t.test('node ids are short lower-case names', async t => {
  for (const name of ['n1', 'a', '0', 'a'.repeat(24)]) t.equal(isNodeId(name), true, name)
  for (const name of ['', 'N1', 'n_1', 'n-1', 'a'.repeat(25), 'n1\n']) t.equal(isNodeId(name), false, JSON.stringify(name))
})
