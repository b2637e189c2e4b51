// info and tasks.*: what this server is and what it offers to this key.
import { OPERATIONS, PROTOCOL_VERSION, type OperationName, type Params, type Result } from '../protocol/index.ts'
import { DEFAULT_PLACE_BYTES } from '../groups/admission.ts'
import type { Parts } from './parts.ts'
import type { Context } from './service.ts'

export function info ({ deps, admission }: Parts, { principal }: Context): Result<'info'> {
  const { config, version, engine } = deps
  return {
    protocol: PROTOCOL_VERSION,
    serverVersion: version,
    node: config.node,
    engine: engine.name,
    operations: (Object.keys(OPERATIONS) as OperationName[]).filter(op => OPERATIONS[op].built),
    splits: [...principal.splits],
    places: { total: admission.total(DEFAULT_PLACE_BYTES), free: admission.free(DEFAULT_PLACE_BYTES) },
    limits: {
      frameBytes: config.frameBytes,
      inFlightPerSocket: config.inFlightPerSocket,
      episodesPerKey: principal.maxEpisodes,
      queueLength: config.queueLength,
      outputBytes: config.outputBytes,
    },
  }
}

export function listTasks (parts: Parts, params: Params<'tasks.list'>, { principal, log }: Context): Result<'tasks.list'> {
  const { catalogue } = parts.deps
  const { split, after, limit } = params
  const visible = catalogue.list()
    .filter(task => principal.splits.includes(task.split) && (split ?? task.split) === task.split)
    .filter(task => after === undefined || task.id > after)
  const page = visible.slice(0, limit)
  const val = page.filter(task => task.split === 'val').map(task => task.id)
  if (val.length > 0) log.info({ principal: principal.name, tasks: val }, 'val tasks listed')
  const last = page.at(-1)
  return {
    tasks: page.map(task => catalogue.summary(task)),
    ...(last !== undefined && visible.length > page.length && { next: catalogue.summary(last).id }),
  }
}

/** workdir is the image's own when the task names none, so the image is made ready first. */
export async function getTask (parts: Parts, params: Params<'tasks.get'>, context: Context): Promise<Result<'tasks.get'>> {
  const { deps: { catalogue }, access, specOf } = parts
  const task = access.task(params.task, context)
  const view = catalogue.view(task)
  if (task.workdir !== undefined) return view
  const { workdir } = await specOf(task, context)
  return { ...view, workdir }
}
