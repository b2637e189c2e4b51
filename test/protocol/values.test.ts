// The small values: what is accepted and what it becomes.
import t from 'tap'
import { Budgets, BytesInput, Meta, TaskId } from '../../src/protocol/index.ts'

t.test('bytes are accepted as text, raw bytes or {base64}, and become bytes', async t => {
  for (const value of ['hé', Buffer.from('hé'), { base64: Buffer.from('hé').toString('base64') }]) {
    t.equal(Buffer.from(BytesInput.parse(value)).toString(), 'hé')
  }
  for (const value of [1, null, {}, { base64: '!!' }, { base64: 'AA==', more: 1 }, [1, 2]]) {
    t.equal(BytesInput.safeParse(value).success, false, JSON.stringify(value))
  }
})

t.test('meta is JSON of at most 4 KB, whatever is inside', async t => {
  t.equal(Meta.safeParse({ policy: 'v3', deep: { list: [1, null] } }).success, true)
  t.equal(Meta.safeParse({ text: 'x'.repeat(4096 - '{"text":""}'.length) }).success, true)
  t.equal(Meta.safeParse({ text: 'x'.repeat(4097 - '{"text":""}'.length) }).success, false)
  t.equal(Meta.safeParse({ text: 'é'.repeat(2048) }).success, false, 'bytes are counted, not characters')
  const circular: Record<string, unknown> = {}
  circular['self'] = circular
  for (const bad of [circular, { big: 1n }]) t.equal(Meta.safeParse(bad).success, false)
})

t.test('task ids are lower-case names', async t => {
  for (const id of ['a', 'split-lines', 'v1.2/x_y', '0']) t.equal(TaskId.safeParse(id).success, true, id)
  for (const id of ['', 'A', '../x', '.x', 'a b', 'é', 'a'.repeat(129)]) t.equal(TaskId.safeParse(id).success, false, id)
})

t.test('budgets default to verifying what is there when one runs out', async t => {
  t.same(Budgets.parse({ steps: 5 }), { steps: 5, onBudget: 'verify' })
  for (const bad of [{ steps: 0 }, { steps: 1.5 }, { onBudget: 'pass' }, { seconds: 1 }]) t.equal(Budgets.safeParse(bad).success, false)
})
