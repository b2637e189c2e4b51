// Removes containers by force and does not let go of one until it is gone or has been tried often enough.
import type { Clock } from '../../../base/clock.ts'
import type { Logger } from '../../../telemetry/log.ts'
import type { Limiter } from '../../limiter.ts'
import type { CallOptions, DockerClient } from './client.ts'
import { statusOf } from './client.ts'

export interface RemoverOptions {
  client: DockerClient
  limiter: Limiter
  clock: Clock
  log: Logger
}

export class Remover {
  #options: RemoverOptions
  /** By container id or name: how to stop the next attempt. Bounded by what was created. */
  #pending = new Map<string, () => void>()
  #uncertain = new Set<string>()

  constructor (options: RemoverOptions) {
    this.#options = options
  }

  /** Removes a container (id or name) with its anonymous volumes; gone or going counts as removed. Throws as DockerClient.call. */
  async remove (ref: string, { signal, timeoutMs }: CallOptions = {}): Promise<void> {
    const { client, limiter } = this.#options
    await limiter.run('low', async () => {
      try {
        await client.call('the removal of a container', (docker, abortSignal) => {
          return docker.getContainer(ref).remove({ force: true, v: true, abortSignal }) as Promise<void>
        }, { signal, timeoutMs })
      } catch (error) {
        if (!GONE_OR_GOING.has(statusOf(error) ?? 0)) throw error
      }
    }, { signal })
  }

  /** As remove, but never throws: what fails is tried again in the background, with growing pauses. */
  async removeSurely (ref: string): Promise<void> {
    await this.#attempt(ref, 1)
  }

  /**
   * Removes what a create may or may not have made: the daemon can still be at work on it after our deadline,
   * so an absent container is looked for again.
   */
  removeUncertain (name: string): void {
    this.#uncertain.add(name)
    for (const delayMs of UNCERTAIN_MS) this.#later(delayMs, name, 1)
    this.#options.clock.after(Math.max(...UNCERTAIN_MS) + 1, () => this.#uncertain.delete(name))
  }

  /** Tries once more whatever is still pending, then gives up on it. */
  async close (): Promise<void> {
    const refs = [...this.#pending.keys(), ...this.#uncertain]
    for (const cancel of this.#pending.values()) cancel()
    await Promise.all(refs.map(ref => this.#attempt(ref, ATTEMPTS)))
  }

  async #attempt (ref: string, attempt: number): Promise<void> {
    this.#pending.delete(ref)
    try {
      await this.remove(ref)
    } catch (error) {
      this.#options.log.warn({ ref, attempt, error }, 'container not removed')
      if (attempt >= ATTEMPTS) return // the sweeper of the next start has its labels
      this.#pending.set(ref, this.#later(Math.min(250 * 2 ** attempt, 30_000), ref, attempt + 1))
    }
  }

  #later (delayMs: number, ref: string, attempt: number): () => void {
    const { clock, log } = this.#options
    return clock.after(delayMs, () => {
      this.#attempt(ref, attempt).catch((error: unknown) => log.error({ error }, 'remover failed'))
    })
  }
}

// 404: gone · 409: another removal is in progress
const GONE_OR_GOING = new Set([404, 409])
const UNCERTAIN_MS = [0, 1_000, 10_000]
const ATTEMPTS = 12
