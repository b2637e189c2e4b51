// Budgets as arithmetic: what is spent, what is left, which one is exhausted. Pure: measures and enforces nothing.
import type { BudgetLeft, BudgetReason, Budgets } from '../protocol/index.ts'

export interface Spent {
  readonly steps: number
  /** Milliseconds in which the sandbox was busy, by the server's clock. */
  readonly execMs: number
  /** Output bytes that the server received. */
  readonly outputBytes: number
  readonly tokens: number
  /** Milliseconds since the episode was ready, reconnects left out. */
  readonly wallMs: number
}

export const NOTHING_SPENT: Spent = { steps: 0, execMs: 0, outputBytes: 0, tokens: 0, wallMs: 0 }

/** Adds the cost of one step; wallMs is a reading, not a cost, and is replaced. */
export function charge (spent: Spent, cost: Omit<Spent, 'steps'>): Spent {
  return {
    steps: spent.steps + 1,
    execMs: spent.execMs + cost.execMs,
    outputBytes: spent.outputBytes + cost.outputBytes,
    tokens: spent.tokens + cost.tokens,
    wallMs: cost.wallMs,
  }
}

/** What is left of each budget that is set, never below 0. */
export function budgetLeft (budgets: Budgets, spent: Spent): BudgetLeft {
  const left: BudgetLeft = {}
  for (const kind of KINDS) {
    const limit = budgets[kind]
    if (limit !== undefined) left[kind] = Math.max(0, limit - spent[kind])
  }
  return left
}

/** The first budget of which nothing is left. */
export function findExhausted (budgets: Budgets, spent: Spent): BudgetReason | undefined {
  const kind = KINDS.find(name => budgets[name] !== undefined && spent[name] >= (budgets[name] ?? 0))
  return kind === undefined ? undefined : REASON_OF[kind]
}

/** Sentences for the agent before a budget ends: one step left, or a tenth of any other. */
export function warnBudgets (budgets: Budgets, spent: Spent): string[] {
  const left = budgetLeft(budgets, spent)
  return KINDS.flatMap(kind => {
    const rest = left[kind]
    const limit = budgets[kind]
    if (rest === undefined || limit === undefined || rest <= 0) return []
    if (kind === 'steps') return rest === 1 ? [`One step is left; after it ${ENDING[budgets.onBudget]}.`] : []
    return rest <= limit / 10 ? [`${Math.ceil(rest)} ${UNIT[kind]} are left; after them ${ENDING[budgets.onBudget]}.`] : []
  })
}

type Kind = keyof Spent

const KINDS: readonly Kind[] = ['steps', 'execMs', 'outputBytes', 'tokens', 'wallMs']

const REASON_OF: Record<Kind, BudgetReason> = {
  steps: 'budget_steps',
  execMs: 'budget_exec',
  outputBytes: 'budget_output',
  tokens: 'budget_tokens',
  wallMs: 'budget_wall',
}

const UNIT: Record<Exclude<Kind, 'steps'>, string> = {
  execMs: 'milliseconds of command time',
  outputBytes: 'bytes of output',
  tokens: 'tokens',
  wallMs: 'milliseconds',
}

const ENDING: Record<Budgets['onBudget'], string> = {
  verify: 'the work is submitted as it stands',
  zero: 'the attempt ends with reward 0',
  void: 'the attempt ends without a reward',
}
