// Who may see what: tasks by split, episodes and groups by owner. Another's is not found, as if it were not there.
import { findNodeId } from '../base/ids.ts'
import { AssayError } from '../errors.ts'
import type { Episode } from '../episodes/episode.ts'
import type { EpisodeRegistry, Registry } from '../episodes/registry.ts'
import type { Group } from '../groups/group.ts'
import type { TrafficClass } from '../protocol/index.ts'
import type { Catalogue } from '../tasks/catalogue.ts'
import type { Task } from '../tasks/task.ts'
import type { Context, Principal } from './service.ts'

export interface AccessDeps {
  node: string
  catalogue: Catalogue
  episodes: EpisodeRegistry
  groups: Registry<Group>
}

export interface Access {
  /** Throws TASK_NOT_FOUND; each access to a val task is logged. */
  task (id: string, context: Context): Task
  /** Throws EPISODE_NOT_FOUND. */
  episode (id: string, context: Context): Episode
  /** Throws GROUP_NOT_FOUND. */
  group (id: string, context: Context): Group
}

export function createAccess ({ node, catalogue, episodes, groups }: AccessDeps): Access {
  return {
    task (id, { principal, log }) {
      const task = catalogue.find(id)
      if (task === undefined || !principal.splits.includes(task.split)) {
        throw new AssayError('TASK_NOT_FOUND', { message: `This key sees no task "${id}"; tasks.list names those it sees.` })
      }
      if (task.split === 'val') log.info({ principal: principal.name, task: id }, 'val task accessed')
      return task
    },
    episode (id, { principal }) {
      const episode = episodes.find(id)
      if (episode !== undefined && mayUse(principal, episode.setup.principal)) return episode
      throw new AssayError('EPISODE_NOT_FOUND', { message: `This key has no episode "${id}"; ${hint(id, node, { by: 'reset', after: 'finished ones are kept for a while only.' })}` })
    },
    group (id, { principal }) {
      const group = groups.find(id)
      if (group !== undefined && mayUse(principal, group.setup.principal)) return group
      throw new AssayError('GROUP_NOT_FOUND', { message: `This key has no group "${id}"; ${hint(id, node, { by: 'group.open', after: 'finished ones are kept for a while only.' })}` })
    },
  }
}

/** Throws FORBIDDEN when the key may not use the class. */
export function checkClass ({ classes }: Principal, wanted: TrafficClass): void {
  if (classes.includes(wanted)) return
  throw new AssayError('FORBIDDEN', { message: `This key may not use class "${wanted}"; it may use ${classes.join(', ') || 'none'}.` })
}

function mayUse (principal: Principal, owner: string): boolean {
  return principal.name === owner || principal.scopes.includes('admin')
}

function hint (id: string, node: string, { by, after }: { by: string, after: string }): string {
  const owner = findNodeId(id)
  if (owner === undefined) return `use an id as ${by} returned it.`
  if (owner !== node) return `it belongs to node "${owner}" and this is node "${node}"; ask that one.`
  return `use an id that ${by} returned to it; ${after}`
}
