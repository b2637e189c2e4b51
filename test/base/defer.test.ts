// A promise settled from outside.
import t from 'tap'
import { defer } from '../../src/base/defer.ts'

t.test('the first of resolve and reject decides', async t => {
  const good = defer<number>()
  good.resolve(1)
  good.reject(new Error('too late'))
  t.equal(await good.promise, 1)
  const bad = defer<number>()
  bad.reject(new Error('first'))
  bad.resolve(1)
  await t.rejects(bad.promise, { message: 'first' })
})
