import t from 'tap'
import { systemClock } from '../../src/base/clock.ts'
import { defer } from '../../src/base/defer.ts'
import { Semaphore } from '../../src/base/semaphore.ts'
import { AssayError } from '../../src/errors.ts'
import type { Delta } from '../../src/sandbox/delta.ts'
import { silentLogger } from '../../src/telemetry/log.ts'
import { createMetrics } from '../../src/telemetry/metrics.ts'
import { createVerifier } from '../../src/verifier/driver.ts'
import type { Verification } from '../../src/verifier/verifier.ts'
import { answer, cliTask, ran, scriptedPool, slow, spec, type Behaviour, type ScriptedPool } from './scripted.ts'

const file = (path: string) => ({ type: 'file', path, mode: 0o644, content: new Uint8Array() }) as const
const delta: Delta = { entries: [file('a')], deleted: [] }

interface Given {
  task?: ReturnType<typeof cliTask>
  delta?: Delta
  places?: Semaphore
  signal?: AbortSignal
}

async function verify (pool: ScriptedPool, given: Given = {}): Promise<Verification> {
  const { places = new Semaphore(2), task = cliTask(), signal } = given
  const verifier = createVerifier({ pool, places, stopAtFailure: false, clock: systemClock, log: silentLogger })
  return await verifier.verify({ task, spec, delta: given.delta ?? delta, seed: 5 }, { signal })
}

const slowOnce = (times: number): Behaviour => {
  let left = times
  return command => left-- > 0 ? slow : answer(command)
}

await t.test('all cases pass: verified, in one run and one sandbox', async t => {
  const pool = scriptedPool(answer)
  t.match(await verify(pool), { reason: 'verified', runs: 1, flags: [], cases: { passed: 4, failed: 0, total: 4 }, log: { length: 4 } })
  t.equal(pool.sandboxes.length, 1)
})

await t.test('one wrong answer: verifier_failed, with the reason for authors', async t => {
  const pool = scriptedPool(command => command.script.includes('3') ? ran({ stdout: '5\n' }) : answer(command))
  const verification = await verify(pool)
  t.match(verification, { reason: 'verifier_failed', runs: 1, cases: { passed: 3, failed: 1, total: 4 } })
  t.match(verification.log.find(({ passed }) => !passed), { id: 'case-3', requirement: 1, why: /expected "4/ })
})

await t.test('a wrong answer stays a failure when the sandbox breaks after it, without another run', async t => {
  const pool = scriptedPool((_command, sandbox) => {
    if (sandbox.commands.length === 2) sandbox.lose({ kind: 'inside', reason: 'gone' })
    return ran({})
  })
  t.match(await verify(pool), { reason: 'verifier_failed', runs: 1, cases: { passed: 0, failed: 1, total: 4 } })
  t.equal(pool.sandboxes.length, 1)
})

await t.test('slow once and right when alone: verified', async t => {
  t.match(await verify(scriptedPool(slowOnce(1))), { reason: 'verified', runs: 2, flags: ['provisional'] })
})

await t.test('slow once and wrong when alone: failed', async t => {
  const slowThenWrong = slowOnce(1)
  const pool = scriptedPool((command, sandbox, facts) =>
    pool.sandboxes.length === 1 ? slowThenWrong(command, sandbox, facts) : ran({}))
  t.match(await verify(pool), { reason: 'verifier_failed', runs: 2 })
})

await t.test('slow again with its delta and ordinary without: a timeout that counts', async t => {
  const pool = scriptedPool((command, _sandbox, { hasDelta }) => hasDelta ? slow : answer(command))
  t.match(await verify(pool), { reason: 'verifier_timeout', runs: 2, flags: ['provisional'] })
  t.equal(pool.sandboxes.length, 3)
  t.same(pool.sandboxes[2]?.puts.filter(({ root }) => root === '/app'), [], 'the control has no delta')
})

await t.test('slow for everyone: the machine\'s fault, no reward', async t => {
  t.match(await verify(scriptedPool(() => slow)), { reason: 'verifier_error', runs: 2 })
})

await t.test('without a known reference time slowness is never a 0', async t => {
  const pool = scriptedPool((command, _sandbox, { hasDelta }) => hasDelta ? slow : answer(command))
  t.match(await verify(pool, { task: cliTask({ referenceMs: undefined }) }), { reason: 'task_defect' })
})

await t.test('a sandbox that the delta breaks again is the agent\'s doing; one that breaks for everyone is not', async t => {
  const breaks = (kind: 'inside' | 'outside' | 'engine', always: boolean): Behaviour => (command, sandbox, { hasDelta }) => {
    if (hasDelta || always) sandbox.lose({ kind, reason: 'gone' })
    return answer(command)
  }
  t.match(await verify(scriptedPool(breaks('inside', false))), { reason: 'agent_broke_verifier', runs: 2 })
  t.match(await verify(scriptedPool(breaks('outside', false))), { reason: 'engine_lost', runs: 2 })
  t.match(await verify(scriptedPool(breaks('inside', true))), { reason: 'verifier_error', runs: 2 })
  t.match(await verify(scriptedPool(breaks('engine', false))), { reason: 'engine_lost', runs: 2 })
})

await t.test('lost once by the engine and right when alone: verified', async t => {
  const pool = scriptedPool((command, sandbox) => {
    if (pool.sandboxes.length === 1) sandbox.lose({ kind: 'engine', reason: 'daemon restarted' })
    return answer(command)
  })
  t.match(await verify(pool), { reason: 'verified', runs: 2 })
})

await t.test('no sandbox for the verifier is a void that tells why', async t => {
  const refuse = (code: 'ENGINE_UNAVAILABLE' | 'WARDEN_FAULT', from = 0) => (count: number) => {
    if (count >= from) throw new AssayError(code)
  }
  t.match(await verify(scriptedPool(answer, refuse('ENGINE_UNAVAILABLE'))), { reason: 'engine_lost', runs: 0, cases: undefined })
  t.match(await verify(scriptedPool(answer, refuse('WARDEN_FAULT'))), { reason: 'verifier_bootstrap', runs: 0 })
  t.match(await verify(scriptedPool(() => slow, refuse('WARDEN_FAULT', 1))), { reason: 'verifier_bootstrap', runs: 2 }, 'also for the second run')
  t.match(await verify(scriptedPool(() => slow, refuse('ENGINE_UNAVAILABLE', 2))), { reason: 'engine_lost', runs: 2 }, 'and for the control')
})

await t.test('what is provisional is verified again only when nothing else is', async t => {
  const places = new Semaphore(3)
  const gate = defer<void>()
  const held = scriptedPool(async command => {
    await gate.promise
    return answer(command)
  })
  const others = [verify(held, { places }), verify(held, { places })]
  const pool = scriptedPool(slowOnce(1))
  const late = verify(pool, { places })
  while (places.waiting === 0) await new Promise(resolve => setImmediate(resolve))
  t.equal(pool.sandboxes.length, 1, 'the second run waits for the others')
  t.equal(pool.live(), 0)
  gate.resolve()
  t.match(await late, { reason: 'verified', runs: 2 })
  for (const other of await Promise.all(others)) t.equal(other.reason, 'verified')
  t.equal(places.free, 3)
})

await t.test('places are waited for, but not for ever', async t => {
  const places = new Semaphore(1)
  using place = await places.take()
  t.equal(place.count, 1)
  t.match(await verify(scriptedPool(answer), { places, task: cliTask({ timeoutMs: 2 }) }), { reason: 'verifier_error', runs: 0 })
})

await t.test('an abort is a cancellation, whether waiting or running', async t => {
  const controller = new AbortController()
  const places = new Semaphore(1)
  const place = await places.take()
  const waiting = verify(scriptedPool(answer), { places, signal: controller.signal })
  controller.abort(new AssayError('DRAINING'))
  t.match(await waiting, { reason: 'cancelled', runs: 0 })
  place[Symbol.dispose]()
  const during = new AbortController()
  const pool = scriptedPool(() => {
    during.abort(new AssayError('DRAINING'))
    return slow
  })
  t.match(await verify(pool, { places, signal: during.signal }), { reason: 'cancelled' })
  t.equal(places.free, 1)
  t.equal(pool.live(), 0)
})

await t.test('a change to a protected path is flagged and has no effect', async t => {
  const pool = scriptedPool(answer)
  const changed: Delta = { entries: [file('tests/x'), file('a')], deleted: [] }
  t.match(await verify(pool, { task: cliTask({ protected: ['tests'] }), delta: changed }), { reason: 'verified', flags: ['protected_changed'] })
  t.same(pool.sandboxes[0]?.puts[0]?.entries.map(({ path }) => path), ['a'])
})

await t.test('a bug propagates and gives its place back', async t => {
  const places = new Semaphore(1)
  await t.rejects(verify(scriptedPool(() => { throw new TypeError('bug') }), { places }), TypeError)
  t.equal(places.free, 1)
})

await t.test('the time of a verification is measured', async t => {
  const metrics = createMetrics()
  const pool = scriptedPool(answer)
  const places = new Semaphore(1)
  const log = silentLogger
  const verifier = createVerifier({ pool, places, stopAtFailure: false, clock: systemClock, log, metrics })
  await verifier.verify({ task: cliTask(), spec, delta, seed: 1 })
  t.match(await metrics.registry.metrics(), /assay_verify_seconds_count 1/)
})
