// The code that cron-next takes out of a published package must be nowhere in the image that agents get.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { pipeline } from 'node:stream/promises'
import t, { type Test } from 'tap'
import type { FileEntry } from '../../src/sandbox/files.ts'
import { withClient } from '../helpers/docker.ts'
import { openBench, referenceOf, type Bench } from './bench.ts'

t.setTimeout(300_000)

await t.test('nothing of the removed code is in any layer, file or history of the image', async t => {
  const bench = await openBench(t, 'cron-next')
  const removed = await removedLines(bench)
  t.ok(removed.length > 50, `${removed.length} lines are gone from the start`)
  t.notOk(removed.some(line => line.includes('NotImplementedError')))

  t.same(await search(t, bench.spec.image.id, removed), [], 'removed lines in the saved image, all layers')
  t.same(await search(t, bench.spec.image.id, ['cronsim-2.8']), [], 'the name of the archive and its metadata')
  const reference = await referenceImage(bench)
  t.ok((await search(t, reference, removed)).length >= removed.length * 0.9, 'the same search finds them in the reference image')

  const history = await withClient(client => client.call('history', docker => docker.getImage(bench.spec.image.id).history()))
  t.notMatch(JSON.stringify(history), /pip download|remove\.py|requirements\.txt/)
})

await t.test('an agent finds the start tree and nothing else of the package', async t => {
  const { engine, spec } = await openBench(t, 'cron-next')
  await using sandbox = await engine.create(spec)
  const script = 'find / -xdev \\( -ipath "*cronsim*" -o -path "/reference*" -o -path "/fetch*" -o -path "*/pip/cache/*" \\) -print'
  const { stdout } = await sandbox.run({ script, timeoutMs: 60_000, outputBytes: 100_000 })
  t.same(Buffer.from(stdout.bytes).toString().trim().split('\n').sort(), [
    '/app/cronsim', '/app/cronsim/__init__.py', '/app/cronsim/cronsim.py', '/app/cronsim/explain.py', '/app/cronsim/py.typed',
  ])
  const python = 'cd /app && python3 -c "from datetime import datetime; from cronsim import CronSim; next(CronSim(\'* * * * *\', datetime.now()))"'
  const { stderr } = await sandbox.run({ script: python, timeoutMs: 60_000, outputBytes: 100_000 })
  t.match(Buffer.from(stderr.bytes).toString(), /NotImplementedError\s*$/)
})

/** Longer lines of the reference that the start lacks. Nothing of them is written down in this repository. */
async function removedLines (bench: Bench): Promise<string[]> {
  const start = new Set(linesOf(await startTree(bench)))
  return [...new Set(linesOf(await referenceOf(bench)))].filter(line => !start.has(line) && line.length >= 28)
}

async function startTree ({ engine, spec }: Bench): Promise<FileEntry[]> {
  await using sandbox = await engine.create(spec)
  const files = [...(await sandbox.manifest('/app', { maxEntries: 1000 })).values()].filter(({ type }) => type === 'file')
  return await sandbox.get('/app', files.map(entry => entry.path), { maxBytes: 1_000_000 })
}

function linesOf (entries: readonly FileEntry[]): string[] {
  return entries.flatMap(entry => entry.type === 'file' ? Buffer.from(entry.content).toString().split('\n') : []).map(line => line.trim())
}

async function referenceImage ({ engine, task }: Bench): Promise<string> {
  if (task.image.kind !== 'build') throw new Error('not built')
  return (await engine.ensureImage({ ...task.image, target: task.reference?.target })).id
}

/** Which of the strings occur anywhere in the image as it is saved: every layer's tar and the configuration. */
async function search (t: Test, image: string, strings: readonly string[]): Promise<string[]> {
  const patterns = path.join(t.testdir({}), 'patterns')
  await writeFile(patterns, strings.join('\n'))
  const grep = spawn('grep', ['-a', '-o', '-F', '-f', patterns], { stdio: ['pipe', 'pipe', 'inherit'], env: { LC_ALL: 'C' } })
  const found: Buffer[] = []
  grep.stdout.on('data', (chunk: Buffer) => found.push(chunk))
  const closed = once(grep, 'close')
  await withClient(async client => {
    const saved = await client.call('save', docker => docker.getImage(image).get())
    await pipeline(saved, grep.stdin)
  })
  await closed
  return [...new Set(Buffer.concat(found).toString().split('\n').filter(line => line !== ''))]
}
