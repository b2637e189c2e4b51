// The verdict: outcome, reward and where they came from. The reason table is closed (the only source of rewards).
import { z } from 'zod'
import { Meta } from './values.ts'

export const Outcome = z.enum(['solved', 'unsolved', 'void'])
export type Outcome = z.infer<typeof Outcome>

/** Each reason and the outcome it stands for; budget_* take theirs from onBudget. */
export const REASONS = {
  verified: 'solved',
  verifier_failed: 'unsolved',
  verifier_timeout: 'unsolved',
  agent_broke_verifier: 'unsolved',
  agent_broke_sandbox: 'unsolved',
  delta_rejected: 'unsolved',
  engine_lost: 'void',
  sandbox_lost: 'void',
  verifier_error: 'void',
  reward_missing: 'void',
  reward_malformed: 'void',
  verifier_bootstrap: 'void',
  disk_reserve: 'void',
  task_defect: 'void',
  cancelled: 'void',
  expired: 'void',
  drained: 'void',
} as const satisfies Record<string, Outcome>

export type PlainReason = keyof typeof REASONS

export const BudgetReason = z.enum([
  'budget_steps', 'budget_exec', 'budget_output', 'budget_tokens', 'budget_wall', 'budget_disk', 'budget_ceiling',
])
export type BudgetReason = z.infer<typeof BudgetReason>

export const Reason = z.enum([...Object.keys(REASONS) as PlainReason[], ...BudgetReason.options])
export type Reason = z.infer<typeof Reason>

export const Truncated = z.enum(['tokens', 'turns', ...BudgetReason.options])
export type Truncated = z.infer<typeof Truncated>

export const VerifierMode = z.enum(['fresh', 'fresh-full', 'shared'])
export type VerifierMode = z.infer<typeof VerifierMode>

export const VerifierReport = z.strictObject({
  kind: z.enum(['driver', 'command']),
  mode: VerifierMode,
  cases: z.strictObject({ passed: z.int(), failed: z.int(), total: z.int() }).optional()
    .describe('passed + failed < total where the first failure decided and the rest was not run'),
  durationMs: z.number().describe('Milliseconds from the submission to the result'),
  runs: z.int().describe('How often the submission was verified'),
})
export type VerifierReport = z.infer<typeof VerifierReport>

export const Provenance = z.strictObject({
  task: z.string(),
  taskDigest: z.string().describe('sha256 over every file of the task'),
  imageDigest: z.string().describe('The engine\'s image id'),
  verifierDigest: z.string().describe('sha256 over the hidden files that judged'),
  serverVersion: z.string(),
  engine: z.string(),
  isolation: z.enum(['container', 'cell', 'none']),
  node: z.string(),
  seed: z.int(),
  startedAt: z.iso.datetime(),
  endedAt: z.iso.datetime(),
})
export type Provenance = z.infer<typeof Provenance>

export const Verdict = z.strictObject({
  outcome: Outcome,
  reward: z.union([z.literal(1), z.literal(0), z.null()]).describe('1 solved, 0 unsolved, null: no reward could be had; never average it as a number'),
  usable: z.boolean().describe('reward is not null'),
  trainable: z.boolean().describe('usable, and safe to learn from'),
  reason: Reason,
  truncated: z.union([Truncated, z.null()]).describe('What cut the attempt short, or null'),
  flags: z.array(z.string()),
  verifier: z.union([VerifierReport, z.null()]).describe('null when no verifier ran'),
  provenance: Provenance,
  meta: Meta,
})
export type Verdict = z.infer<typeof Verdict>
