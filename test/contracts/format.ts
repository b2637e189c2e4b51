// What every reader of a task format owes: used by the test of each format.
import { appendFile, mkdir, readdir, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import type { Test } from 'tap'
import { isAssayError } from '../../src/errors.ts'
import type { FormatWarning } from '../../src/tasks/formats/known-keys.ts'
import { viewTask } from '../../src/tasks/summary.ts'
import type { Task } from '../../src/tasks/task.ts'

export interface FormatUnderTest {
  read (directory: string): Promise<{ task: Task, warnings: FormatWarning[] }>
  /** Writes a valid task into an empty directory. */
  write (directory: string): Promise<void>
  /** Texts of the hidden files that no agent may see. */
  secrets: readonly string[]
  /** Files without which there is no task. */
  required: readonly string[]
}

export async function formatContract (t: Test, format: FormatUnderTest): Promise<void> {
  const { read, secrets, required } = format

  await t.test('a valid task is read without a warning', async t => {
    const { task, warnings } = await read(await written(t, format))
    t.same(warnings, [])
    t.match(task.digest, /^[0-9a-f]{64}$/)
    t.ok(task.instruction.length > 0)
    t.ok(task.verifier.cases.length > 0)
  })

  await t.test('the digest is that of the content: equal for equal files, another when any file changes, moves or comes', async t => {
    const original = await read(await written(t, format))
    t.equal((await read(await written(t, format))).task.digest, original.task.digest)
    const directory = await written(t, format)
    for (const file of await filesOf(directory)) {
      const changed = await written(t, format)
      await appendFile(path.join(changed, file), '\n')
      t.not((await read(changed)).task.digest, original.task.digest, file)
    }
    const more = await written(t, format)
    await writeFile(path.join(more, 'NOTES'), '')
    t.not((await read(more)).task.digest, original.task.digest, 'a new empty file')
  })

  await t.test('what an agent may see holds nothing hidden', async t => {
    const { task } = await read(await written(t, format))
    const view = JSON.stringify(viewTask(task, { admitted: true }))
    for (const secret of secrets) t.notOk(view.includes(secret), secret)
  })

  await t.test('a missing file is TASK_INVALID and named', async t => {
    for (const file of required) {
      const directory = await written(t, format)
      await rm(path.join(directory, file))
      const error: unknown = await read(directory).then(() => undefined, (error: unknown) => error)
      t.ok(isAssayError(error, 'TASK_INVALID') && error.message.includes(file), file)
    }
  })
}

async function written (t: Test, { write }: FormatUnderTest): Promise<string> {
  const directory = path.join(t.testdir({}), 'a-task')
  await mkdir(directory)
  await write(directory)
  return directory
}

async function filesOf (directory: string): Promise<string[]> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true })
  const files = entries.filter(entry => entry.isFile())
  return files.map(entry => path.relative(directory, path.join(entry.parentPath, entry.name)))
}
