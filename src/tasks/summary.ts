// The one exit from a task to whoever may not see its hidden half: what is not named here never leaves.
import type { TaskSummary, TaskView } from '../protocol/index.ts'
import type { Task } from './task.ts'

/** A line of tasks.list. */
export function summarise (task: Task, { admitted }: { admitted: boolean }): TaskSummary {
  return {
    id: task.id,
    title: task.title,
    split: task.split,
    digest: task.digest,
    domain: task.domain,
    language: task.language,
    interface: task.interface,
    admitted,
  }
}

/** All that an agent may see. workdir is "" when only the image knows it. */
export function viewTask (task: Task, { admitted }: { admitted: boolean }): TaskView {
  return {
    ...summarise(task, { admitted }),
    instruction: task.instruction,
    workdir: task.workdir ?? '',
    stepTimeoutMs: task.stepTimeoutMs,
    requirements: task.requirements,
  }
}
