// The pristine sandbox of a task: its image is made ready once and shared by all who ask meanwhile.
import { orAbort } from '../base/deadline.ts'
import type { Engine, SandboxSpec, WaitOptions } from '../sandbox/engine.ts'
import type { Task } from '../tasks/task.ts'

/** Throws IMAGE_UNAVAILABLE, or the signal's reason; the work goes on for others. A failure is not remembered. */
export type SpecOf = (task: Task, options?: WaitOptions) => Promise<SandboxSpec>

export function createSpecs (engine: Engine): SpecOf {
  const known = new Map<string, Promise<SandboxSpec>>() // as many as the catalogue has tasks
  return async (task, { signal } = {}) => {
    let spec = known.get(task.digest)
    if (spec === undefined) {
      spec = resolve(engine, task)
      known.set(task.digest, spec)
      spec.catch(() => known.delete(task.digest))
    }
    return await orAbort(spec, signal)
  }
}

async function resolve (engine: Engine, { image: source, user, workdir, env, limits }: Task): Promise<SandboxSpec> {
  const image = await engine.ensureImage(source)
  return { image, user: user ?? (image.user === '' ? undefined : image.user), workdir: workdir ?? image.workdir, env: { ...env }, limits }
}
