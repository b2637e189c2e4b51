// soak: one group of 32 after the other; after each the balance is exact and nothing is left over, and memory stays flat.
import { parseArgs } from 'node:util'
import { connect, type Client, type GroupReport } from '../clients/typescript/index.ts'
import type { CommandContext } from '../src/cli/main.ts'
import { formatMs } from '../src/cli/output.ts'
import { loadConfig } from '../src/config.ts'
import { listContainers } from './docker-exec.ts'
import { startServerProcess, type ServerProcess } from './server-process.ts'

export async function run (args: readonly string[], { output, interrupts }: CommandContext): Promise<number> {
  const { engine, groups } = parseSoak(args)
  const { dockerHost } = loadConfig()
  const { signal } = interrupts
  await using server = await startServerProcess({ engine, node: NODE })
  const startedAt = performance.now()
  const samples: Sample[] = []
  const problems: string[] = []
  {
    await using client = await connect(server.url)
    const tasks = (await client.tasks.list()).map(({ id }) => id)
    for (let group = 0; group < groups; group++) {
      const task = tasks[group % tasks.length]
      if (task === undefined) throw new Error('There is no task to run; set ASSAY_TASKS_DIR.')
      problems.push(...findImbalance(await runOne(client, task, signal)), ...await findLeaks(server, signal))
      if (problems.length > 0) break
      if ((group + 1) % SAMPLE_EVERY !== 0) continue
      samples.push({ group: group + 1, rssBytes: await server.rssBytes() })
      output.line(`  ${group + 1} groups, ${formatMs(performance.now() - startedAt)}: server ${mib(samples.at(-1)?.rssBytes ?? NaN)} MiB`)
    }
  }
  await server.stop()
  if (engine === 'docker') problems.push(...(await listContainers(dockerHost, NODE)).map(id => `container ${id.slice(0, 12)} is left`))
  for (const problem of problems) output.line(`  ${problem}`)
  const slope = slopeBytes(samples.slice(Math.floor(samples.length / 4)))
  output.line(`soak: ${groups} groups of ${SIZE} on ${engine}: ${problems.length} problems, ` +
    `memory ${(slope / 1024).toFixed(1)} KiB per group after the first quarter`)
  return problems.length === 0 ? 0 : 1
}

export interface Sample { group: number, rssBytes: number }

/** Pure: least-squares slope of memory over groups, bytes per group; NaN for fewer than two samples. */
export function slopeBytes (samples: readonly Sample[]): number {
  const mean = (values: number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length
  const group = mean(samples.map(sample => sample.group))
  const rss = mean(samples.map(sample => sample.rssBytes))
  const covariance = mean(samples.map(sample => (sample.group - group) * (sample.rssBytes - rss)))
  return covariance / mean(samples.map(sample => (sample.group - group) ** 2))
}

/** Pure: what is wrong with the report of a finished group. */
export function findImbalance ({ group, size, balance, rewards, usable, members }: GroupReport): string[] {
  const { requested, solved, unsolved, void: voided, live } = balance
  const terms = `${requested} = ${solved} solved + ${unsolved} unsolved + ${voided} void + ${live} live`
  const isExact = requested === size && requested === solved + unsolved + voided + live && live === 0 && voided === 0
  const ones = rewards.filter(reward => reward === 1).length
  const zeros = rewards.filter(reward => reward === 0).length
  const agrees = rewards.length === size && members.length === size && ones === solved && zeros === unsolved &&
    usable.every((value, member) => value === (rewards[member] !== null))
  return [
    ...(isExact ? [] : [`${group}: balance ${terms}`]),
    ...(agrees ? [] : [`${group}: rewards ${JSON.stringify(rewards)} do not agree with ${terms}`]),
  ]
}

async function runOne (client: Client, task: string, signal: AbortSignal): Promise<GroupReport> {
  await using group = await client.openGroup({ task, size: SIZE, class: 'load', run: 'soak' })
  await group.run(async (episode, context) => {
    for (let step = 0; step <= context.member % 4; step++) await episode.step('ls -la', { signal: context.signal })
  }, { signal })
  return await group.get()
}

/** Waits, with a limit, until no sandbox is handed out and no episode is live. */
async function findLeaks (server: ServerProcess, signal: AbortSignal): Promise<string[]> {
  const until = performance.now() + SETTLE_MS
  for (;;) {
    const used = await server.readMetric('assay_sandboxes', 'state="used"')
    if (used === 0) return []
    if (performance.now() > until) return [`${used} sandboxes are still handed out ${SETTLE_MS} ms after their group closed`]
    await new Promise(resolve => setTimeout(resolve, 50))
    signal.throwIfAborted()
  }
}

function parseSoak (args: readonly string[]): { engine: 'docker' | 'fake', groups: number } {
  const { values } = parseArgs({ args: [...args], options: { engine: { type: 'string', default: 'fake' }, groups: { type: 'string' } } })
  const { engine } = values
  if (engine !== 'docker' && engine !== 'fake') throw new Error('--engine must be docker or fake')
  const groups = Number(values.groups ?? (engine === 'fake' ? 300 : 20))
  if (!Number.isInteger(groups) || groups < 1) throw new Error('--groups must be a whole number from 1')
  return { engine, groups }
}

function mib (bytes: number): string {
  return (bytes / 2 ** 20).toFixed(1)
}

const NODE = 'soak'
const SIZE = 32
const SAMPLE_EVERY = 10
const SETTLE_MS = 20_000
