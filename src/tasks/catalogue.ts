// The tasks that this server offers. A task that breaks the format is left out and named in the log; the others stay.
import { readdir } from 'node:fs/promises'
import path from 'node:path'
import { AssayError, isAssayError } from '../errors.ts'
import type { TaskSummary, TaskView } from '../protocol/index.ts'
import type { Logger } from '../telemetry/log.ts'
import { isAdmittedDigest, loadAdmissions, type Admission } from './admissions.ts'
import { readNativeTask } from './formats/native.ts'
import { summarise, viewTask } from './summary.ts'
import type { Task } from './task.ts'

export interface Catalogue {
  list (): readonly Task[]
  find (id: string): Task | undefined
  summary (task: Task): TaskSummary
  view (task: Task): TaskView
  /** Whether this very digest passed the admission gate; other tasks give no trainable verdicts. */
  isAdmitted (task: Task): boolean
}

export interface CatalogueOptions {
  tasks: readonly Task[]
  admissions: readonly Admission[]
}

/** Throws TASK_INVALID when two tasks have the same id. */
export function createCatalogue ({ tasks, admissions }: CatalogueOptions): Catalogue {
  const byId = new Map<string, Task>()
  for (const task of tasks) {
    const other = byId.get(task.id)
    if (other !== undefined) throw duplicate(task, other)
    byId.set(task.id, task)
  }
  const listed = [...byId.values()].sort((a, b) => a.id < b.id ? -1 : 1)
  const isAdmitted = (task: Task): boolean => isAdmittedDigest(admissions, task.digest)
  return {
    list: () => listed,
    find: id => byId.get(id),
    summary: task => summarise(task, { admitted: isAdmitted(task) }),
    view: task => viewTask(task, { admitted: isAdmitted(task) }),
    isAdmitted,
  }
}

/** Reads every task directory under directory, and its admissions.json. Throws TASK_INVALID when either cannot be read. */
export async function loadCatalogue (directory: string, { log }: { log: Logger }): Promise<Catalogue> {
  const tasks = new Map<string, Task>()
  for (const name of await taskNames(directory)) {
    const task = await readOrReport(path.join(directory, name), log)
    const other = task === undefined ? undefined : tasks.get(task.id)
    if (task === undefined) continue
    if (other === undefined) tasks.set(task.id, task)
    else log.error({ task: task.id, error: duplicate(task, other).message }, 'task left out')
  }
  return createCatalogue({ tasks: [...tasks.values()], admissions: await loadAdmissions(directory) })
}

async function taskNames (directory: string): Promise<string[]> {
  try {
    const entries = await readdir(directory, { withFileTypes: true })
    return entries.filter(entry => entry.isDirectory() && !entry.name.startsWith('.')).map(entry => entry.name).sort()
  } catch (cause) {
    throw new AssayError('TASK_INVALID', { message: `The tasks directory ${directory} cannot be read; set ASSAY_TASKS_DIR to one that can.`, cause })
  }
}

async function readOrReport (directory: string, log: Logger): Promise<Task | undefined> {
  try {
    const { task, warnings } = await readNativeTask(directory)
    for (const warning of warnings) log.warn({ task: task.id, ...warning }, 'task format warning')
    return task
  } catch (error) {
    if (!isAssayError(error, 'TASK_INVALID')) throw error
    log.error({ directory: path.basename(directory), error: error.message }, 'task left out')
    return undefined
  }
}

function duplicate (task: Task, other: Task): AssayError {
  return new AssayError('TASK_INVALID', {
    message: `${task.directory} and ${other.directory} both have the id "${task.id}"; change one of the two.`,
  })
}
