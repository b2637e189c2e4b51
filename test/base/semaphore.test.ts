// Fairness, giving up, and no permit lost or made up.
import { randomInt } from 'node:crypto'
import { getEventListeners } from 'node:events'
import t from 'tap'
import { Semaphore, type Permit } from '../../src/base/semaphore.ts'

t.test('permits are given at once while there are some, then in order of arrival', async t => {
  const semaphore = new Semaphore(2)
  const order: string[] = []
  const first = await semaphore.take()
  const second = await semaphore.take()
  const third = semaphore.take().then(permit => { order.push('third'); return permit })
  const fourth = semaphore.take().then(permit => { order.push('fourth'); return permit })
  t.equal(semaphore.waiting, 2)
  first[Symbol.dispose]()
  ;(await third)[Symbol.dispose]()
  ;(await fourth)[Symbol.dispose]()
  t.same(order, ['third', 'fourth'])
  second[Symbol.dispose]()
  t.equal(semaphore.free, 2)
})

t.test('a large request at the head is not overtaken by small ones', async t => {
  const semaphore = new Semaphore(3)
  const held = await semaphore.take(1)
  const order: string[] = []
  const large = semaphore.take(3).then(permit => { order.push('large'); return permit })
  const small = semaphore.take(1).then(permit => { order.push('small'); return permit })
  await new Promise(setImmediate)
  t.same(order, [], 'two are free, and the small one waits its turn')
  held[Symbol.dispose]()
  ;(await large)[Symbol.dispose]()
  ;(await small)[Symbol.dispose]()
  t.same(order, ['large', 'small'])
})

t.test('a waiter that gives up lets those behind it through and leaves no listener', async t => {
  const semaphore = new Semaphore(2)
  const held = await semaphore.take(1)
  const controller = new AbortController()
  const large = semaphore.take(2, { signal: controller.signal })
  const small = semaphore.take(1)
  controller.abort(new Error('gave up'))
  await t.rejects(large, { message: 'gave up' })
  ;(await small)[Symbol.dispose]()
  held[Symbol.dispose]()
  t.equal(semaphore.free, 2)
  t.equal(getEventListeners(controller.signal, 'abort').length, 0)
  await t.rejects(semaphore.take(1, { signal: controller.signal }), { message: 'gave up' })
  t.equal(semaphore.free, 2)
})

t.test('a permit granted in the turn in which its caller gives up is not lost', async t => {
  const semaphore = new Semaphore(1)
  const held = await semaphore.take()
  const controller = new AbortController()
  const waiting = semaphore.take(1, { signal: controller.signal })
  controller.abort(new Error('gave up'))
  held[Symbol.dispose]()
  const outcome = await waiting.then(permit => permit, () => undefined)
  outcome?.[Symbol.dispose]()
  await new Promise(setImmediate)
  t.equal(semaphore.free, 1)
})

t.test('releasing twice gives back once; what can never be had is refused', async t => {
  const semaphore = new Semaphore(2)
  const permit = await semaphore.take(2)
  t.equal(permit.count, 2)
  permit[Symbol.dispose]()
  permit[Symbol.dispose]()
  t.equal(semaphore.free, 2)
  await t.rejects(semaphore.take(3), RangeError)
  for (const capacity of [0, -1, 1.5, NaN]) t.throws(() => new Semaphore(capacity), RangeError)
})

t.test('in any order of taking, releasing and giving up, no permit leaks and the bound holds', async t => {
  for (let round = 0; round < 30; round++) {
    const capacity = randomInt(1, 6)
    const semaphore = new Semaphore(capacity)
    let inUse = 0
    const held: Permit[] = []
    const release = (permit: Permit): void => { inUse -= permit.count; permit[Symbol.dispose]() }
    const pending: Array<Promise<void>> = []
    for (let move = 0; move < 100; move++) {
      const permit = randomInt(2) === 0 ? held.splice(randomInt(held.length + 1), 1)[0] : undefined
      if (permit !== undefined) release(permit)
      const controller = new AbortController()
      pending.push(semaphore.take(randomInt(1, capacity + 1), { signal: controller.signal }).then(granted => {
        inUse += granted.count
        if (inUse > capacity) t.fail(`${inUse} in use of ${capacity}`)
        held.push(granted)
      }, () => {}))
      if (randomInt(3) === 0) setImmediate(() => controller.abort(new Error('gave up')))
      if (randomInt(4) === 0) await new Promise(setImmediate)
    }
    while (semaphore.waiting > 0) {
      for (const permit of held.splice(0)) release(permit)
      await new Promise(setImmediate)
    }
    await Promise.all(pending)
    for (const permit of held.splice(0)) release(permit)
    t.match(semaphore, { free: capacity, waiting: 0 })
  }
})
