import t from 'tap'
import { createLatency } from '../../src/cli/latency.ts'

t.test('percentiles are in milliseconds, to three digits', async t => {
  const latency = createLatency()
  t.ok(Number.isNaN(latency.percentileMs(50)), 'nothing recorded')
  for (let ms = 1; ms <= 100; ms++) latency.record(ms)
  t.equal(latency.count, 100)
  t.ok(Math.abs(latency.percentileMs(50) - 50) < 0.1, `${latency.percentileMs(50)}`)
  t.ok(Math.abs(latency.percentileMs(99) - 99) < 0.1, `${latency.percentileMs(99)}`)
})

t.test('below a microsecond and above an hour the ends are recorded', async t => {
  const latency = createLatency()
  latency.record(0)
  latency.record(1e9)
  t.equal(latency.count, 2)
  t.equal(latency.percentileMs(1), 0.001)
})

t.test('a failing call is timed as well', async t => {
  const latency = createLatency()
  await t.rejects(latency.time(async () => { throw new Error('no') }))
  t.equal(latency.count, 1)
})
