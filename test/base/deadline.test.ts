// Time limits joined to a parent signal.
import { getEventListeners, once } from 'node:events'
import t from 'tap'
import { deadline, orAbort } from '../../src/base/deadline.ts'
import { defer } from '../../src/base/defer.ts'

t.test('a deadline aborts with a typed error that says what took too long', async t => {
  using limit = deadline(5, { what: 'the build', code: 'ENGINE_FAULT' })
  await once(limit.signal, 'abort')
  t.match(limit.signal.reason, { code: 'ENGINE_FAULT', message: 'the build took longer than 5 ms' })
  using plain = deadline(1)
  await once(plain.signal, 'abort')
  t.match(plain.signal.reason, { code: 'DEADLINE' })
})

t.test('a parent that aborts passes its reason on, also when it had aborted before', async t => {
  const parent = new AbortController()
  using child = deadline(10_000, { parent: parent.signal })
  const reason = new Error('client gone')
  parent.abort(reason)
  t.equal(child.signal.reason, reason)
  using late = deadline(10_000, { parent: parent.signal })
  t.equal(late.signal.reason, reason)
})

t.test('a disposed deadline leaves no listener on its parent and never fires', async t => {
  const parent = new AbortController()
  const limits = Array.from({ length: 5 }, () => deadline(1, { parent: parent.signal }))
  t.equal(getEventListeners(parent.signal, 'abort').length, 5)
  for (const limit of limits) limit[Symbol.dispose]()
  t.equal(getEventListeners(parent.signal, 'abort').length, 0)
  using later = deadline(5)
  await once(later.signal, 'abort')
  t.same(limits.map(limit => limit.signal.aborted), limits.map(() => false))
})

t.test('orAbort settles with the promise, or with the signal\'s reason, whichever is first', async t => {
  const { signal } = new AbortController()
  t.equal(await orAbort(Promise.resolve(1), signal), 1)
  t.equal(await orAbort(Promise.resolve(2), undefined), 2)
  await t.rejects(orAbort(Promise.reject(new Error('own')), signal), { message: 'own' })
  t.equal(getEventListeners(signal, 'abort').length, 0, 'and takes its listener along')
  const controller = new AbortController()
  const never = defer<number>()
  const waiting = orAbort(never.promise, controller.signal)
  controller.abort(new Error('left'))
  await t.rejects(waiting, { message: 'left' })
  await t.rejects(orAbort(Promise.resolve(3), controller.signal), { message: 'left' })
})

t.test('a promise that fails after its caller left is nobody\'s unhandled rejection', async t => {
  const unhandled: unknown[] = []
  const note = (reason: unknown): void => { unhandled.push(reason) }
  process.on('unhandledRejection', note)
  t.teardown(() => process.off('unhandledRejection', note))
  const controller = new AbortController()
  const slow = defer<void>()
  const waiting = orAbort(slow.promise, controller.signal)
  controller.abort(new Error('left'))
  await t.rejects(waiting)
  slow.reject(new Error('late'))
  await new Promise(setImmediate)
  t.same(unhandled, [])
})
