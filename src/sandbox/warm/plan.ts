// Pure: how many sandboxes of which kind to start now, and which ready ones are too many. Knows no engine and no clock.

export interface Demand {
  /** What makes two sandboxes interchangeable. */
  key: string
  /** Callers that wait for one. */
  waiting: number
  /** When the first of them came; any unit, only compared. */
  waitingSince: number
  /** Announced and not yet taken. */
  staged: number
  /** Used lately, so some are kept beyond what is staged. */
  lately: boolean
  ready: number
  starting: number
  /** Nothing may be started now: it failed a moment ago. */
  blocked: boolean
}

export interface WarmLimits {
  /** Sandboxes kept ready per kind that was used lately. */
  warmSandboxes: number
  /** Starts in flight over all kinds. */
  maxStarting: number
}

export interface WarmPlan {
  /** A key for each sandbox to start, most urgent first. */
  start: string[]
  /** Ready sandboxes to dispose of. */
  surplus: Array<{ key: string, count: number }>
}

/** Callers that wait come first, longest wait first; then what is staged or kept warm, evenly over the kinds. */
export function planWarm (demands: readonly Demand[], { warmSandboxes, maxStarting }: WarmLimits): WarmPlan {
  const keep = ({ staged, lately }: Demand): number => staged + (lately ? warmSandboxes : 0)
  const inFlight = demands.reduce((sum, { starting }) => sum + starting, 0)
  const open = demands.filter(({ blocked }) => !blocked)
  const direct = [...open].sort((a, b) => a.waitingSince - b.waitingSince)
    .map(demand => ({ key: demand.key, count: demand.waiting - demand.starting }))
  const ahead = open.map(demand => {
    const unclaimed = Math.max(0, demand.starting - demand.waiting)
    return { key: demand.key, count: keep(demand) - demand.ready - unclaimed }
  })
  return {
    start: [...takeTurns(direct), ...takeTurns(ahead)].slice(0, Math.max(0, maxStarting - inFlight)),
    surplus: demands
      .map(demand => ({ key: demand.key, count: demand.ready - keep(demand) }))
      .filter(({ count }) => count > 0),
  }
}

/** One of each in turn until all counts are used up. */
function takeTurns (wants: ReadonlyArray<{ key: string, count: number }>): string[] {
  const turns: string[] = []
  for (let round = 0; ; round++) {
    const keys = wants.filter(({ count }) => count > round).map(({ key }) => key)
    if (keys.length === 0) return turns
    turns.push(...keys)
  }
}
