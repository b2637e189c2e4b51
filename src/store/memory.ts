// The store of a single node: in memory, bounded, forgotten with the process.
import type { Clock } from '../base/clock.ts'
import type { EpisodeRecord, GroupRecord, NodeRecord } from './records.ts'
import type { Store } from './store.ts'

export interface MemoryStoreOptions {
  clock: Clock
  /** Records of each kind kept at most; the ones written longest ago go first. */
  limit?: number
  /** Milliseconds after its last writing for which a record is kept. */
  keepMs?: number
}

export function createMemoryStore ({ clock, limit = 100_000, keepMs = 86_400_000 }: MemoryStoreOptions): Store {
  const claims = new ExpiringMap<string>(clock, limit)
  const episodes = new ExpiringMap<EpisodeRecord>(clock, limit)
  const groups = new ExpiringMap<GroupRecord>(clock, limit)
  const nodes = new ExpiringMap<NodeRecord>(clock, limit)
  return {
    async claim (key, value, { ttlMs }) {
      const holder = claims.get(key) ?? value
      if (holder === value) claims.set(key, value, ttlMs)
      return holder
    },
    async putEpisode (record) { episodes.set(record.id, record, keepMs) },
    async findEpisode (id) { return episodes.get(id) },
    async putGroup (record) { groups.set(record.id, record, keepMs) },
    async findGroup (id) { return groups.get(id) },
    async heartbeat (node, { ttlMs }) { nodes.set(node.id, node, ttlMs) },
    async liveNodes () { return nodes.values() },
    async close () {
      for (const map of [claims, episodes, groups, nodes]) map.clear()
    },
  }
}

class ExpiringMap<T> {
  readonly #clock: Clock
  readonly #limit: number
  readonly #entries = new Map<string, { value: T, until: number }>()

  constructor (clock: Clock, limit: number) {
    this.#clock = clock
    this.#limit = limit
  }

  get (key: string): T | undefined {
    const entry = this.#entries.get(key)
    return entry === undefined || entry.until <= this.#clock.monotonic() ? undefined : entry.value
  }

  /** Copies the value: what the caller changes later is not what was stored. */
  set (key: string, value: T, ttlMs: number): void {
    this.#entries.delete(key)
    this.#entries.set(key, { value: structuredClone(value), until: this.#clock.monotonic() + ttlMs })
    for (const [oldest, { until }] of this.#entries) {
      if (this.#entries.size <= this.#limit && until > this.#clock.monotonic()) break
      this.#entries.delete(oldest)
    }
  }

  values (): T[] {
    const now = this.#clock.monotonic()
    return [...this.#entries.values()].filter(({ until }) => until > now).map(({ value }) => value)
  }

  clear (): void { this.#entries.clear() }
}
