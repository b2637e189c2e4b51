// Reading the envelope of a request.
import t from 'tap'
import { RequestEnvelope, readRequest } from '../../src/protocol/index.ts'

const messages: unknown[] = [
  { id: 1, op: 'step', seq: 2 }, { id: 'a', op: '' }, { id: '', op: 'x' }, { id: 'x'.repeat(128), op: 'x' }, { id: -3, op: 'x' },
  null, 3, 'text', [], [1], true, {}, { id: 1 }, { op: 'x' }, { id: 1.5, op: 'x' }, { id: NaN, op: 'x' }, { id: null, op: 'x' },
  { id: 2 ** 53, op: 'x' }, { id: 'x'.repeat(129), op: 'x' }, { id: 1, op: 3 }, { id: {}, op: 'x' }, { id: true, op: 'x' },
]

t.test('what is read as a request is exactly what the schema allows', async t => {
  for (const message of messages) {
    t.equal(readRequest(message).ok, RequestEnvelope.safeParse(message).success, JSON.stringify(message))
  }
})

t.test('the members besides id and op are the parameters', async t => {
  t.same(readRequest({ id: 'a', op: 'step', seq: 2, action: {} }), { ok: true, id: 'a', op: 'step', params: { seq: 2, action: {} } })
})

t.test('a request that cannot be read keeps its id when it has one', async t => {
  t.match(readRequest({ id: 'a' }), { ok: false, id: 'a', problem: /needs op/ })
  t.match(readRequest({ op: 'a' }), { ok: false, id: null, problem: /needs an id/ })
  t.match(readRequest(new Uint8Array(2)), { ok: false, id: null, problem: /is an object/ })
})
