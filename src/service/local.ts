// The service of this node: every operation that is built, over its own episodes and groups.
import { orAbort } from '../base/deadline.ts'
import { AssayError } from '../errors.ts'
import type { OperationName, Params, Result } from '../protocol/index.ts'
import { close, reset, resume, status, step, submit } from './episode-operations.ts'
import { closeGroup, getGroup, openGroup } from './group-operations.ts'
import { createParts, type LocalServiceDeps, type Parts } from './parts.ts'
import type { Context, Service } from './service.ts'
import { getTask, info, listTasks } from './task-operations.ts'

export type { LocalServiceDeps } from './parts.ts'

export function createLocalService (deps: LocalServiceDeps): Service {
  const parts = createParts(deps)
  const handlers = createHandlers(parts)
  return {
    async call (op, params, context) {
      const handler = handlers[op]
      if (handler === undefined) throw new AssayError('NOT_IMPLEMENTED', { message: `"${op}" is part of protocol v1 but this server does not offer it yet.` })
      return await handler(params, context)
    },
    disconnected ({ id }) {
      parts.episodes.disconnected(id)
      for (const group of parts.groups.live()) group.disconnected(id)
    },
    drain: async ({ signal }) => await drain(parts, signal),
    ready () {
      if (parts.isDraining) return { ok: false, reason: 'draining' }
      return deps.engine.health()
    },
  }
}

type Handlers = { [O in OperationName]?: (params: Params<O>, context: Context) => Result<O> | Promise<Result<O>> }

function createHandlers (parts: Parts): Handlers {
  return {
    info: (_params, context) => info(parts, context),
    'tasks.list': (params, context) => listTasks(parts, params, context),
    'tasks.get': (params, context) => getTask(parts, params, context),
    'group.open': (params, context) => openGroup(parts, params, context),
    'group.get': (params, context) => getGroup(parts, params, context),
    'group.close': (params, context) => closeGroup(parts, params, context),
    reset: (params, context) => reset(parts, params, context),
    step: (params, context) => step(parts, params, context),
    submit: (params, context) => submit(parts, params, context),
    resume: (params, context) => resume(parts, params, context),
    status: (params, context) => status(parts, params, context),
    close: (params, context) => close(parts, params, context),
  }
}

async function drain (parts: Parts, signal: AbortSignal): Promise<void> {
  parts.isDraining = true
  const live = parts.episodes.live()
  try {
    await orAbort(Promise.all(live.map(episode => episode.ended)), signal)
  } catch {
    // the time is up: those that have not ended are ended now, and lose nothing but their verdict
  }
  for (const group of parts.groups.live()) group.close({ abort: true, reason: 'drained' })
  for (const episode of parts.episodes.live()) episode.end('drained')
  await Promise.all(live.map(episode => episode.released()))
}
