import t from 'tap'
import { Conversation } from '../../../src/sandbox/warden/conversation.ts'
import { TYPES } from '../../../src/sandbox/warden/frame.ts'
import { Peer } from './support/peer.ts'

const CALL = { type: TYPES.ping, pieces: [], reply: TYPES.pong, replyBytes: 10 }

await t.test('a peer that says nothing in time is lost, and its stream destroyed', async t => {
  const peer = new Peer(() => {})
  const conversation = new Conversation(peer, { nonce: Buffer.from('12345678'), epoch: 1 })
  await t.rejects(conversation.request({ ...CALL, watchdogMs: 20 }), { code: 'SANDBOX_LOST', message: /20 ms/ })
  await conversation.closed
  t.ok(peer.destroyed)
})

await t.test('a second request while one waits is a bug of the caller', async t => {
  const conversation = new Conversation(new Peer(() => {}), { nonce: Buffer.from('12345678'), epoch: 1 })
  const first = conversation.request({ ...CALL, watchdogMs: 20 })
  await t.rejects(conversation.request({ ...CALL, watchdogMs: 20 }), TypeError)
  await t.rejects(first, { code: 'SANDBOX_LOST' })
})
