// assay tasks list|show: what an agent may see of the tasks in a directory. Hidden parts have no way out here either.
import { AssayError } from '../../errors.ts'
import { loadConfig } from '../../config.ts'
import { loadCatalogue } from '../../tasks/catalogue.ts'
import type { Logger } from '../../telemetry/log.ts'
import { table, type Output } from '../output.ts'

export interface TasksOptions {
  tasksDir?: string | undefined
}

export async function listTasks ({ tasksDir }: TasksOptions, { output }: { output: Output }): Promise<number> {
  const config = loadConfig({ tasksDir })
  const catalogue = await loadCatalogue(config.tasksDir, { log: problemLog(output) })
  const rows = catalogue.list().map(task => {
    const { id, title, split, language, interface: kind, admitted } = catalogue.summary(task)
    return [id, title, split, language, kind, admitted ? 'yes' : 'no']
  })
  if (rows.length === 0) output.line(`There is no task in ${config.tasksDir}.`)
  else for (const line of table([['task', 'title', 'split', 'language', 'interface', 'admitted'], ...rows])) output.line(line)
  return 0
}

export async function showTask (id: string, { tasksDir }: TasksOptions, context: { output: Output }): Promise<number> {
  const { output } = context
  const config = loadConfig({ tasksDir })
  const catalogue = await loadCatalogue(config.tasksDir, { log: problemLog(output) })
  const task = catalogue.find(id)
  if (task === undefined) {
    const known = catalogue.list().map(({ id }) => id).join(', ')
    throw new AssayError('TASK_NOT_FOUND', { message: `There is no task "${id}" in ${config.tasksDir}; there are: ${known}.` })
  }
  const { instruction, ...facts } = catalogue.view(task)
  const rows = Object.entries(facts).map(([name, value]) => [name, String(value)])
  for (const line of table([['', ''], ...rows]).slice(2)) output.line(line)
  output.line()
  output.line(instruction.trimEnd())
  return 0
}

/** The catalogue's warnings as lines: an author wants to see why a task is left out. */
function problemLog (output: Output): Logger {
  const say = (fields: Record<string, unknown>, message: string): void => {
    output.line(`${message}: ${Object.entries(fields).map(([name, value]) => `${name} ${String(value)}`).join(', ')}`)
  }
  return { debug () {}, info () {}, warn: say, error: say, child: () => problemLog(output) }
}
