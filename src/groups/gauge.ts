// The balance over members of all groups that this node holds, kept on /metrics as it changes.
import type { Balance } from '../protocol/index.ts'
import type { Metrics } from '../telemetry/metrics.ts'

export interface BalanceGauge {
  add (balance: Balance): void
  move (before: Balance, after: Balance): void
  remove (balance: Balance): void
}

export function createBalanceGauge ({ members }: Pick<Metrics, 'members'>): BalanceGauge {
  const shift = (before: Balance, after: Balance): void => {
    for (const term of TERMS) {
      if (before[term] !== after[term]) members.inc({ term }, after[term] - before[term])
    }
  }
  return {
    add: balance => shift(NONE, balance),
    move: shift,
    remove: balance => shift(balance, NONE),
  }
}

const NONE: Balance = { requested: 0, solved: 0, unsolved: 0, void: 0, live: 0 }
const TERMS = ['requested', 'solved', 'unsolved', 'void', 'live'] as const satisfies ReadonlyArray<keyof Balance>
