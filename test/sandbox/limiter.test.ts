import t from 'tap'
import { defer } from '../../src/base/defer.ts'
import { Limiter, nextPriority } from '../../src/sandbox/limiter.ts'

await t.test('no more run at once than its width, and all run', async t => {
  const limiter = new Limiter(3)
  let now = 0
  let most = 0
  const results = await Promise.all(Array.from({ length: 20 }, (_, i) => limiter.run(i % 2 === 0 ? 'high' : 'low', async () => {
    most = Math.max(most, ++now)
    await new Promise(resolve => setImmediate(resolve))
    now--
    return i
  })))
  t.equal(most, 3)
  t.same(results, [...Array(20).keys()])
  t.equal(limiter.running + limiter.waiting, 0)
})

await t.test('high goes before low that came earlier, and each in order of arrival', async t => {
  const limiter = new Limiter(1)
  const gate = defer<undefined>()
  const order: string[] = []
  const first = limiter.run('high', () => gate.promise)
  const rest = (['low', 'low', 'high', 'high'] as const).map((priority, i) => {
    return limiter.run(priority, async () => { order.push(`${priority}${i}`) })
  })
  gate.resolve(undefined)
  await Promise.all([first, ...rest])
  t.same(order, ['high2', 'high3', 'low0', 'low1'])
})

await t.test('the turns of low under constant high', t => {
  const turn = (high: number, low: number, highStreak: number): string | undefined => {
    return nextPriority({ high, low, highStreak })
  }
  t.equal(turn(0, 0, 0), undefined)
  t.equal(turn(1, 0, 99), 'high')
  t.equal(turn(0, 1, 0), 'low')
  t.equal(turn(5, 5, 6), 'high')
  t.equal(turn(5, 5, 7), 'low')
  t.equal(turn(5, 65, 0), 'high')
  t.equal(turn(5, 65, 1), 'low')
  t.end()
})

await t.test('who gives up waiting takes no turn, and a failure frees its turn', async t => {
  const limiter = new Limiter(1)
  const gate = defer<undefined>()
  const first = limiter.run('high', async () => { await gate.promise; throw new Error('failed') })
  const controller = new AbortController()
  const gone = limiter.run('low', async () => t.fail('ran'), { signal: controller.signal })
  controller.abort(new Error('gave up'))
  await t.rejects(gone, { message: 'gave up' })
  gate.resolve(undefined)
  await t.rejects(first, { message: 'failed' })
  t.equal(await limiter.run('low', async () => 'ran'), 'ran')
  t.throws(() => new Limiter(0), RangeError)
})
