import t from 'tap'
import { getRow, measure, reportLines } from '../../../benchmarks/harness.ts'
import { parseMetric } from '../../../benchmarks/server-process.ts'
import { findImbalance, slopeBytes } from '../../../benchmarks/soak.ts'
import type { GroupReport } from '../../../clients/typescript/index.ts'

t.test('a load makes its calls, no more at once than it may, and counts errors and not the warm-up', async t => {
  let [calls, inside, most] = [0, 0, 0]
  const row = await measure({
    subject: 'assay',
    concurrency: 3,
    n: 20,
    warmUp: 7,
    call: async worker => {
      most = Math.max(most, ++inside)
      await new Promise(setImmediate)
      inside--
      if (++calls > 7 && calls % 10 === 0) throw new Error(`worker ${worker}`)
    },
  })
  t.equal(calls, 27)
  t.equal(most, 3)
  t.match(row, { subject: 'assay', concurrency: 3, n: 20, errors: 2 })
  t.ok(row.perSecond > 0 && row.p50Ms > 0 && row.p99Ms >= row.p50Ms)
  t.equal(getRow([row], 'assay', 3), row)
  t.throws(() => getRow([row], 'assay', 4), RangeError)
})

t.test('a report is a table with its ratios and memory', async t => {
  const machine = { at: '', cpuModel: 'a CPU', cpus: 2, memoryBytes: 0, kernel: '6', node: '20' }
  const rows = [{ subject: 'assay', concurrency: 1, n: 5, p50Ms: 1.5, p95Ms: 2, p99Ms: 3, perSecond: 600, errors: 0 }]
  const lines = reportLines({ name: 'step', machine, rows, ratios: { 'p50 at 1': 41.234 }, memory: { serverRssBytes: 2 ** 27 } })
  t.match(lines.join('\n'), /assay +1 +5 +1\.5 +2 +3 +600 +0[^]*p50 at 1: 41\.23x[^]*128 MiB/)
})

t.test('a metric is found by its name and labels, and is 0 when it is not there', async t => {
  const text = '# HELP a_b help\na_b 3\na_b_total{x="1"} 4\na_b{x="1"} 5\n'
  t.same([parseMetric(text, 'a_b'), parseMetric(text, 'a_b', 'x="1"'), parseMetric(text, 'a')], [3, 5, 0])
})

t.test('the slope is in bytes per group', async t => {
  t.equal(slopeBytes([10, 20, 30].map(group => ({ group, rssBytes: 1000 + 7 * group }))), 7)
  t.equal(slopeBytes([10, 20, 30].map(group => ({ group, rssBytes: 1000 }))), 0)
})

const balanced = {
  group: 'g',
  size: 2,
  rewards: [1, 0],
  usable: [true, true],
  members: [{}, {}],
  balance: { requested: 2, solved: 1, unsolved: 1, void: 0, live: 0 },
} as unknown as GroupReport
const cases: Array<[string, Partial<GroupReport>, number]> = [
  ['a finished group', {}, 0],
  ['a group with a live member', { balance: { ...balanced.balance, unsolved: 0, live: 1 } }, 2],
  ['a balance that does not add up', { balance: { ...balanced.balance, requested: 3 } }, 1],
  ['a void written as a reward', { usable: [true, false] }, 1],
  ['a void member', { rewards: [1, null], usable: [true, false], balance: { ...balanced.balance, unsolved: 0, void: 1 } }, 1],
  ['a missing member', { rewards: [1], usable: [true] }, 1],
]
for (const [title, change, problems] of cases) {
  t.test(`${title} has ${problems} problems`, async t => {
    t.equal(findImbalance({ ...balanced, ...change }).length, problems)
  })
}
