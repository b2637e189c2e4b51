import t from 'tap'
import { describeEnding, readStream } from '../../../src/verifier/cases/probe.ts'
import { output, ran } from '../scripted.ts'

await t.test('a stream is its whole text, or the reason why there is none', async t => {
  t.same(readStream(output('é'), 'stdout'), { text: 'é' })
  t.match(readStream({ ...output('x'), droppedBytes: 1 }, 'stdout'), { why: /larger/ })
  t.match(readStream({ bytes: Uint8Array.of(0xff), headBytes: 1, droppedBytes: 0 }, 'stderr'), { why: /stderr is not valid UTF-8/ })
})

await t.test('every ending has its words', async t => {
  t.equal(describeEnding(ran({ exitCode: 3 })), 'exited with 3')
  t.equal(describeEnding({ ...ran({}), ending: { kind: 'signalled', signal: 'SIGSEGV' }, oomKilled: true }), 'was ended by SIGSEGV (out of memory)')
  t.equal(describeEnding({ ...ran({}), ending: { kind: 'timedOut' } }), 'took too long')
  t.equal(describeEnding({ ...ran({}), ending: { kind: 'cancelled' } }), 'was cancelled')
})
