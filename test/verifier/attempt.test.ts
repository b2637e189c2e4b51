import t from 'tap'
import { systemClock } from '../../src/base/clock.ts'
import { AssayError } from '../../src/errors.ts'
import { runAttempt } from '../../src/verifier/attempt.ts'
import type { Submission } from '../../src/verifier/verifier.ts'
import { answer, cliTask, ran, scriptedPool, slow, spec, type Behaviour, type ScriptedPool } from './scripted.ts'

const delta = { entries: [{ type: 'file', path: 'a', mode: 0o644, content: new Uint8Array() }], deleted: [] } as const
function submission (verifier: Parameters<typeof cliTask>[0] = {}): Submission {
  return { task: cliTask(verifier), spec, delta, seed: 3 }
}

const never = new AbortController().signal

async function attempt (pool: ScriptedPool, what = submission(), signal = never) {
  return await runAttempt({ pool, clock: systemClock }, what, { signal, stopAtFailure: false })
}

await t.test('delta, then case after case with everything killed between, then the sandbox is given up', async t => {
  const pool = scriptedPool(answer)
  t.match(await attempt(pool), { kind: 'ran', stopped: undefined, cases: Array.from({ length: 4 }, () => ({ passed: true })) })
  const log = pool.sandboxes[0]?.log ?? []
  t.same(log.map(line => line.split(' ')[0]), ['put', ...Array.from({ length: 4 }, () => ['put', 'run', 'killAll']).flat(), 'dispose'])
  t.equal(log[0], 'put /app')
})

await t.test('no case but the current one, and no expected value, is ever in the sandbox', async t => {
  const pool = scriptedPool(answer)
  await attempt(pool)
  const sandbox = pool.sandboxes[0]
  for (const command of sandbox?.commands ?? []) t.match(command.script, /^prog '\d'$/)
  t.notMatch(JSON.stringify(sandbox?.puts), /equals|requirement/)
})

await t.test('a build that fails fails every case and runs none', async t => {
  const pool = scriptedPool(() => ran({ exitCode: 1 }))
  const build = { command: 'make', timeoutMs: 1000 }
  t.match(await attempt(pool, submission({ build })), { stopped: undefined, cases: Array.from({ length: 4 }, () => ({ passed: false, why: 'the build exited with 1' })) })
  t.same(pool.sandboxes[0]?.commands.map(({ script, cwd }) => [script, cwd]), [['make', '/app']])
})

await t.test('a slow build and three slow cases stop it; one slow case does not', async t => {
  const slowBuild = scriptedPool(() => slow)
  t.match(await attempt(slowBuild, submission({ build: { command: 'make', timeoutMs: 1 } })), { cases: [], stopped: { by: 'time' } })
  const allSlow = await attempt(scriptedPool(() => slow))
  t.match(allSlow, { stopped: { by: 'time' }, cases: [{ timedOut: true }, { timedOut: true }, { timedOut: true }] })
  const one: Behaviour = command => command.script.includes('2') ? slow : answer(command)
  t.match(await attempt(scriptedPool(one)), { stopped: undefined, cases: { length: 4 } })
})

await t.test('where the first failure decides, nothing runs after it; slowness decides nothing', async t => {
  const wrong = scriptedPool(() => ran({ exitCode: 9 }))
  const stopping = { signal: never, stopAtFailure: true }
  const failed = await runAttempt({ pool: wrong, clock: systemClock }, submission(), stopping)
  t.match(failed, { kind: 'ran', stopped: undefined, cases: [{ passed: false, timedOut: false }] })
  t.equal(wrong.sandboxes[0]?.commands.length, 1)
  const one: Behaviour = command => command.script.includes('2') ? slow : answer(command)
  const slowly = await runAttempt({ pool: scriptedPool(one), clock: systemClock }, submission(), stopping)
  t.match(slowly, { kind: 'ran', cases: { length: 4 } })
})

await t.test('a sandbox that is lost leaves what was found before, and from where it was lost', async t => {
  const pool = scriptedPool((command, sandbox) => {
    if (sandbox.commands.length === 3) sandbox.lose({ kind: 'inside', reason: 'gone' })
    return answer(command)
  })
  t.match(await attempt(pool), { kind: 'ran', cases: { length: 2 }, stopped: { by: 'loss', why: 'gone', loss: 'inside' } })
  t.equal(pool.live(), 0)
})

await t.test('a delta that the sandbox refuses is the delta\'s doing', async t => {
  const pool = scriptedPool(answer)
  const acquire = pool.acquire
  pool.acquire = async (...args) => {
    const sandbox = await acquire(...args)
    sandbox.put = async () => { throw new AssayError('FILE_REFUSED', { message: 'no' }) }
    return sandbox
  }
  t.match(await attempt(pool), { kind: 'ran', cases: [], stopped: { by: 'loss', why: 'no', loss: undefined } })
})

await t.test('the limit of the whole verification ends it wherever it is', async t => {
  const hangs: Behaviour = async (_command, _sandbox, { signal }) => {
    await new Promise(resolve => signal?.addEventListener('abort', resolve, { once: true }))
    return { ...ran({}), ending: { kind: 'cancelled' } }
  }
  const pool = scriptedPool(hangs)
  t.match(await attempt(pool, submission({ timeoutMs: 30 })), { kind: 'ran', cases: [], stopped: { by: 'time', why: /30 ms/ } })
  t.equal(pool.live(), 0)
})

await t.test('a sandbox that cannot be had is told apart from one that broke', async t => {
  const pool = scriptedPool(answer, () => { throw new AssayError('ENGINE_FAULT', { message: 'full' }) })
  t.same(await attempt(pool), { kind: 'unready', code: 'ENGINE_FAULT', why: 'full' })
})

await t.test('the caller\'s abort is a cancellation, before and during', async t => {
  const before = new AbortController()
  before.abort(new AssayError('DRAINING'))
  t.same(await attempt(scriptedPool(answer, () => before.signal.throwIfAborted()), submission(), before.signal), { kind: 'cancelled' })
  const during = new AbortController()
  const pool = scriptedPool(command => {
    during.abort(new AssayError('DRAINING'))
    return answer(command)
  })
  t.same(await attempt(pool, submission(), during.signal), { kind: 'cancelled' })
  t.equal(pool.live(), 0)
})

await t.test('a bug is not taken for an ending', async t => {
  await t.rejects(attempt(scriptedPool(() => { throw new TypeError('bug') })), TypeError)
})
