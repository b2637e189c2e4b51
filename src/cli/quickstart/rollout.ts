// One group of the quickstart, driven as a trainer does: open, run all members, compare each verdict with its plan.
import type { Client, Episode, GroupReport } from '../../../clients/typescript/index.ts'
import { createLatency, type Latency } from '../latency.ts'
import { findMismatch, type Plan } from './plan.ts'
import { act, STEP_BUDGET, type ActOptions } from './policy.ts'

export interface Rollout {
  task: string
  plans: readonly Plan[]
  report: GroupReport
  /** Shape [size]: the newest attempt of each member. */
  episodes: readonly Episode[]
  latencies: { reset: Latency, step: Latency, submit: Latency }
  /** Milliseconds from opening the group to its last verdict. */
  durationMs: number
  /** Sentences: members whose verdict is not the one that their plan must get. */
  mismatches: readonly string[]
}

export interface RolloutOptions {
  plans: readonly Plan[]
  /** Members live at once. */
  concurrency: number
  write: ActOptions['write']
  signal: AbortSignal
  /** Verdicts so far. */
  onVerdict (count: number): void
}

export async function rollOut (client: Client, task: string, options: RolloutOptions): Promise<Rollout> {
  const { plans, concurrency, write, signal, onVerdict } = options
  const latencies = { reset: createLatency(), step: createLatency(), submit: createLatency() }
  const startedAt = performance.now()
  let verdicts = 0
  await using group = await client.openGroup({
    task, size: plans.length, concurrency, run: 'quickstart', budgets: { steps: STEP_BUDGET },
  }, { signal })
  const resetAt = performance.now()
  const { episodes } = await group.run(async (episode, context) => {
    // run sends every first reset at once, so this is what a trainer waits for each of them
    if (context.attempt === 0) latencies.reset.record(performance.now() - resetAt)
    const plan = plans[context.member]
    if (plan === undefined) throw new RangeError(`no plan for member ${context.member}`)
    await act(episode, plan, { steps: latencies.step, write, signal: context.signal })
    await latencies.submit.time(async () => await episode.submit({ signal: context.signal }))
  }, { signal, onVerdict: () => onVerdict(++verdicts) })
  const durationMs = performance.now() - startedAt
  const report = await group.get({ signal })
  return { task, plans, report, episodes, latencies, durationMs, mismatches: findMismatches(plans, episodes) }
}

function findMismatches (plans: readonly Plan[], episodes: readonly Episode[]): string[] {
  return plans.flatMap((plan, member) => {
    const mismatch = findMismatch(plan, episodes[member]?.verdict)
    return mismatch === undefined ? [] : [`member ${member} (${plan.kind}: ${plan.name}) ${mismatch}`]
  })
}
