// assay quickstart: from a bare machine to verdicts: set up, serve on loopback, drive a group per task, drain, leave nothing.
import { connect } from '../../../clients/typescript/index.ts'
import { loadConfig, type Config, type ConfigInput } from '../../config.ts'
import { startServer, type AssayServer } from '../../server.ts'
import { loadCatalogue } from '../../tasks/catalogue.ts'
import { listSolutions } from '../../tasks/solutions.ts'
import type { Task } from '../../tasks/task.ts'
import { silentLogger } from '../../telemetry/log.ts'
import type { CommandContext } from '../main.ts'
import { formatMs } from '../output.ts'
import { prepareMachine } from '../prepare.ts'
import { FAKE_TASKS } from '../quickstart/fake-tasks.ts'
import { findLeftovers } from '../quickstart/leftovers.ts'
import { planMembers } from '../quickstart/plan.ts'
import type { ActOptions } from '../quickstart/policy.ts'
import { rateLines, rolloutLines } from '../quickstart/report.ts'
import { rollOut, type Rollout } from '../quickstart/rollout.ts'
import { writeCommands, writePlainly } from '../quickstart/shell.ts'

export type QuickstartOptions = Pick<ConfigInput, 'engine' | 'dataDir'> & { members: number }

/** 1, with sentences, when a verdict is not the one that its member must get or something is left behind. */
export async function quickstart (options: QuickstartOptions, context: CommandContext): Promise<number> {
  const { members, ...settings } = options
  const { interrupts, output } = context
  const config = quickstartConfig(settings)
  output.line(`Assay quickstart: ${members} rollouts of each task, engine ${config.engine}`)
  const onAbort = (): void => output.line('\nstopping, sandboxes are removed; a second Ctrl-C stops at once')
  interrupts.signal.addEventListener('abort', onAbort, { once: true })
  await prepareMachine(config, { ...context, install: true })
  const rollouts = await serveAndRoll(config, members, context)
  const leftovers = await findLeftovers(config)
  output.line(leftovers.length === 0 ? 'Drained; nothing of Assay is left running.' : 'Drained.')
  const mismatches = rollouts.flatMap(({ task, mismatches }) => mismatches.map(text => `${task}: ${text}`))
  const problems = [...mismatches, ...leftovers]
  interrupts.signal.throwIfAborted()
  if (problems.length === 0) return 0
  output.line()
  for (const problem of problems) output.line(problem)
  output.line(`${problems.length} of the above must not be: the quickstart failed.`)
  return 1
}

/** A node of its own on loopback, without keys, whatever the environment says. */
function quickstartConfig (settings: Omit<QuickstartOptions, 'members'>): Config {
  const fixed = { node: `quickstart${process.pid}`, host: '127.0.0.1', port: 0, logLevel: 'error' } as const
  const config = { ...loadConfig({ ...settings, ...fixed }), keysFile: undefined }
  // the fake engine runs no programs: it gets tasks that its interpreter can solve
  return config.engine === 'fake' ? { ...config, tasksDir: FAKE_TASKS } : config
}

async function serveAndRoll (config: Config, members: number, context: CommandContext): Promise<Rollout[]> {
  const { interrupts, output } = context
  const { signal } = interrupts
  const catalogue = await loadCatalogue(config.tasksDir, { log: silentLogger })
  const tasks = catalogue.list().slice(0, TASKS)
  await using server = await output.step('server', async () => await startServer(config), ({ url }) => url)
  interrupts.onSecond(async () => await server.engine.close())
  for (const task of tasks) await ensureTaskImage(server, task, context)
  const startedAt = performance.now()
  const write = config.engine === 'fake' ? writePlainly : writeCommands
  const rollouts = await output.step('rollouts', async say => {
    return await rollOutAll(server.url, tasks, { members, write, signal, say })
  }, done => `${done.reduce((sum, { episodes }) => sum + episodes.length, 0)} verdicts`)
  const wallMs = performance.now() - startedAt
  for (const rollout of rollouts) for (const line of ['', ...rolloutLines(rollout)]) output.line(line)
  for (const line of ['', ...rateLines(rollouts, { wallMs }), '']) output.line(line)
  await output.step('draining', async () => await server.close(), () => `no episode left, ${formatMs(wallMs)} of rollouts`)
  return rollouts
}

async function ensureTaskImage (server: AssayServer, task: Task, context: CommandContext): Promise<void> {
  const { output, interrupts: { signal } } = context
  await output.step(`image of ${task.id}`, async say => {
    return await server.engine.ensureImage(task.image, { signal, onProgress: say })
  }, ({ id }) => id.slice(0, 19))
}

interface RollOptions {
  members: number
  write: ActOptions['write']
  signal: AbortSignal
  say: (detail: string) => void
}

/** All groups at once when their members fit, else in turn: waiting in the admission queue would only blur the latencies. */
async function rollOutAll (url: string, tasks: readonly Task[], options: RollOptions): Promise<Rollout[]> {
  const { members, write, signal, say } = options
  await using client = await connect(url, { signal })
  const { places } = await client.info({ signal })
  let verdicts = 0
  const one = async (task: Task): Promise<Rollout> => await rollOut(client, task.id, {
    plans: planMembers(await listSolutions(task), members),
    concurrency: Math.min(members, places.total),
    write,
    signal,
    onVerdict: () => say(`${++verdicts} of ${members * tasks.length} verdicts`),
  })
  if (members * tasks.length <= places.total) return await Promise.all(tasks.map(one))
  const rollouts: Rollout[] = []
  for (const task of tasks) rollouts.push(await one(task))
  return rollouts
}

const TASKS = 2
