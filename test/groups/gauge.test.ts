import t from 'tap'
import { createBalanceGauge } from '../../src/groups/gauge.ts'
import { createMetrics } from '../../src/telemetry/metrics.ts'
import { metric } from '../helpers/service.ts'

t.test('the gauge is the sum over groups, and a group that goes takes its share along', async t => {
  const metrics = createMetrics()
  const gauge = createBalanceGauge(metrics)
  const read = async () => Object.fromEntries(await Promise.all(['requested', 'solved', 'unsolved', 'void', 'live'].map(async term => [term, await metric(metrics, 'assay_members', { term })])))
  const fresh = { requested: 4, solved: 0, unsolved: 0, void: 0, live: 4 }
  const later = { requested: 4, solved: 2, unsolved: 1, void: 0, live: 1 }
  gauge.add(fresh)
  gauge.add(fresh)
  gauge.move(fresh, later)
  t.same(await read(), { requested: 8, solved: 2, unsolved: 1, void: 0, live: 5 })
  gauge.remove(later)
  gauge.remove(fresh)
  t.same(await read(), { requested: 0, solved: 0, unsolved: 0, void: 0, live: 0 })
})
