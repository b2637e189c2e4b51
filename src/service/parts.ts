// The parts that the operations of one node share, made once.
import type { Clock } from '../base/clock.ts'
import { createId, type Random } from '../base/ids.ts'
import type { Config } from '../config.ts'
import { AssayError } from '../errors.ts'
import { createBaselines } from '../episodes/baseline.ts'
import { Episode } from '../episodes/episode.ts'
import { EpisodeRegistry, Registry } from '../episodes/registry.ts'
import type { EpisodeDeps, EpisodeSetup } from '../episodes/setup.ts'
import { Admission } from '../groups/admission.ts'
import { createBalanceGauge, type BalanceGauge } from '../groups/gauge.ts'
import type { Group } from '../groups/group.ts'
import type { EpisodeId } from '../protocol/index.ts'
import type { Capacity, Engine } from '../sandbox/engine.ts'
import type { Pool } from '../sandbox/pool.ts'
import type { Store } from '../store/store.ts'
import type { Catalogue } from '../tasks/catalogue.ts'
import type { Journal } from '../telemetry/journal.ts'
import type { Logger } from '../telemetry/log.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import type { Verifier } from '../verifier/verifier.ts'
import { createAccess, type Access } from './access.ts'
import { createSpecs, type SpecOf } from './specs.ts'

export interface LocalServiceDeps {
  config: Config
  version: string
  engine: Engine
  /** What the engine has; places are counted from it. */
  capacity: Capacity
  pool: Pool
  catalogue: Catalogue
  verifier: Verifier
  store: Store
  journal: Journal
  clock: Clock
  random: Random
  metrics: Metrics
  log: Logger
}

export interface Parts {
  readonly deps: LocalServiceDeps
  readonly access: Access
  readonly specOf: SpecOf
  readonly episodes: EpisodeRegistry
  readonly groups: Registry<Group>
  readonly admission: Admission
  readonly gauge: BalanceGauge
  /** A new id of this node. */
  createId (prefix: 'ep' | 'gr'): string
  createSeed (): number
  /** Makes the episode, holds it under its id and requestKey, and stores its record. */
  startEpisode (setup: Omit<EpisodeSetup, 'id'>, options?: { requestKey?: string | undefined }): Episode
  /** Throws DRAINING once the node drains. */
  checkOpen (): void
  isDraining: boolean
}

export function createParts (deps: LocalServiceDeps): Parts {
  const { config, capacity, clock, random, metrics, catalogue, pool, engine } = deps
  const episodes = new EpisodeRegistry({ clock })
  const groups = new Registry<Group>({ clock, onForgotten: group => group.forgotten() })
  const baselineOf = createBaselines({ pool })
  const episodeDeps: EpisodeDeps = { ...deps, baselineOf, isAdmitted: task => catalogue.isAdmitted(task) }
  const parts: Parts = {
    deps,
    access: createAccess({ node: config.node, catalogue, episodes, groups }),
    specOf: createSpecs(engine),
    episodes,
    groups,
    admission: new Admission({
      memoryBytes: capacity.memoryBytes * config.placeOvercommit,
      maxPlaces: config.maxPlaces,
      queueLength: config.queueLength,
      clock,
      metrics,
    }),
    gauge: createBalanceGauge(metrics),
    createId: prefix => createId(prefix, config.node, { nowMs: clock.now(), random }),
    createSeed: () => Buffer.from(random(4)).readUInt32BE() >>> 1,
    startEpisode: (setup, { requestKey } = {}) => startEpisode(parts, { episodeDeps, setup, requestKey }),
    checkOpen () { if (parts.isDraining) throw new AssayError('DRAINING', { retryAfterMs: RETRY_MS }) },
    isDraining: false,
  }
  return parts
}

interface Start { episodeDeps: EpisodeDeps, setup: Omit<EpisodeSetup, 'id'>, requestKey: string | undefined }

function startEpisode (parts: Parts, { episodeDeps, setup, requestKey }: Start): Episode {
  const id = parts.createId('ep') as EpisodeId
  const log = episodeDeps.log.child({ episodeId: id, ...(setup.group !== undefined && { groupId: setup.group }) })
  const episode = new Episode({
    ...setup,
    id,
    onEnd: verdict => {
      parts.episodes.finish(episode)
      setup.onEnd(verdict)
      saveEpisode(parts, episode)
    },
  }, { ...episodeDeps, log })
  parts.episodes.add(episode, requestKey)
  saveEpisode(parts, episode)
  return episode
}

function saveEpisode ({ deps: { store, config, clock, log } }: Parts, { id, state, setup }: Episode): void {
  const { principal, task, group, member, attempt } = setup
  store.putEpisode({
    version: 1,
    id,
    node: config.node,
    principal,
    task: task.id,
    ...(group !== undefined && { group }),
    ...(member !== undefined && { member }),
    attempt,
    state,
    updatedAt: clock.now(),
  }).catch((error: unknown) => log.warn({ episodeId: id, error: String(error) }, 'the store did not take the episode'))
}

const RETRY_MS = 5_000
