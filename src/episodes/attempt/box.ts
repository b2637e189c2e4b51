// Owns the one sandbox of an attempt: gets it, runs in it, notices its loss, gives it back once. Knows no seq and no reward.
import { defer, type Deferred } from '../../base/defer.ts'
import { AssayError, isAssayError } from '../../errors.ts'
import type { Command, Ran } from '../../sandbox/command.ts'
import type { Sandbox, SandboxLoss, SandboxSpec } from '../../sandbox/engine.ts'
import type { Pool } from '../../sandbox/pool.ts'
import type { Logger } from '../../telemetry/log.ts'

export interface BoxOptions {
  pool: Pool
  log: Logger
  /** The sandbox is lost while no command runs; a running one throws instead. */
  onLost: (loss: SandboxLoss) => void
}

interface Running { abort: AbortController, lost: Deferred<never> }

export class Box {
  readonly #options: BoxOptions
  #sandbox: Sandbox | undefined
  #running: Running | undefined
  #closing: Promise<void> | undefined

  constructor (options: BoxOptions) {
    this.#options = options
  }

  /** Throws what the pool throws, or the signal's reason. A sandbox that comes after close is given back at once. */
  async open (spec: SandboxSpec, signal: AbortSignal): Promise<void> {
    const sandbox = await this.#options.pool.acquire(spec, { signal })
    this.#sandbox = sandbox
    if (this.#closing !== undefined) {
      await this.#dispose()
      throw new AssayError('EPISODE_VOID')
    }
    sandbox.lost.then(loss => this.#lost(loss), () => {}) // lost never rejects by contract
  }

  /** Throws SANDBOX_LOST and the like when no result can be had. */
  async run (command: Command): Promise<Ran> {
    const running: Running = { abort: new AbortController(), lost: defer() }
    this.#running = running
    running.lost.promise.catch(() => {}) // the race below has it; nobody else needs it
    try {
      return await Promise.race([this.sandbox.run(command, { signal: running.abort.signal }), running.lost.promise])
    } finally {
      this.#running = undefined
    }
  }

  /** Ends the running command, which then returns what it printed, as cancelled. */
  cancel (): void {
    this.#running?.abort.abort()
  }

  get sandbox (): Sandbox {
    if (this.#sandbox === undefined || this.#closing !== undefined) throw new AssayError('SANDBOX_LOST')
    return this.#sandbox
  }

  /** The sandbox, if it is still here. */
  get current (): Sandbox | undefined { return this.#sandbox }

  /** Gives the sandbox back. Idempotent, never throws. */
  async close (): Promise<void> {
    this.cancel()
    this.#closing ??= this.#dispose()
    await this.#closing
  }

  async #dispose (): Promise<void> {
    const sandbox = this.#sandbox
    this.#sandbox = undefined
    try {
      await sandbox?.[Symbol.asyncDispose]()
    } catch (error) {
      // the verdict stands without it, and the sweeper removes what is left over
      this.#options.log.warn({ error: String(error) }, 'sandbox could not be removed')
    }
  }

  #lost (loss: SandboxLoss): void {
    if (this.#closing !== undefined) return
    if (this.#running === undefined) this.#options.onLost(loss)
    else this.#running.lost.reject(new AssayError('SANDBOX_LOST', { message: `The sandbox is gone: ${loss.reason}`, details: { kind: loss.kind } }))
  }
}

/** Who lost the sandbox, as the verdict names it. */
export function lossReason (loss: SandboxLoss): 'engine_lost' | 'sandbox_lost' {
  return loss.kind === 'engine' ? 'engine_lost' : 'sandbox_lost'
}

/** The same for an error of a sandbox: its loss, when it is known by now, says more than the error's code. */
export async function failureReason (error: unknown, sandbox: Sandbox | undefined): Promise<'engine_lost' | 'sandbox_lost'> {
  const loss = sandbox === undefined ? undefined : await Promise.race([sandbox.lost, Promise.resolve(undefined)])
  if (loss !== undefined) return lossReason(loss)
  return isAssayError(error, 'SANDBOX_LOST') || isAssayError(error, 'WARDEN_FAULT') ? 'sandbox_lost' : 'engine_lost'
}
