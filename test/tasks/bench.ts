// A workbench for the sample tasks: real sandboxes, a real verifier, submissions made the way an episode makes them.
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Test } from 'tap'
import { systemClock } from '../../src/base/clock.ts'
import { Semaphore } from '../../src/base/semaphore.ts'
import { loadConfig } from '../../src/config.ts'
import { DELTA_CAPS, takeDelta, type Delta } from '../../src/sandbox/delta.ts'
import type { Engine, SandboxSpec } from '../../src/sandbox/engine.ts'
import type { FileEntry } from '../../src/sandbox/files.ts'
import { createPool, type Pool } from '../../src/sandbox/pool.ts'
import { readNativeTask } from '../../src/tasks/formats/native.ts'
import { listSolutions } from '../../src/tasks/solutions.ts'
import type { Task } from '../../src/tasks/task.ts'
import { silentLogger } from '../../src/telemetry/log.ts'
import { createMetrics } from '../../src/telemetry/metrics.ts'
import { createVerifier } from '../../src/verifier/driver.ts'
import type { Verification } from '../../src/verifier/verifier.ts'
import { dockerEngine } from '../helpers/docker.ts'

export interface Bench {
  engine: Engine
  task: Task
  spec: SandboxSpec
  /** Lays files over a pristine workspace, takes the delta as a submission would, and verifies it. */
  submit (entries: readonly FileEntry[], task?: Task): Promise<Verification>
}

export async function openBench (t: Test, name: string): Promise<Bench> {
  const { task } = await readNativeTask(path.join(TASKS, name))
  const { engine } = await dockerEngine(t, { caBundle: loadConfig().caBundle })
  const image = await engine.ensureImage(task.image)
  const { user, env, limits, workdir = image.workdir } = task
  const spec: SandboxSpec = { image, user, workdir, env, limits }
  const pool = createPool({
    engine,
    clock: systemClock,
    log: silentLogger,
    metrics: createMetrics(),
    warmSandboxes: 1,
    maxStarting: 2,
  })
  t.teardown(async () => { await pool.close() })
  const places = new Semaphore(2)
  const verifier = createVerifier({ pool, places, stopAtFailure: false, clock: systemClock, log: silentLogger })
  return {
    engine,
    task,
    spec,
    async submit (entries, judged = task) {
      const delta = await deltaOf(pool, spec, entries)
      return await verifier.verify({ task: judged, spec, delta, seed: 11 })
    },
  }
}

async function deltaOf (pool: Pool, spec: SandboxSpec, entries: readonly FileEntry[]): Promise<Delta> {
  await using sandbox = await pool.acquire(spec)
  const baseline = await sandbox.manifest(spec.workdir, { maxEntries: DELTA_CAPS.entries })
  if (entries.length > 0) await sandbox.put(spec.workdir, entries)
  return await takeDelta(sandbox, spec.workdir, { baseline })
}

/** The reference, wherever the task keeps it. */
export async function referenceOf ({ engine, task, spec }: Bench): Promise<readonly FileEntry[]> {
  const { reference } = await listSolutions(task)
  if (reference === undefined) throw new Error(`${task.id} has no reference`)
  if (reference.kind === 'overlay') return reference.entries
  if (task.image.kind !== 'build') throw new Error(`${task.id} is not built`)
  const image = await engine.ensureImage({ ...task.image, target: reference.target })
  await using sandbox = await engine.create({ ...spec, image })
  const manifest = await sandbox.manifest(reference.path, { maxEntries: DELTA_CAPS.entries })
  const directories = [...manifest.values()].filter(entry => entry.type === 'directory')
  const files = [...manifest.values()].filter(entry => entry.type === 'file').map(entry => entry.path)
  return [...directories, ...await sandbox.get(reference.path, files, { maxBytes: DELTA_CAPS.bytes })]
}

export function file (filePath: string, text: string): FileEntry {
  return { type: 'file', path: filePath, mode: 0o644, content: Buffer.from(text) }
}

const TASKS = fileURLToPath(new URL('../../tasks', import.meta.url))
