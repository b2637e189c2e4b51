// Releasing in reverse order, whatever fails.
import t from 'tap'
import { defer } from '../../src/base/defer.ts'
import { Scope } from '../../src/base/scope.ts'

t.test('what was added last is released first, sync or async', async t => {
  const released: string[] = []
  {
    await using scope = new Scope()
    const first = await scope.add({ [Symbol.asyncDispose]: async () => { released.push('first') } })
    t.type(first[Symbol.asyncDispose], 'function', 'the resource is returned')
    await scope.add({ [Symbol.dispose]: () => { released.push('second') } })
    await scope.defer(() => { released.push('third') })
    t.same(released, [])
  }
  t.same(released, ['third', 'second', 'first'])
})

t.test('a release that fails keeps no other from running; the first failure is thrown', async t => {
  const released: string[] = []
  const scope = new Scope()
  await scope.defer(() => { released.push('a') })
  await scope.defer(() => { throw new Error('later') })
  await scope.defer(async () => { throw new Error('sooner') })
  await t.rejects(scope.close(), { message: 'sooner' })
  t.same(released, ['a'])
})

t.test('close waits for the same release however often it is called', async t => {
  const gate = defer<void>()
  let runs = 0
  const scope = new Scope()
  await scope.defer(async () => { runs++; await gate.promise })
  const both = Promise.all([scope.close(), scope.close()])
  gate.resolve()
  await both
  await scope.close()
  t.equal(runs, 1)
})

t.test('what is added after close is released at once', async t => {
  const scope = new Scope()
  await scope.close()
  let released = 0
  await scope.add({ [Symbol.dispose]: () => { released++ } })
  await scope.defer(() => { released++ })
  t.equal(released, 2)
})
