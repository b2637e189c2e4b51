// group.open, group.get, group.close and the reset of a member.
import { orAbort } from '../base/deadline.ts'
import { AssayError } from '../errors.ts'
import { Group, type GroupSetup } from '../groups/group.ts'
import type { Budgets, GroupId, Params, Result } from '../protocol/index.ts'
import type { Task } from '../tasks/task.ts'
import { checkClass } from './access.ts'
import type { Parts } from './parts.ts'
import type { Context } from './service.ts'

/** Answers at once; what waits are the resets. */
export function openGroup (parts: Parts, params: Params<'group.open'>, context: Context): Result<'group.open'> {
  parts.checkOpen()
  const { principal, connection } = context
  const task = parts.access.task(params.task, context)
  checkClass(principal, params.class)
  const setup = setupOf(parts, params, { principal: principal.name, task })
  const ticket = parts.admission.request({
    count: setup.concurrency,
    memoryBytes: task.limits.memoryBytes,
    onPosition: position => connection?.emit({ event: 'queued', group: setup.id, position, etaMs: null }),
  })
  const { clock, config: { leaseIdleMs } } = parts.deps
  const group: Group = new Group(setup, {
    clock,
    leaseIdleMs,
    gauge: parts.gauge,
    onAdmitted: () => stageAhead(parts, setup),
    onFinished: () => {
      parts.groups.finish(setup.id)
      saveGroup(parts, group)
    },
  }, { ticket, opener: connection })
  parts.groups.add(group)
  saveGroup(parts, group)
  return group.report()
}

export function getGroup ({ access }: Parts, { group: id }: Params<'group.get'>, context: Context): Result<'group.get'> {
  const group = access.group(id, context)
  group.touch()
  return group.report()
}

/** Resolves once nothing of the group lives. */
export async function closeGroup ({ access }: Parts, { group: id, abort }: Params<'group.close'>, context: Context): Promise<Result<'group.close'>> {
  const group = access.group(id, context)
  group.close({ abort })
  await orAbort(group.finished, context.signal)
  return group.report()
}

export async function resetMember (parts: Parts, params: Params<'reset'> & { group: GroupId }, context: Context): Promise<Result<'reset'>> {
  const { access, episodes, specOf } = parts
  const { member = 0, attempt = 0 } = params
  const group = access.group(params.group, context)
  const { task, seed, meta, budgets, principal } = group.setup
  if (params.task !== undefined && params.task !== task.id) {
    throw new AssayError('INVALID_PARAMS', { message: `reset: task: this group is of task "${task.id}", not "${params.task}"; leave it out.` })
  }
  access.task(task.id, context) // the instruction goes out, so a val access is logged here too
  if (group.findAttempt(member, attempt) === undefined) parts.checkOpen()
  const spec = await specOf(task, context)
  const known = group.findAttempt(member, attempt) // again: another reset may have come first meanwhile
  if (known !== undefined) return await access.episode(known, context).open(context.connection, context.signal)
  parts.checkOpen()
  episodes.checkLimit({ name: principal, maxEpisodes: context.principal.maxEpisodes })
  const episode = group.startAttempt(member, hooks => parts.startEpisode({
    ...hooks,
    principal,
    task,
    spec,
    budgets,
    attempt,
    member,
    group: group.id,
    seed: params.seed ?? seed,
    meta: params.meta ?? meta,
  }))
  return await episode.open(context.connection, context.signal)
}

function setupOf (parts: Parts, params: Params<'group.open'>, { principal, task }: { principal: string, task: Task }): GroupSetup {
  const { size, refills, minUsable, run } = params
  const budgets: Budgets = params.budgets ?? { onBudget: 'verify' }
  return {
    id: parts.createId('gr') as GroupId,
    principal,
    task,
    size,
    concurrency: Math.min(size, params.concurrency ?? size),
    refills,
    minUsable,
    budgets,
    seed: params.seed ?? parts.createSeed(),
    run,
    meta: params.meta ?? {},
  }
}

/** Sandboxes are made ready as soon as the image is; a failure shows in the resets. */
function stageAhead ({ specOf, deps: { pool, log } }: Parts, { id, task, concurrency }: GroupSetup): Disposable {
  let staged: Disposable | undefined
  let isWithdrawn = false
  specOf(task).then(spec => {
    if (!isWithdrawn) staged = pool.stage(spec, concurrency)
  }).catch((error: unknown) => log.warn({ groupId: id, error: String(error) }, 'nothing staged for the group'))
  return {
    [Symbol.dispose] () {
      isWithdrawn = true
      staged?.[Symbol.dispose]()
    },
  }
}

function saveGroup ({ deps: { store, config, clock, log } }: Parts, { id, state, setup }: Group): void {
  const { principal, task, size } = setup
  store.putGroup({ version: 1, id, node: config.node, principal, task: task.id, size, state, updatedAt: clock.now() })
    .catch((error: unknown) => log.warn({ groupId: id, error: String(error) }, 'the store did not take the group'))
}
