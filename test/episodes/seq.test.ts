import t from 'tap'
import { decideSeq, isSameRequest, type SeqRequest, type SeqState } from '../../src/episodes/seq.ts'
import { utf8 } from '../../src/base/bytes.ts'

const exec = (command: string): SeqRequest => ({ type: 'step', action: { type: 'exec', command } })
const ls = exec('ls')
const submit: SeqRequest = { type: 'submit' }
const auto: SeqRequest = { type: 'autoSubmit' }

const fresh: SeqState = { committed: 0, running: undefined, held: [] }
const after3: SeqState = { committed: 3, running: undefined, held: [{ seq: 3, request: ls }] }
const running4: SeqState = { committed: 3, running: { seq: 4, request: ls }, held: [] }
const auto4: SeqState = { committed: 3, running: { seq: 4, request: auto }, held: [{ seq: 3, request: ls }] }
const bothHeld = [{ seq: 3, request: ls }, { seq: 4, request: auto }]
const autoDone: SeqState = { committed: 4, running: undefined, held: bothHeld }

const TABLE: Array<[what: string, state: SeqState, seq: number, request: SeqRequest, decision: string]> = [
  ['the first seq runs', fresh, 1, ls, 'run'],
  ['a first seq of 2 is ahead', fresh, 2, ls, 'SEQ_GAP'],
  ['the next seq runs', after3, 4, ls, 'run'],
  ['a submit takes the next seq too', after3, 4, submit, 'run'],
  ['the committed seq with the same action is replayed', after3, 3, exec('ls'), 'replay'],
  ['the committed seq with another action is a conflict', after3, 3, exec('pwd'), 'SEQ_CONFLICT'],
  ['the committed seq of a step as a submit is a conflict', after3, 3, submit, 'SEQ_CONFLICT'],
  ['two ahead is a gap', after3, 5, ls, 'SEQ_GAP'],
  ['an older seq is expired', after3, 2, ls, 'SEQ_EXPIRED'],
  ['the running seq is joined', running4, 4, exec('ls'), 'join'],
  ['the running seq with another action is a conflict', running4, 4, exec('pwd'), 'SEQ_CONFLICT'],
  ['the seq after the running one is busy', running4, 5, ls, 'EPISODE_BUSY'],
  ['the acknowledged seq before the running one is busy', running4, 3, ls, 'EPISODE_BUSY'],
  ['the last step is replayed while the server submits', auto4, 3, ls, 'replay'],
  ['a submit joins the server\'s own', auto4, 4, { type: 'submit', truncated: 'turns' }, 'join'],
  ['a step in place of the server\'s submit is a conflict', auto4, 4, ls, 'SEQ_CONFLICT'],
  ['the last step is replayed after the server has submitted', autoDone, 3, ls, 'replay'],
  ['a submit is answered with the server\'s own', autoDone, 4, submit, 'replay'],
  ['before the last step all is expired', autoDone, 2, ls, 'SEQ_EXPIRED'],
]

for (const [what, state, seq, request, expected] of TABLE) {
  t.test(what, async t => {
    const decision = decideSeq(state, seq, request)
    t.equal(decision.do === 'refuse' ? decision.code : decision.do, expected)
  })
}

t.test('actions are compared by structure', async t => {
  const action = { type: 'exec', command: 'cat', stdin: utf8('abc'), env: { A: '1', B: '2' }, timeoutMs: 5 } as const
  const step = (changes: object): SeqRequest => ({ type: 'step', action: { ...action, ...changes } })
  t.ok(isSameRequest(step({}), step({ stdin: new Uint8Array([97, 98, 99]), env: { B: '2', A: '1' }, merge: undefined })))
  for (const changes of [{ stdin: utf8('abd') }, { stdin: undefined }, { env: { A: '1' } }, { env: { A: '1', B: '3' } }, { timeoutMs: 6 }, { merge: true }]) {
    t.notOk(isSameRequest(step({}), step(changes)), JSON.stringify(changes))
  }
  t.notOk(isSameRequest(submit, { type: 'submit', truncated: 'tokens' }))
  t.ok(isSameRequest({ type: 'submit', truncated: undefined }, submit))
})
