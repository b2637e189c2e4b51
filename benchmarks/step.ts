// step: /bin/true over WebSocket in real containers at 1, 8 and 32, and `docker exec` in the same containers beside it.
import { parseArgs } from 'node:util'
import { connect, type Episode } from '../clients/typescript/index.ts'
import type { CommandContext } from '../src/cli/main.ts'
import { loadConfig } from '../src/config.ts'
import { createDockerExec, listContainers } from './docker-exec.ts'
import { getRow, machineFacts, measure, publish, type Row } from './harness.ts'
import { startServerProcess } from './server-process.ts'

export async function run (args: readonly string[], { output, interrupts }: CommandContext): Promise<number> {
  const { values } = parseArgs({ args: [...args], options: { json: { type: 'boolean', default: false }, task: { type: 'string' } } })
  const { dockerHost } = loadConfig()
  await using server = await startServerProcess({ engine: 'docker', node: NODE })
  await using client = await connect(server.url)
  const task = values.task ?? (await client.tasks.list())[0]?.id
  if (task === undefined) throw new Error('There is no task to run; set ASSAY_TASKS_DIR.')
  await using group = await client.openGroup({ task, size: MOST, class: 'load', run: 'bench' })
  const { signal } = interrupts
  const episodes = await Promise.all(Array.from({ length: MOST }, async (_, member) => {
    return await group.member(member).reset({ signal })
  }))
  const containers = await listContainers(dockerHost, NODE)
  using peer = createDockerExec(dockerHost.replace(/^unix:\/\//, ''))
  const rows: Row[] = []
  for (const concurrency of CONCURRENCIES) {
    rows.push(await measureAssay(episodes, concurrency))
    signal.throwIfAborted()
    rows.push(await measure({
      subject: 'docker-exec',
      concurrency,
      n: Math.max(60, concurrency * 10),
      warmUp: concurrency,
      call: async worker => await peer.exec(getItem(containers, worker), ['/bin/true']),
    }))
    signal.throwIfAborted()
  }
  const serverRssBytes = await server.rssBytes()
  await publish({ name: 'step', machine: machineFacts(), rows, ratios: ratiosOf(rows), memory: { serverRssBytes } }, { output, asJson: values.json })
  return rows.some(({ errors }) => errors > 0) ? 1 : 0
}

async function measureAssay (episodes: readonly Episode[], concurrency: number): Promise<Row> {
  return await measure({
    subject: 'assay',
    concurrency,
    n: concurrency === 1 ? 1000 : concurrency * 200,
    warmUp: concurrency * 20,
    call: async worker => {
      const { exitCode } = await getItem(episodes, worker).step('/bin/true')
      if (exitCode !== 0) throw new Error(`exit code ${exitCode ?? 'none'}`)
    },
  })
}

function ratiosOf (rows: readonly Row[]): Record<string, number> {
  return Object.fromEntries(CONCURRENCIES.flatMap(concurrency => {
    const [assay, exec] = [getRow(rows, 'assay', concurrency), getRow(rows, 'docker-exec', concurrency)]
    return [
      [`p50 at ${concurrency}, docker-exec / assay`, exec.p50Ms / assay.p50Ms],
      [`steps/s at ${concurrency}, assay / docker-exec`, assay.perSecond / exec.perSecond],
    ]
  }))
}

function getItem<T> (items: readonly T[], at: number): T {
  const item = items[at]
  if (item === undefined) throw new RangeError(`there is no item ${at} of ${items.length}`)
  return item
}

const NODE = 'bench'
const CONCURRENCIES = [1, 8, 32] as const
const MOST = 32
