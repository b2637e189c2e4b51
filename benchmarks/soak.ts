// soak: one group of 32 after the other; after each the balance is exact and nothing is left over, and memory stays flat.
import { parseArgs } from 'node:util'
import { connect, type GroupReport } from '../clients/typescript/index.ts'
import type { CommandContext } from '../src/cli/main.ts'
import { formatMs } from '../src/cli/output.ts'
import { FAKE_TASKS } from '../src/cli/quickstart/fake-tasks.ts'
import { planMembers, type Plan } from '../src/cli/quickstart/plan.ts'
import { rollOut } from '../src/cli/quickstart/rollout.ts'
import { writeCommands, writePlainly } from '../src/cli/quickstart/shell.ts'
import { AssayError } from '../src/errors.ts'
import { loadConfig } from '../src/config.ts'
import { loadCatalogue } from '../src/tasks/catalogue.ts'
import { listSolutions } from '../src/tasks/solutions.ts'
import { silentLogger } from '../src/telemetry/log.ts'
import { listContainers } from './docker-exec.ts'
import { startServerProcess, type ServerProcess } from './server-process.ts'

export async function run (args: readonly string[], { output, interrupts }: CommandContext): Promise<number> {
  const { engine, groups } = parseSoak(args)
  const config = loadConfig()
  const { dockerHost } = config
  const tasksDir = engine === 'fake' ? FAKE_TASKS : config.tasksDir
  const write = engine === 'fake' ? writePlainly : writeCommands
  const { signal } = interrupts
  await using server = await startServerProcess({
    engine, node: NODE, nodeFlags: [HEAP_FLAG], settings: { ASSAY_TASKS_DIR: tasksDir },
  })
  const startedAt = performance.now()
  const samples: Sample[] = []
  const problems: string[] = []
  {
    await using client = await connect(server.url)
    const tasks = await planTasks(tasksDir)
    for (let group = 0; group < groups; group++) {
      const task = tasks[group % tasks.length]
      if (task === undefined) throw new Error(`There is no task in ${tasksDir}; set ASSAY_TASKS_DIR.`)
      const { report, mismatches } = await rollOut(client, task.id, {
        plans: task.plans, concurrency: SIZE, write, signal, onVerdict () {},
      })
      problems.push(...mismatches, ...findImbalance(report), ...await findLeaks(server, signal))
      if (problems.length > 0) break
      const sample = { group: group + 1, rssBytes: await server.rssBytes() }
      samples.push(sample)
      if (sample.group % TELL_EVERY !== 0) continue
      const heapBytes = await server.readMetric('nodejs_heap_size_used_bytes')
      const elapsed = formatMs(performance.now() - startedAt)
      output.line(`  ${sample.group} groups, ${elapsed}: server ${mib(sample.rssBytes)} MiB resident, heap ${mib(heapBytes)} MiB`)
    }
  }
  await server.stop()
  if (engine === 'docker') problems.push(...(await listContainers(dockerHost, NODE)).map(id => `container ${id.slice(0, 12)} is left`))
  for (const problem of problems) output.line(`  ${problem}`)
  const slope = slopeBytes(samples.slice(Math.floor(samples.length / 2)))
  output.line(`soak: ${groups} groups of ${SIZE} on ${engine}: ${problems.length} problems, ` +
    `memory ${(slope / 1024).toFixed(1)} KiB per group over the second half`)
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

interface TaskPlan { id: string, plans: Plan[] }

async function planTasks (tasksDir: string): Promise<TaskPlan[]> {
  const catalogue = await loadCatalogue(tasksDir, { log: silentLogger })
  return await Promise.all(catalogue.list().map(async task => {
    return { id: task.id, plans: planMembers(await listSolutions(task), SIZE) }
  }))
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
  if (engine !== 'docker' && engine !== 'fake') throw new AssayError('INVALID_PARAMS', { message: '--engine must be docker or fake' })
  const groups = Number(values.groups ?? (engine === 'fake' ? 300 : 20))
  if (!Number.isInteger(groups) || groups < 1) throw new AssayError('INVALID_PARAMS', { message: '--groups must be a whole number from 1' })
  return { engine, groups }
}

function mib (bytes: number): string {
  return (bytes / 2 ** 20).toFixed(1)
}

// a small heap: a leak cannot pass for garbage that was not collected yet
const HEAP_FLAG = '--max-old-space-size=192'
const NODE = 'soak'
const SIZE = 32
const TELL_EVERY = 10
const SETTLE_MS = 20_000
