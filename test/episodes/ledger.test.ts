import t from 'tap'
import { SeqLedger } from '../../src/episodes/ledger.ts'
import type { SeqRequest } from '../../src/episodes/seq.ts'
import { defer } from '../helpers/fake.ts'

const step = (command: string): SeqRequest => ({ type: 'step', action: { type: 'exec', command } })

function start () {
  const busy: string[] = []
  return { busy, ledger: new SeqLedger<string>({ onBusy: () => busy.push('busy'), onIdle: () => busy.push('idle') }) }
}

t.test('work that commits is held until the next request, and is replayed', async t => {
  const { ledger, busy } = start()
  const gate = defer<void>()
  const done = ledger.begin(step('a'), async commit => {
    await gate.promise
    commit('result a')
    return 'result a'
  })
  t.match(ledger.route(1, step('a')), { do: 'join' })
  t.equal(ledger.running?.seq, 1)
  t.equal(ledger.committed, 0)
  gate.resolve()
  t.equal(await done, 'result a')
  t.match(ledger.last, { seq: 1, outcome: 'result a' })
  t.same(ledger.route(1, step('a')), { do: 'replay', outcome: 'result a' })
  t.same(busy, ['busy', 'idle'])
  await ledger.begin(step('b'), async commit => {
    t.equal(ledger.last, undefined, 'the next request lets the result go')
    commit('b')
    return 'b'
  })
  t.equal(ledger.committed, 2)
})

t.test('work that throws before it commits commits nothing and frees the seq', async t => {
  const { ledger, busy } = start()
  await t.rejects(ledger.begin(step('a'), async () => { throw new Error('lost') }), /lost/)
  t.equal(ledger.committed, 0)
  t.equal(ledger.running, undefined)
  t.same(ledger.route(1, step('other')), { do: 'run' })
  t.same(busy, ['busy', 'idle'])
})

t.test('work may begin the next seq in the turn of its commit', async t => {
  const { ledger } = start()
  await ledger.begin(step('a'), async commit => {
    commit('a')
    ledger.begin({ type: 'autoSubmit' }, async commitNext => {
      commitNext('verdict')
      return 'verdict'
    }).catch(error => t.fail(String(error)))
    return 'a'
  })
  t.equal(ledger.committed, 2)
  t.same(ledger.route(1, step('a')), { do: 'replay', outcome: 'a' }, 'the server\'s own submit acknowledges nothing')
  ledger.forget()
  t.match(ledger.route(1, step('a')), { do: 'refuse', code: 'SEQ_EXPIRED' })
})
