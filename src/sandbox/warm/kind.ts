// One kind of interchangeable sandboxes in the pool: who waits, what is announced, what is ready. Starts nothing itself.
import type { Deferred } from '../../base/defer.ts'
import type { Sandbox, SandboxSpec } from '../engine.ts'
import type { Demand } from './plan.ts'
import { Quarantine } from './quarantine.ts'

export interface Waiter {
  /** Monotonic milliseconds. */
  readonly since: number
  readonly sandbox: Deferred<Sandbox>
}

export class Kind {
  readonly key: string
  readonly spec: SandboxSpec
  readonly ready = new Set<Sandbox>()
  readonly waiters: Waiter[] = []
  readonly stages = new Set<{ left: number }>()
  readonly quarantine = new Quarantine()
  starting = 0
  usedAt = -Infinity

  constructor (key: string, spec: SandboxSpec) {
    this.key = key
    this.spec = spec
  }

  demand (nowMs: number): Demand {
    return {
      key: this.key,
      waiting: this.waiters.length,
      waitingSince: this.waiters[0]?.since ?? Infinity,
      staged: [...this.stages].reduce((sum, { left }) => sum + left, 0),
      lately: nowMs - this.usedAt < LATELY_MS,
      ready: this.ready.size,
      starting: this.starting,
      blocked: this.quarantine.isBlocked(nowMs),
    }
  }

  /** Nothing would be lost by forgetting it. */
  isIdle (nowMs: number): boolean {
    const { waiting, lately, ready, starting, blocked } = this.demand(nowMs)
    return waiting + ready + starting + this.stages.size === 0 && !lately && !blocked
  }

  /** The oldest announcement of this kind is taken to be the caller's. */
  takeStaged (): void {
    for (const stage of this.stages) {
      if (stage.left === 0) continue
      stage.left--
      return
    }
  }

  /** Takes some ready ones off the shelf, oldest first. */
  takeReady (count: number): Sandbox[] {
    const taken = [...this.ready].slice(0, count)
    for (const sandbox of taken) this.ready.delete(sandbox)
    return taken
  }

  rejectWaiters (reason: unknown): void {
    for (const waiter of this.waiters.splice(0)) waiter.sandbox.reject(reason)
  }
}

/** Two specs with the same key get interchangeable sandboxes. */
export function specKey ({ image, user, workdir, env, limits }: SandboxSpec): string {
  const variables = Object.entries(env).sort(([a], [b]) => a < b ? -1 : 1)
  const { memoryBytes, pids, cpus, diskBytes } = limits
  return JSON.stringify([image.id, user ?? '', workdir, variables, memoryBytes, pids, cpus, diskBytes])
}

/** How long after its last use a kind is still kept warm. */
export const LATELY_MS = 10 * 60 * 1000
