// Pure: what the quickstart prints about its rollouts, at most 100 columns wide.
import type { GroupReport, Verdict } from '../../../clients/typescript/index.ts'
import type { Latency } from '../latency.ts'
import { formatMs, table, WIDTH } from '../output.ts'
import type { Rollout } from './rollout.ts'

/** "rewards  1 0 1 · 0 …" wrapped; · stands for null. */
export function rewardLines (rewards: GroupReport['rewards']): string[] {
  const perLine = Math.floor((WIDTH - REWARD_INDENT.length) / 2)
  const marks = rewards.map(reward => reward === null ? '·' : String(reward))
  const lines: string[] = []
  for (let at = 0; at < marks.length; at += perLine) lines.push(marks.slice(at, at + perLine).join(' '))
  return lines.map((line, index) => (index === 0 ? '  rewards  ' : REWARD_INDENT) + line)
}

/** One row per (outcome, reward, reason, truncated), most frequent first. */
export function outcomeTable (verdicts: readonly Verdict[]): string[] {
  const counts = new Map<string, { cells: string[], count: number }>()
  for (const { outcome, reward, reason, truncated } of verdicts) {
    const cells = [outcome, reward === null ? 'null' : String(reward), reason, truncated ?? '–']
    const entry = counts.get(cells.join()) ?? { cells, count: 0 }
    entry.count++
    counts.set(cells.join(), entry)
  }
  const rows = [...counts.values()]
    .sort((a, b) => b.count - a.count)
    .map(({ cells, count }) => [...cells, String(count)])
  return table([['outcome', 'reward', 'reason', 'truncated', 'members'], ...rows], { right: [4] })
}

export function rolloutLines ({ task, report, episodes, durationMs }: Rollout): string[] {
  const { solved, unsolved, void: voided } = report.balance
  const verdicts = episodes.flatMap(({ verdict }) => verdict === undefined ? [] : [verdict])
  const attempts = report.members.reduce((sum, member) => sum + member.attempts, 0)
  const counts = `${solved} solved, ${unsolved} unsolved, ${voided} void`
  return [
    `${task}: ${report.size} members, ${attempts} attempts in ${formatMs(durationMs)}: ${counts}`,
    ...rewardLines(report.rewards),
    ...outcomeTable(verdicts),
  ]
}

/** Latencies per task, and the rate over all of them. */
export function rateLines (rollouts: readonly Rollout[], { wallMs }: { wallMs: number }): string[] {
  const kinds = ['reset', 'step', 'submit'] as const
  const rows = rollouts.flatMap(({ task, latencies }) => {
    return kinds.map(kind => [task, kind, ...latencyCells(latencies[kind])])
  })
  const verdicts = rollouts.reduce((sum, { episodes }) => sum + episodes.length, 0)
  const steps = rollouts.reduce((sum, { latencies }) => sum + latencies.step.count, 0)
  const perSecond = (count: number): string => (count / (wallMs / 1000)).toFixed(1)
  return [
    ...table([['task', 'request', 'n', 'p50', 'p95', 'max'], ...rows], { right: [2, 3, 4, 5] }),
    '',
    `  ${verdicts} rollouts in ${formatMs(wallMs)}: ${perSecond(verdicts)} rollouts/s, ${perSecond(steps)} steps/s`,
  ]
}

function latencyCells (latency: Latency): string[] {
  return [String(latency.count), ...[50, 95, 100].map(percent => formatMs(latency.percentileMs(percent)))]
}

const REWARD_INDENT = ' '.repeat(11)
