// The pristine workspace of an image, listed once in a sandbox that no agent gets; deltas are taken against it.
import { deadline } from '../base/deadline.ts'
import { DELTA_CAPS } from '../sandbox/delta.ts'
import type { SandboxSpec } from '../sandbox/engine.ts'
import type { Manifest } from '../sandbox/files.ts'
import type { Pool } from '../sandbox/pool.ts'

/** Throws what the pool or the sandbox throws; a failure is not remembered. */
export type BaselineOf = (spec: SandboxSpec) => Promise<Manifest>

/** Concurrent calls share one listing; the least lately used image is forgotten. */
export function createBaselines ({ pool, limit = 256 }: { pool: Pool, limit?: number }): BaselineOf {
  const known = new Map<string, Promise<Manifest>>()
  return async spec => {
    const key = [spec.image.id, spec.workdir, spec.user ?? ''].join('\0')
    const found = known.get(key)
    known.delete(key)
    const manifest = found ?? listPristine(pool, spec)
    known.set(key, manifest)
    for (const oldest of known.keys()) {
      if (known.size <= limit) break
      known.delete(oldest)
    }
    try {
      return await manifest
    } catch (error) {
      if (known.get(key) === manifest) known.delete(key)
      throw error
    }
  }
}

async function listPristine (pool: Pool, spec: SandboxSpec): Promise<Manifest> {
  using limit = deadline(BASELINE_MS, { code: 'ENGINE_FAULT', what: 'listing the pristine workspace' })
  await using sandbox = await pool.acquire(spec, { signal: limit.signal })
  return await sandbox.manifest(spec.workdir, { maxEntries: DELTA_CAPS.entries, signal: limit.signal })
}

const BASELINE_MS = 180_000
