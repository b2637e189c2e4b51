import t from 'tap'
import { createMetrics } from '../../src/telemetry/metrics.ts'

t.test('every instrument has a name of ours, help and closed labels', async t => {
  const metrics = await createMetrics().registry.getMetricsAsJSON()
  for (const { name, help } of metrics) {
    t.match(name, /^assay_[a-z_]+$/)
    t.ok(help.length > 5, name)
  }
  t.equal(new Set(metrics.map(({ name }) => name)).size, metrics.length)
})

t.test('two servers in one process count apart, and facts of the process are there on request', async t => {
  const [one, two] = [createMetrics(), createMetrics({ processMetrics: true })]
  one.sockets.inc()
  t.match(await one.registry.metrics(), /^assay_sockets 1$/m)
  t.match(await two.registry.metrics(), /^assay_sockets 0$/m)
  t.match(await two.registry.metrics(), /^process_resident_memory_bytes /m)
  t.notMatch(await one.registry.metrics(), /process_/)
})
