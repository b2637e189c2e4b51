import { chmod } from 'node:fs/promises'
import path from 'node:path'
import t from 'tap'
import { readNativeTask } from '../../src/tasks/formats/native.ts'
import { listSolutions } from '../../src/tasks/solutions.ts'
import { toml, writeExample } from './example.ts'

await t.test('solutions are trees with parents first and the executable bit', async t => {
  const directory = await writeExample(t.testdir({}))
  await chmod(path.join(directory, 'solution/reference/main.py'), 0o755)
  const { reference, wrong, alternatives } = await listSolutions((await readNativeTask(directory)).task)
  t.match(reference, { kind: 'overlay', entries: [{ type: 'file', path: 'main.py', mode: 0o755 }] })
  t.match(wrong, [{ name: 'a', entries: [{ path: 'main.py', mode: 0o644 }] }])
  t.same(alternatives.flatMap(({ entries }) => entries.map(({ type, path }) => `${type} ${path}`)), ['directory deep', 'directory deep/er', 'file deep/er/main.py'])
})

await t.test('a task need not have solutions, or keeps the reference in an image', async t => {
  const bare = {
    'solution/reference/main.py': undefined,
    'solution/wrong/a/main.py': undefined,
    'solution/alternatives/b/deep/er/main.py': undefined,
  }
  const none = (await readNativeTask(await writeExample(t.testdir({}), bare))).task
  t.same(await listSolutions(none), { reference: undefined, wrong: [], alternatives: [] })
  const inImage = { ...bare, 'task.toml': toml('split = ', 'reference_target = "ref"\nreference_path = "/ref"\nsplit = ') }
  const { task } = await readNativeTask(await writeExample(t.testdir({}), inImage))
  t.match((await listSolutions(task)).reference, { kind: 'image', target: 'ref', path: '/ref' })
})
