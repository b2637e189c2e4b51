import t from 'tap'
import { manualClock } from '../../../src/base/clock.ts'
import { TimeBudget } from '../../../src/episodes/attempt/time.ts'

function start (wallMs: number | undefined = 1000) {
  const clock = manualClock()
  const exhausted: string[] = []
  const time = new TimeBudget({ clock, wallMs, ceilingMs: 10_000, onExhausted: reason => exhausted.push(reason) })
  return { clock, exhausted, time }
}

t.test('wall time counts from the start, and ends once', async t => {
  const { clock, exhausted, time } = start()
  clock.advance(5000)
  t.equal(time.wallMs, 0)
  time.start()
  clock.advance(999)
  t.same(exhausted, [])
  t.equal(time.wallMs, 999)
  clock.advance(1)
  t.same(exhausted, ['budget_wall'])
  clock.advance(100_000)
  t.same(exhausted, ['budget_wall'])
  t.equal(time.wallMs, 1000)
})

t.test('a pause does not count, before the start or after it', async t => {
  const { clock, exhausted, time } = start()
  time.pause()
  time.start()
  clock.advance(3000)
  time.resume()
  time.resume()
  clock.advance(400)
  time.pause()
  time.pause()
  clock.advance(3000)
  t.equal(time.wallMs, 400)
  time.resume()
  clock.advance(599)
  t.same(exhausted, [])
  clock.advance(1)
  t.same(exhausted, ['budget_wall'])
})

t.test('the ceiling knows no pause and needs no wall budget', async t => {
  const { clock, exhausted, time } = start(undefined)
  time.start()
  time.pause()
  clock.advance(9999)
  t.same(exhausted, [])
  clock.advance(1)
  t.same(exhausted, ['budget_ceiling'])
})

t.test('after stop nothing is exhausted', async t => {
  const { clock, exhausted, time } = start()
  time.start()
  time.stop()
  clock.advance(100_000)
  time.resume()
  clock.advance(100_000)
  t.same(exhausted, [])
})
