import t from 'tap'
import { manualClock } from '../../../src/base/clock.ts'
import { AssayError } from '../../../src/errors.ts'
import { orAbort } from '../../../src/base/deadline.ts'
import { systemRandom } from '../../../src/base/ids.ts'
import { Life } from '../../../src/episodes/attempt/life.ts'
import { createBaselines } from '../../../src/episodes/baseline.ts'
import type { EpisodeSetup } from '../../../src/episodes/setup.ts'
import { unverified } from '../../../src/episodes/verdict.ts'
import type { EpisodeId, Verdict } from '../../../src/protocol/index.ts'
import type { FakeEngineOptions } from '../../../src/sandbox/engines/fake.ts'
import { noJournal } from '../../../src/telemetry/journal.ts'
import { silentLogger } from '../../../src/telemetry/log.ts'
import { createMetrics } from '../../../src/telemetry/metrics.ts'
import { createScriptedVerifier, makeEngine, makePool, makeSpec, makeTask, until } from '../../helpers/fake.ts'

const alive = setInterval(() => {}, 60_000)
t.teardown(() => clearInterval(alive))

interface Options { admit?: EpisodeSetup['admit'], engine?: Partial<FakeEngineOptions>, isAdmitted?: boolean }

function start ({ admit, engine: engineOptions = {}, isAdmitted = false }: Options = {}) {
  const engine = makeEngine(engineOptions)
  const pool = makePool(engine)
  const clock = manualClock()
  const places = { taken: 0, given: 0 }
  const verdicts: Verdict[] = []
  const setup: EpisodeSetup = {
    id: 'ep_n1_1' as EpisodeId,
    principal: 'p',
    task: makeTask(),
    spec: makeSpec(),
    budgets: { onBudget: 'zero' },
    seed: 1,
    meta: { a: 1 },
    attempt: 0,
    admit: admit ?? (async () => {
      places.taken++
      return { [Symbol.dispose] () { places.given++ } }
    }),
    onEnd () {},
  }
  const life = new Life(setup, {
    config: { node: 'n1', leaseIdleMs: 1000, ceilingMs: 1000, outputBytes: 1000 },
    version: '1.2.3',
    pool,
    verifier: createScriptedVerifier(),
    baselineOf: createBaselines({ pool }),
    isAdmitted: () => isAdmitted,
    journal: noJournal,
    clock,
    random: systemRandom,
    metrics: createMetrics(),
    log: silentLogger,
  }, { onOutOfTime () {}, onVerdict: verdict => verdicts.push(verdict) })
  return { life, engine, pool, clock, places, verdicts }
}

t.test('it takes a place, then a sandbox, and gives both back with its one verdict', async t => {
  const { life, pool, clock, places, verdicts } = start()
  t.equal(life.state, 'queued')
  await life.started
  t.equal(life.state, 'ready')
  t.same([places.taken, pool.stats().used], [1, 1])
  clock.advance(500)
  life.finish(unverified('budget_steps', 'budget_steps'))
  life.finish(unverified('cancelled'))
  await life.released()
  t.same([places.given, pool.stats().used, life.state], [1, 0, 'done'])
  t.equal(verdicts.length, 1)
  t.equal(life.signal.aborted, true)
  t.match(await life.ended, {
    reward: 0,
    reason: 'budget_steps',
    meta: { a: 1 },
    provenance: { serverVersion: '1.2.3', imageDigest: 'sha256:fake', startedAt: '2023-11-14T22:13:20.000Z', endedAt: '2023-11-14T22:13:20.500Z' },
  })
})

t.test('ended before it has a place it never takes one', async t => {
  const { life, places, pool } = start()
  life.finish(unverified('cancelled'))
  await life.released()
  t.same([life.state, places.taken, pool.stats().created], ['void', 0, 0])
})

t.test('ended while it waits for its place it stops waiting', async t => {
  let waits = false
  const { life, pool } = start({
    admit: async signal => {
      waits = true
      return await orAbort(new Promise<Disposable>(() => {}), signal)
    },
  })
  await until(() => waits)
  life.finish(unverified('expired'))
  await life.released()
  t.same([life.state, pool.stats().created], ['void', 0])
})

t.test('ended while its sandbox starts it leaves none behind', async t => {
  const { life, pool, places } = start({ engine: { latencyMs: 1_000 } })
  await until(() => life.state === 'starting')
  life.finish(unverified('drained'))
  await life.released()
  t.equal(places.given, 1)
  await until(() => pool.stats().used === 0 && pool.stats().starting === 0)
})

t.test('no sandbox means engine_lost, and a sandbox lost while idle ends it', async t => {
  const first = start()
  first.pool.acquire = async () => { throw new AssayError('ENGINE_FAULT') }
  await first.life.started
  t.match(first.life.verdict, { reward: null, reason: 'engine_lost' })
  t.equal(first.places.given, 1)
  const second = start()
  await second.life.started
  second.engine.loseAll({ kind: 'outside', reason: 'removed' })
  t.match(await second.life.ended, { reason: 'sandbox_lost' })
})

t.test('an event that cannot happen is a bug', async t => {
  const { life } = start()
  t.throws(() => life.move({ type: 'verified' }), TypeError)
  life.finish(unverified('cancelled'))
})

t.test('a verdict without isolation is never trainable', async t => {
  const { life } = start({ isAdmitted: true })
  await life.started
  life.finish(unverified('budget_steps'))
  t.match(life.verdict, { usable: true, trainable: false })
})
