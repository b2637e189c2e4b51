// From a reason to outcome, reward, usable and trainable: the only place where rewards are made. Pure.
import {
  REASONS, type BudgetReason, type Budgets, type Meta, type Outcome, type PlainReason, type Provenance, type Reason,
  type Truncated, type Verdict, type VerifierReport,
} from '../protocol/index.ts'

/** How an attempt ended, before it is turned into a reward. */
export interface Judgement {
  reason: Reason
  truncated: Truncated | null
  flags: string[]
  /** null when no verifier ran. */
  verifier: VerifierReport | null
}

export interface VerdictFacts {
  onBudget: Budgets['onBudget']
  /** This very digest of the task passed the admission gate. */
  isAdmitted: boolean
  provenance: Provenance
  meta: Meta
}

export function decideVerdict (judgement: Judgement, facts: VerdictFacts): Verdict {
  const { onBudget, isAdmitted, provenance, meta } = facts
  const outcome = outcomeOf(judgement.reason, onBudget)
  const usable = outcome !== 'void'
  return {
    outcome,
    reward: REWARDS[outcome],
    usable,
    trainable: usable && isAdmitted && provenance.isolation !== 'none' && judgement.verifier?.mode !== 'shared',
    reason: judgement.reason,
    truncated: judgement.truncated,
    flags: judgement.flags,
    verifier: judgement.verifier,
    provenance,
    meta,
  }
}

/** A budget is a reason of its own only when it was not verified: zero says 0, everything else has no reward. */
export function outcomeOf (reason: Reason, onBudget: Budgets['onBudget']): Outcome {
  if (isPlain(reason)) return REASONS[reason]
  return onBudget === 'zero' ? 'unsolved' : 'void'
}

/** An ending that no verifier had a part in. */
export function unverified (reason: PlainReason | BudgetReason, truncated: Truncated | null = null): Judgement {
  return { reason, truncated, flags: [], verifier: null }
}

function isPlain (reason: Reason): reason is PlainReason {
  return Object.hasOwn(REASONS, reason)
}

const REWARDS = { solved: 1, unsolved: 0, void: null } as const satisfies Record<Outcome, 1 | 0 | null>
