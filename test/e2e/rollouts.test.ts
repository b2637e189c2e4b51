// The whole way of a trainer over a real socket: on the fake engine at full size, on real containers with the sample tasks.
import { readFile, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { connect, type Episode } from '../../clients/typescript/index.ts'
import { loadConfig } from '../../src/config.ts'
import { ensureBaseImages } from '../../src/cli/setup/base-images.ts'
import { listSolutions } from '../../src/tasks/solutions.ts'
import { loadCatalogue } from '../../src/tasks/catalogue.ts'
import { silentLogger } from '../../src/telemetry/log.ts'
import type { FileEntry } from '../../src/sandbox/files.ts'
import { containersOf, DOCKER_HOST } from '../helpers/docker.ts'
import { testServer } from '../helpers/server.ts'

const SAMPLES = fileURLToPath(new URL('../../tasks', import.meta.url))

await t.test('32 members on the fake engine: rewards, balance and journal agree, and nothing is left', async t => {
  await using app = await testServer()
  await using client = await connect(app.url)
  await using group = await client.openGroup({ task: 'fake-answer', size: 32, budgets: { steps: 3 }, meta: { policy: 7 } })
  const { rewards, usable, episodes } = await group.run(async (episode, { member }) => {
    if (member % 4 === 3) while (!episode.isDone) await episode.step('true')
    else await episode.step(member % 2 === 0 ? 'write answer.txt 42' : 'write answer.txt 41')
  })
  t.same(rewards, Array.from({ length: 32 }, (_, member) => member % 2 === 0 ? 1 : 0))
  t.ok(usable.every(Boolean))
  const report = await group.get()
  t.same(report.balance, { requested: 32, solved: 16, unsolved: 16, void: 0, live: 0 })
  t.match(report, { state: 'complete', degenerate: false, degraded: false })
  t.match(episodes[3]?.verdict, { reason: 'verifier_failed', truncated: 'budget_steps', trainable: false, meta: { policy: 7 } })
  await group.close()
  await app.server.close()
  t.match(app.server.pool.stats(), { ready: 0, used: 0 })
  const [day = ''] = await readdir(join(app.dataDir, 'journal'))
  const lines = (await readFile(join(app.dataDir, 'journal', day, `${episodes[0]?.id}.jsonl`), 'utf8')).trim().split('\n')
  const records = lines.map(line => JSON.parse(line) as { type: string })
  t.same(records.map(({ type }) => type).filter(type => type !== 'state'), ['reset', 'action', 'observation', 'submit', 'verdict'])
})

await t.test('real containers: every kind of solution of each sample task gets the reward that it must', async t => {
  await ensureBaseImages({ dockerHost: DOCKER_HOST, say: line => t.comment(line) })
  const { caBundle } = loadConfig()
  await using app = await testServer({ engine: 'docker', tasksDir: SAMPLES, caBundle })
  await using client = await connect(app.url)
  const catalogue = await loadCatalogue(SAMPLES, { log: silentLogger })
  for (const task of catalogue.list()) {
    const { wrong, alternatives } = await listSolutions(task)
    const trees = [
      ...alternatives.map(({ entries }) => ({ entries, reward: 1 })),
      ...wrong.map(({ entries }) => ({ entries, reward: 0 })),
    ]
    await using group = await client.openGroup({ task: task.id, size: trees.length })
    const { rewards, episodes } = await group.run(async (episode, { member }) => {
      await write(episode, trees[member]?.entries ?? [])
    })
    t.same(rewards, trees.map(({ reward }) => reward), task.id)
    t.match(episodes[0]?.verdict, { reason: 'verified', provenance: { task: task.id, engine: 'docker', isolation: 'container', imageDigest: /^sha256:/ } })
  }
  const node = (await client.info()).node
  await client[Symbol.asyncDispose]()
  await app.server.close()
  t.same(await containersOf(node), [], 'no container is left')
})

async function write (episode: Episode, entries: readonly FileEntry[]): Promise<void> {
  for (const entry of entries) {
    if (entry.type !== 'file') continue
    const command = `mkdir -p "$(dirname '${entry.path}')" && cat > '${entry.path}' && chmod ${entry.mode.toString(8)} '${entry.path}'`
    const { exitCode } = await episode.step({ type: 'exec', command, stdin: entry.content })
    if (exitCode !== 0) throw new Error(`writing ${entry.path} exited with ${exitCode}`)
  }
}
