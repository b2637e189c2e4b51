// What this node holds by id: live ones without limit of time, finished ones for a while, so that a late question is answered.
import type { Clock } from '../base/clock.ts'
import { AssayError } from '../errors.ts'
import type { Episode } from './episode.ts'

export interface RegistryOptions<T> {
  clock: Clock
  onForgotten: (entry: T) => void
  /** Milliseconds for which a finished one is kept. */
  keepMs?: number
  /** Finished ones kept at most; the oldest go first. */
  keepCount?: number
}

export class Registry<T extends { readonly id: string }> {
  readonly #onForgotten: (entry: T) => void
  readonly #clock: Clock
  readonly #keepMs: number
  readonly #keepCount: number
  readonly #live = new Map<string, T>()
  readonly #finished = new Map<string, { entry: T, until: number }>()
  #cancelTimer: (() => void) | undefined

  constructor ({ clock, onForgotten, keepMs = KEEP_MS, keepCount = KEEP_COUNT }: RegistryOptions<T>) {
    this.#onForgotten = onForgotten
    this.#clock = clock
    this.#keepMs = keepMs
    this.#keepCount = keepCount
  }

  get size (): number { return this.#live.size + this.#finished.size }
  get liveCount (): number { return this.#live.size }

  live (): T[] { return [...this.#live.values()] }

  find (id: string): T | undefined {
    return this.#live.get(id) ?? this.#finished.get(id)?.entry
  }

  add (entry: T): void {
    this.#live.set(entry.id, entry)
  }

  /** The entry lives no longer: it is forgotten after a while. Idempotent. */
  finish (id: string): void {
    const entry = this.#live.get(id)
    if (entry === undefined) return
    this.#live.delete(id)
    this.#finished.set(id, { entry, until: this.#clock.monotonic() + this.#keepMs })
    this.#prune()
  }

  // finished ones are in order of their ends, so only the first can be due
  #prune (): void {
    for (const [id, { entry, until }] of this.#finished) {
      if (until > this.#clock.monotonic() && this.#finished.size <= this.#keepCount) break
      this.#finished.delete(id)
      this.#onForgotten(entry)
    }
    this.#arm()
  }

  #arm (): void {
    const next = this.#finished.values().next().value
    if (next === undefined || this.#cancelTimer !== undefined) return
    this.#cancelTimer = this.#clock.after(Math.max(0, next.until - this.#clock.monotonic()), () => {
      this.#cancelTimer = undefined
      this.#prune()
    })
  }
}

export interface EpisodeOwner { name: string, maxEpisodes: number }

/** The episodes of this node, how many each principal has live, and which requestKey stands for which. */
export class EpisodeRegistry {
  readonly #episodes: Registry<Episode>
  readonly #liveByPrincipal = new Map<string, number>()
  /** As many as there are episodes: a key goes with its episode. */
  readonly #byKey = new Map<string, Episode>()
  readonly #keyOf = new Map<string, string>()

  constructor (options: Omit<RegistryOptions<Episode>, 'onForgotten'>) {
    this.#episodes = new Registry({ ...options, onForgotten: episode => this.#forget(episode) })
  }

  get size (): number { return this.#episodes.size }
  live (): Episode[] { return this.#episodes.live() }
  find (id: string): Episode | undefined { return this.#episodes.find(id) }

  findByKey (principal: string, requestKey: string): Episode | undefined {
    return this.#byKey.get(keyFor(principal, requestKey))
  }

  /** Throws TOO_MANY_EPISODES when one more would be over the principal's limit. */
  checkLimit ({ name, maxEpisodes }: EpisodeOwner): void {
    const live = this.#liveByPrincipal.get(name) ?? 0
    if (live < maxEpisodes) return
    throw new AssayError('TOO_MANY_EPISODES', {
      message: `This key has ${live} live episodes, as many as it may; finish some first.`,
      details: { live, maxEpisodes },
    })
  }

  /** Holds the episode until some time after its verdict. */
  add (episode: Episode, requestKey?: string): void {
    const { principal } = episode.setup
    this.#episodes.add(episode)
    this.#liveByPrincipal.set(principal, (this.#liveByPrincipal.get(principal) ?? 0) + 1)
    if (requestKey === undefined) return
    const key = keyFor(principal, requestKey)
    this.#byKey.set(key, episode)
    this.#keyOf.set(episode.id, key)
  }

  /** The episode has its verdict. */
  finish (episode: Episode): void {
    const { principal } = episode.setup
    const live = (this.#liveByPrincipal.get(principal) ?? 0) - 1
    if (live > 0) this.#liveByPrincipal.set(principal, live)
    else this.#liveByPrincipal.delete(principal)
    this.#episodes.finish(episode.id)
  }

  disconnected (listenerId: string): void {
    for (const episode of this.#episodes.live()) episode.disconnected(listenerId)
  }

  #forget (episode: Episode): void {
    const key = this.#keyOf.get(episode.id)
    if (key !== undefined) this.#byKey.delete(key)
    this.#keyOf.delete(episode.id)
    episode.forgotten()
  }
}

function keyFor (principal: string, requestKey: string): string {
  return `${principal}\0${requestKey}`
}

const KEEP_MS = 1_800_000
const KEEP_COUNT = 4096
