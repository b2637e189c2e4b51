import t from 'tap'
import { planWarm, type Demand, type WarmPlan } from '../../../src/sandbox/warm/plan.ts'

const demand = (key: string, rest: Partial<Demand> = {}): Demand => ({
  key, waiting: 0, waitingSince: Infinity, staged: 0, lately: false, ready: 0, starting: 0, blocked: false, ...rest,
})

interface Row {
  title: string
  demands: Demand[]
  warmSandboxes?: number
  maxStarting?: number
  plan: WarmPlan
}

const rows: Row[] = [
  { title: 'nothing wanted', demands: [demand('a')], plan: { start: [], surplus: [] } },
  { title: 'one for each caller that waits', demands: [demand('a', { waiting: 2 })], plan: { start: ['a', 'a'], surplus: [] } },
  { title: 'what is already starting serves a caller', demands: [demand('a', { waiting: 2, starting: 1 })], plan: { start: ['a'], surplus: [] } },
  { title: 'a start that serves a caller does not count as staged', demands: [demand('a', { waiting: 1, starting: 1, staged: 1 })], plan: { start: ['a'], surplus: [] } },
  { title: 'staged ones, less what is ready or starting', demands: [demand('a', { staged: 4, ready: 1, starting: 1 })], plan: { start: ['a', 'a'], surplus: [] } },
  {
    title: 'the caller that waits longest first, callers before staged',
    demands: [demand('a', { staged: 1 }), demand('b', { waiting: 1, waitingSince: 20 }), demand('c', { waiting: 1, waitingSince: 10 })],
    plan: { start: ['c', 'b', 'a'], surplus: [] },
  },
  { title: 'kinds take turns', demands: [demand('a', { staged: 3 }), demand('b', { staged: 2 })], plan: { start: ['a', 'b', 'a', 'b', 'a'], surplus: [] } },
  { title: 'no more in flight than allowed', demands: [demand('a', { staged: 9, starting: 2 })], maxStarting: 4, plan: { start: ['a', 'a'], surplus: [] } },
  { title: 'over the limit already', demands: [demand('a', { staged: 9, starting: 5 })], maxStarting: 4, plan: { start: [], surplus: [] } },
  { title: 'a blocked kind starts nothing', demands: [demand('a', { waiting: 1, blocked: true }), demand('b', { waiting: 1 })], plan: { start: ['b'], surplus: [] } },
  { title: 'some are kept of what was used lately', demands: [demand('a', { lately: true })], warmSandboxes: 2, plan: { start: ['a', 'a'], surplus: [] } },
  { title: 'what nobody announced any more is surplus', demands: [demand('a', { ready: 3, staged: 1 })], plan: { start: [], surplus: [{ key: 'a', count: 2 }] } },
  { title: 'kept warm ones are no surplus until they grow old', demands: [demand('a', { ready: 2, lately: true }), demand('b', { ready: 2 })], warmSandboxes: 2, plan: { start: [], surplus: [{ key: 'b', count: 2 }] } },
]

for (const { title, demands, warmSandboxes = 0, maxStarting = 8, plan } of rows) {
  t.same(planWarm(demands, { warmSandboxes, maxStarting }), plan, title)
}
