// Keeps sandboxes ready per spec and hands each out once. (Port first; the implementation follows in this file.)
import type { Engine, Sandbox, SandboxSpec, WaitOptions } from './engine.ts'

export interface Pool {
  readonly engine: Engine
  /** A ready sandbox that nobody has used: a warm one when there is one, else a new one. The caller disposes it. */
  acquire (spec: SandboxSpec, options?: WaitOptions): Promise<Sandbox>
  /** Asks that count more sandboxes of this spec be made ready ahead of use; the returned handle withdraws what was not taken. */
  stage (spec: SandboxSpec, count: number): Disposable
  stats (): PoolStats
  close (): Promise<void>
}

export interface PoolStats {
  ready: number
  starting: number
  /** Handed out and not yet disposed. */
  used: number
  created: number
  destroyed: number
}
