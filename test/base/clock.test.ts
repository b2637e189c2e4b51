// Real time, and time that a test moves.
import t from 'tap'
import { manualClock, systemClock } from '../../src/base/clock.ts'

t.test('a manual clock runs due timers in order of time, at their time', async t => {
  const clock = manualClock(1_000)
  const seen: Array<[string, number]> = []
  const note = (name: string) => () => { seen.push([name, clock.monotonic()]) }
  clock.after(30, note('c'))
  clock.after(10, note('a'))
  clock.after(10, note('b'))
  clock.after(20, () => { clock.after(5, note('nested')) })
  clock.advance(9)
  t.same(seen, [])
  clock.advance(21)
  t.same(seen, [['a', 10], ['b', 10], ['nested', 25], ['c', 30]])
  t.equal(clock.now(), 1_030)
})

t.test('a cancelled timer never runs', async t => {
  const clock = manualClock()
  const cancel = clock.after(10, () => t.fail('ran'))
  cancel()
  cancel()
  clock.advance(100)
  t.equal(clock.monotonic(), 100)
})

t.test('the system clock calls once, later, unless cancelled', async t => {
  const before = systemClock.monotonic()
  systemClock.after(1, () => t.fail('ran'))()
  const alive = setInterval(() => {}, 1_000) // the clock's own timers keep no process alive
  await new Promise<void>(resolve => systemClock.after(5, resolve))
  clearInterval(alive)
  t.ok(systemClock.monotonic() - before >= 4)
  t.ok(Math.abs(systemClock.now() - Date.now()) < 1_000)
})

await t.test('a system timer never fires before its time, fractions of a millisecond included', async t => {
  const keepAlive = setInterval(() => {}, 1_000)
  t.teardown(() => clearInterval(keepAlive))
  for (let i = 0; i < 40; i++) {
    const due = systemClock.monotonic() + 1.9
    await new Promise<void>(resolve => systemClock.after(1.9, resolve))
    t.ok(systemClock.monotonic() >= due)
  }
})
