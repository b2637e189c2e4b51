import path from 'node:path'
import t from 'tap'
import { silentLogger, type Logger } from '../../src/telemetry/log.ts'
import { createCatalogue, loadCatalogue } from '../../src/tasks/catalogue.ts'
import { toml, writeExample } from './example.ts'

function recorder (): { log: Logger, lines: string[] } {
  const lines: string[] = []
  const write = (level: string) => (fields: Record<string, unknown>, message: string): void => { lines.push(`${level} ${JSON.stringify(fields)} ${message}`) }
  return { lines, log: { ...silentLogger, warn: write('warn'), error: write('error') } }
}

function only<T> ([item]: readonly T[]): T {
  if (item === undefined) throw new Error('nothing there')
  return item
}

await t.test('a bad task is left out and named; the others stay', async t => {
  const root = t.testdir({})
  await writeExample(path.join(root, 'good'))
  await writeExample(path.join(root, 'bad'), { 'task.toml': 'nonsense' })
  await writeExample(path.join(root, '.hidden'))
  const { log, lines } = recorder()
  const catalogue = await loadCatalogue(root, { log })
  t.same(catalogue.list().map(({ id }) => id), ['good'])
  t.equal(lines.length, 1)
  t.match(lines[0], /error .*"directory":"bad".*task\.toml/)
})

await t.test('warnings of a task are logged with file and key', async t => {
  const root = t.testdir({})
  await writeExample(path.join(root, 'x'), { 'task.toml': toml('[environment]', '[agent]\nnonsense = 1\n\n[environment]') })
  const { log, lines } = recorder()
  await loadCatalogue(root, { log })
  t.match(lines, [/warn .*"task":"x".*"key":"agent.nonsense"/])
})

await t.test('the second of two tasks with one id is left out', async t => {
  const root = t.testdir({})
  for (const name of ['a', 'b']) await writeExample(path.join(root, name), { 'task.toml': toml('split = ', 'id = "same"\nsplit = ') })
  const { log, lines } = recorder()
  const catalogue = await loadCatalogue(root, { log })
  t.equal(catalogue.find('same')?.directory, path.join(root, 'a'))
  t.match(lines, [/error .*same/])
  const task = only(catalogue.list())
  t.throws(() => createCatalogue({ tasks: [task, { ...task, directory: '/elsewhere' }], admissions: [] }), { code: 'TASK_INVALID', message: /elsewhere/ })
})

await t.test('a digest in admissions.json makes a task admitted, and a changed task is not', async t => {
  const root = t.testdir({})
  await writeExample(path.join(root, 'x'))
  const task = only((await loadCatalogue(root, { log: silentLogger })).list())
  const admissions = [{ task: 'x', digest: task.digest, admittedAt: '2025-01-01T00:00:00Z' }]
  const catalogue = createCatalogue({ tasks: [task], admissions })
  t.equal(catalogue.isAdmitted(task), true)
  t.equal(catalogue.summary(task).admitted, true)
  t.equal(catalogue.view({ ...task, digest: 'other' }).admitted, false)
})

await t.test('a directory that is not there is refused with the setting to change', async t => {
  await t.rejects(loadCatalogue('/nowhere/at/all', { log: silentLogger }), { code: 'TASK_INVALID', message: /ASSAY_TASKS_DIR/ })
})
