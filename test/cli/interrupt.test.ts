import { EventEmitter } from 'node:events'
import t from 'tap'
import { Interrupted, listenForInterrupts } from '../../src/cli/interrupt.ts'
import { defer } from '../../src/base/defer.ts'

t.test('the first signal asks to stop, with the exit code that shells use', async t => {
  const source = new EventEmitter()
  using interrupts = listenForInterrupts({ source, exit: code => t.fail(`exit ${code}`) })
  t.equal(interrupts.signal.aborted, false)
  source.emit('SIGTERM', 'SIGTERM')
  t.ok(interrupts.signal.reason instanceof Interrupted)
  t.match(interrupts.signal.reason, { exitCode: 143, message: 'stopped by SIGTERM' })
})

t.test('the second signal cleans, even when some cleaning fails, and exits at once', async t => {
  const source = new EventEmitter()
  const exited = defer<number>()
  using interrupts = listenForInterrupts({ source, exit: exited.resolve })
  let cleaned = 0
  interrupts.onSecond(async () => { throw new Error('one that fails') })
  interrupts.onSecond(async () => cleaned++)
  source.emit('SIGINT', 'SIGINT')
  t.equal(cleaned, 0, 'not at the first')
  source.emit('SIGINT', 'SIGINT')
  source.emit('SIGINT', 'SIGINT')
  t.equal(await exited.promise, 130)
  t.equal(cleaned, 1)
})

t.test('disposal takes its listeners away', async t => {
  const source = new EventEmitter()
  listenForInterrupts({ source, exit () {} })[Symbol.dispose]()
  t.equal(source.listenerCount('SIGINT') + source.listenerCount('SIGTERM'), 0)
})
