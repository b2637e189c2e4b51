import t from 'tap'
import { decideVerdict, outcomeOf, unverified, type VerdictFacts } from '../../src/episodes/verdict.ts'
import { BudgetReason, REASONS, Reason, Verdict, type PlainReason } from '../../src/protocol/index.ts'

const facts: VerdictFacts = {
  onBudget: 'verify',
  isAdmitted: true,
  meta: { policy: 1 },
  provenance: {
    task: 'a',
    taskDigest: 'd',
    imageDigest: 'i',
    verifierDigest: 'v',
    serverVersion: '0',
    engine: 'docker',
    isolation: 'container',
    node: 'n1',
    seed: 1,
    startedAt: '2026-01-01T00:00:00.000Z',
    endedAt: '2026-01-01T00:00:01.000Z',
  },
}

/** DESIGN's table, written out a second time on purpose. */
const OUTCOMES: Record<PlainReason, 1 | 0 | null> = {
  verified: 1,
  verifier_failed: 0,
  verifier_timeout: 0,
  agent_broke_verifier: 0,
  agent_broke_sandbox: 0,
  delta_rejected: 0,
  engine_lost: null,
  sandbox_lost: null,
  verifier_error: null,
  reward_missing: null,
  reward_malformed: null,
  verifier_bootstrap: null,
  disk_reserve: null,
  task_defect: null,
  cancelled: null,
  expired: null,
  drained: null,
}

for (const [reason, reward] of Object.entries(OUTCOMES) as Array<[PlainReason, 1 | 0 | null]>) {
  t.test(`${reason} is worth ${reward}`, async t => {
    const verdict = decideVerdict(unverified(reason), facts)
    t.equal(verdict.reward, reward)
    t.equal(verdict.usable, reward !== null)
    t.equal(verdict.trainable, reward !== null)
    t.equal(verdict.outcome, reward === null ? 'void' : reward === 1 ? 'solved' : 'unsolved')
    t.same(Verdict.parse(verdict), verdict)
  })
}

t.test('the table is complete', async t => {
  t.same(Object.keys(OUTCOMES).sort(), Object.keys(REASONS).sort())
  t.equal(Reason.options.length, Object.keys(OUTCOMES).length + BudgetReason.options.length)
})

for (const reason of BudgetReason.options) {
  t.test(`${reason} takes its worth from onBudget, and is never a solution`, async t => {
    t.equal(outcomeOf(reason, 'zero'), 'unsolved')
    t.equal(outcomeOf(reason, 'void'), 'void')
    t.equal(outcomeOf(reason, 'verify'), 'void')
  })
}

t.test('trainable needs an admitted task, real isolation and a fresh verifier', async t => {
  const report = { kind: 'driver', durationMs: 1, runs: 1 } as const
  const solved = { ...unverified('verified'), verifier: { ...report, mode: 'fresh' as const } }
  t.equal(decideVerdict(solved, facts).trainable, true)
  t.equal(decideVerdict({ ...solved, verifier: { ...report, mode: 'fresh-full' } }, facts).trainable, true)
  t.equal(decideVerdict({ ...solved, verifier: { ...report, mode: 'shared' } }, facts).trainable, false)
  t.equal(decideVerdict(solved, { ...facts, isAdmitted: false }).trainable, false)
  t.equal(decideVerdict(solved, { ...facts, provenance: { ...facts.provenance, isolation: 'none' } }).trainable, false)
  t.equal(decideVerdict(solved, { ...facts, provenance: { ...facts.provenance, isolation: 'cell' } }).trainable, true)
})
