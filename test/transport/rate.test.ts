// The token bucket against a clock that the test moves.
import t from 'tap'
import { manualClock } from '../../src/base/clock.ts'
import { TokenBucket } from '../../src/transport/rate.ts'

t.test('a minute\'s worth goes at once, then one per interval', async t => {
  const clock = manualClock()
  const bucket = new TokenBucket(60, clock)
  for (let i = 0; i < 60; i++) t.equal(bucket.take(), 0)
  t.equal(bucket.take(), 1000)
  clock.advance(400)
  t.equal(bucket.take(), 600, 'a refused take costs nothing')
  clock.advance(600)
  t.equal(bucket.take(), 0)
  t.equal(bucket.take(), 1000)
})

t.test('waiting as long as it says is enough, and idling saves up no more than a minute\'s worth', async t => {
  const clock = manualClock()
  const bucket = new TokenBucket(7, clock)
  for (let i = 0; i < 200; i++) {
    const waitMs = bucket.take()
    if (waitMs === 0) continue
    clock.advance(waitMs)
    t.equal(bucket.take(), 0)
  }
  clock.advance(3_600_000)
  let taken = 0
  while (bucket.take() === 0) taken++
  t.equal(taken, 7)
})
