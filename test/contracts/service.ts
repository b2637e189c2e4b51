// What every Service must keep: exactly once, fenced leases, honest verdicts, exact groups, refusals that disturb nobody.
import type { Test } from 'tap'
import { AssayError } from '../../src/errors.ts'
import type { Result } from '../../src/protocol/index.ts'
import { defer, refusal, until } from '../helpers/fake.ts'
import type { Caller } from '../helpers/service.ts'
import { serviceDraining, serviceGroups, type Start } from './service-groups.ts'

export async function serviceContract (t: Test, start: Start): Promise<void> {
  await t.test('one episode', t => oneEpisode(t, start))
  await t.test('exactly once', t => exactlyOnce(t, start))
  await t.test('leases', t => leases(t, start))
  await t.test('budgets', t => budgets(t, start))
  await t.test('losses', t => losses(t, start))
  await t.test('refusals', t => refusals(t, start))
  await t.test('groups', t => serviceGroups(t, start))
  await t.test('draining', t => serviceDraining(t, start))
}

const exec = (command: string): { type: 'exec', command: string } => ({ type: 'exec', command })
const text = (bytes: Uint8Array | undefined): string => Buffer.from(bytes ?? []).toString()

async function open (caller: Caller, requestKey = 'k1'): Promise<Pick<Result<'reset'>, 'episode' | 'lease'>> {
  const { episode, lease } = await caller.call('reset', { task: 'answer', requestKey })
  return { episode, lease }
}

async function oneEpisode (t: Test, start: Start): Promise<void> {
  await t.test('an attempt goes from reset over steps to a verdict that says where it came from', async t => {
    await using app = await start({ admitted: ['digest-of-answer'] })
    const caller = app.connect()
    const reset = await caller.call('reset', { task: 'answer', requestKey: 'k1', seed: 7, meta: { policy: 3 }, budgets: { steps: 5 } })
    t.match(reset, { committed: 0, attempt: 0, observation: { instruction: 'Write 42 into answer.txt.', cwd: '/desk', budgetLeft: { steps: 5 } } })
    const { episode, lease } = reset
    const first = await caller.call('step', { episode, lease, seq: 1, action: exec('echo hello; echo oops >&2; exit 3') })
    t.match(first, { committed: 1, observation: { exitCode: 3, cwd: '/desk', budgetLeft: { steps: 4 } } })
    t.equal(text(first.observation.stdout), 'hello\n')
    t.equal(text(first.observation.stderr), 'oops\n')
    t.notOk('dropped' in first.observation)
    await caller.call('step', { episode, lease, seq: 2, action: exec('write answer.txt 42') })
    const { committed, verdict } = await caller.call('submit', { episode, lease, seq: 3, truncated: 'turns' })
    t.equal(committed, 3)
    t.match(verdict, {
      outcome: 'solved',
      reward: 1,
      usable: true,
      trainable: false, // the fake engine isolates nothing
      reason: 'verified',
      truncated: 'turns',
      verifier: { kind: 'driver', mode: 'fresh', cases: { passed: 1, failed: 0, total: 1 }, runs: 1 },
      provenance: { task: 'answer', taskDigest: 'digest-of-answer', engine: 'fake', isolation: 'none', node: 'n1', seed: 7 },
      meta: { policy: 3 },
    })
    t.same(caller.events.filter(({ event }) => event === 'verdict'), [{ event: 'verdict', episode, verdict }])
    t.match(await caller.call('status', { episode }), { state: 'done', committed: 3, verdict: { reward: 1 } })
    await app.settled()
  })

  await t.test('merged output has no stderr, and dropped bytes are counted where they are missing', async t => {
    await using app = await start({ config: { outputBytes: 10 } })
    const caller = app.connect()
    const { episode, lease } = await open(caller)
    const merged = await caller.call('step', { episode, lease, seq: 1, action: { ...exec('echo a; echo b >&2'), merge: true } })
    t.equal(text(merged.observation.stdout), 'a\nb\n')
    t.notOk('stderr' in merged.observation)
    const { observation } = await caller.call('step', { episode, lease, seq: 2, action: exec('bytes 25') })
    t.match(observation, { dropped: { stdoutBytes: 15, stderrBytes: 0 }, headBytes: { stdout: 5, stderr: 0 } })
    t.equal(observation.stdout?.length, 10)
  })

  await t.test('a wrong answer is 0, a verifier without a result is null', async t => {
    await using app = await start()
    const caller = app.connect()
    for (const [answer, expected] of [['41', { reward: 0, reason: 'verifier_failed' }], ['void', { reward: null, usable: false, reason: 'verifier_error' }], ['throw', { reward: null, reason: 'verifier_error' }]] as const) {
      const { episode, lease } = await open(caller, answer)
      await caller.call('step', { episode, lease, seq: 1, action: exec(`write answer.txt ${answer}`) })
      t.match((await caller.call('submit', { episode, lease, seq: 2 })).verdict, expected, answer)
    }
    await app.settled()
  })

  await t.test('a workspace that may not cross is the agent\'s doing: delta_rejected, 0', async t => {
    await using app = await start()
    const caller = app.connect()
    const { episode, lease } = await open(caller)
    await caller.call('step', { episode, lease, seq: 1, action: exec('mkfifo trap') })
    t.match((await caller.call('submit', { episode, lease, seq: 2 })).verdict, { outcome: 'unsolved', reward: 0, reason: 'delta_rejected', verifier: null })
    t.equal(app.verifier.submissions.length, 0)
  })

  await t.test('close gives the sandbox back and leaves no reward; its requestKey opens nothing more', async t => {
    await using app = await start()
    const caller = app.connect()
    const { episode, lease } = await open(caller)
    t.match(await caller.call('close', { episode, lease }), { state: 'closed', verdict: { outcome: 'void', reward: null, reason: 'cancelled' } })
    t.equal(app.pool.stats().used, 0)
    await refusal(caller.call('reset', { task: 'answer', requestKey: 'k1' }), 'EPISODE_CLOSED')
    await refusal(caller.call('step', { episode, lease, seq: 1, action: exec('true') }), 'EPISODE_CLOSED')
  })
}

async function exactlyOnce (t: Test, start: Start): Promise<void> {
  await t.test('a repeated seq is replayed and runs nothing; conflicts, gaps and old ones are told apart', async t => {
    await using app = await start()
    const caller = app.connect()
    const { episode, lease } = await open(caller)
    const step = (seq: number, command: string): Promise<Result<'step'>> => caller.call('step', { episode, lease, seq, action: exec(command) })
    await step(1, 'echo x >> log')
    const replay = await step(1, 'echo x >> log')
    t.match(replay, { committed: 1, replayed: true, observation: { exitCode: 0 } })
    t.match(await refusal(step(1, 'echo y >> log'), 'SEQ_CONFLICT'), { details: { committed: 1 } })
    t.match(await refusal(step(3, 'true'), 'SEQ_GAP'), { details: { committed: 1 } })
    await step(2, 'true')
    await refusal(step(1, 'echo x >> log'), 'SEQ_EXPIRED')
    t.equal(text((await step(3, 'cat log')).observation.stdout), 'x\n', 'nothing was run twice')
    t.equal((await caller.call('status', { episode })).committed, 3)
  })

  await t.test('stdin is compared as bytes, and settings that are not the action are not compared', async t => {
    await using app = await start()
    const caller = app.connect()
    const { episode, lease } = await open(caller)
    type Extra = { stream?: boolean, usage?: { tokens: number } }
    const step = (stdin: string | Uint8Array, extra: Extra = {}): Promise<Result<'step'>> =>
      caller.call('step', { episode, lease, seq: 1, action: { ...exec('cat'), stdin }, ...extra })
    await step('abc')
    t.equal((await step(new Uint8Array([97, 98, 99]), { stream: true, usage: { tokens: 9 } })).replayed, true)
    await refusal(step('abd'), 'SEQ_CONFLICT')
  })

  await t.test('the running seq is joined, any other is busy', async t => {
    await using app = await start()
    const caller = app.connect()
    const { episode, lease } = await open(caller)
    const step = (seq: number, command: string): Promise<Result<'step'>> => caller.call('step', { episode, lease, seq, action: exec(command) })
    const both = [step(1, 'sleep 30; echo x >> log; cat log'), step(1, 'sleep 30; echo x >> log; cat log')]
    await refusal(step(2, 'true'), 'EPISODE_BUSY')
    await refusal(step(1, 'true'), 'SEQ_CONFLICT')
    await refusal(caller.call('submit', { episode, lease, seq: 2 }), 'EPISODE_BUSY')
    t.match(await caller.call('status', { episode }), { state: 'busy', running: 1, committed: 0 })
    for (const result of await Promise.all(both)) {
      t.equal(text(result.observation.stdout), 'x\n')
      t.notOk(result.replayed)
    }
  })

  await t.test('a step goes on when its caller is gone, and its result waits for the next one', async t => {
    await using app = await start()
    const caller = app.connect()
    const { episode, lease } = await open(caller)
    const left = new AbortController()
    const lost = caller.call('step', { episode, lease, seq: 1, action: exec('sleep 20; echo done') }, { signal: left.signal })
    left.abort(new Error('the socket broke'))
    await t.rejects(lost, /the socket broke/)
    const again = await caller.call('step', { episode, lease, seq: 1, action: exec('sleep 20; echo done') })
    t.equal(text(again.observation.stdout), 'done\n')
    t.equal(again.committed, 1)
  })

  await t.test('submits join, and a late one is answered with the verdict', async t => {
    await using app = await start()
    const caller = app.connect()
    const { episode, lease } = await open(caller)
    app.verifier.gate = defer()
    const both = [caller.call('submit', { episode, lease, seq: 1 }), caller.call('submit', { episode, lease, seq: 1 })]
    await until(() => app.verifier.submissions.length === 1)
    t.match(await caller.call('status', { episode }), { state: 'verifying', running: 1 })
    await refusal(caller.call('step', { episode, lease, seq: 2, action: exec('true') }), 'EPISODE_DONE')
    app.verifier.gate.resolve()
    for (const result of await Promise.all(both)) t.match(result, { committed: 1, verdict: { reward: 0 } })
    t.match(await caller.call('submit', { episode, lease, seq: 1 }), { replayed: true, verdict: { reward: 0 } })
    await refusal(caller.call('step', { episode, lease, seq: 2, action: exec('true') }), 'EPISODE_DONE')
    t.equal(app.verifier.submissions.length, 1)
    t.equal(caller.events.filter(({ event }) => event === 'verdict').length, 1)
  })

  await t.test('two resets of one requestKey at once are one episode; of another task it is a conflict', async t => {
    await using app = await start()
    const caller = app.connect()
    const [a, b] = await Promise.all([open(caller), open(caller)])
    t.equal(a.episode, b.episode)
    await refusal(caller.call('reset', { task: 'hidden', requestKey: 'k1' }), 'REQUEST_KEY_CONFLICT')
    t.not((await open(app.connect({ name: 'other' }))).episode, a.episode, 'keys are per principal')
  })
}

async function leases (t: Test, start: Start): Promise<void> {
  await t.test('resume and a repeated reset give a new lease and fence the old one', async t => {
    await using app = await start()
    const caller = app.connect()
    const { episode, lease: first } = await open(caller)
    await caller.call('step', { episode, lease: first, seq: 1, action: exec('echo one') })
    const resumed = await caller.call('resume', { episode, lease: first })
    t.match(resumed, { committed: 1, state: 'ready', last: { seq: 1, observation: { exitCode: 0 } } })
    t.match(await refusal(caller.call('step', { episode, lease: first, seq: 2, action: exec('true') }), 'FENCED'), { details: { committed: 1 } })
    await refusal(caller.call('resume', { episode, lease: first }), 'FENCED')
    const { lease: third } = await open(caller)
    await refusal(caller.call('submit', { episode, lease: resumed.lease, seq: 2 }), 'FENCED')
    await refusal(caller.call('close', { episode, lease: resumed.lease }), 'FENCED')
    t.equal((await caller.call('step', { episode, lease: third, seq: 2, action: exec('true') })).committed, 2)
  })

  await t.test('events follow the lease to the socket that resumed it', async t => {
    await using app = await start()
    const [before, after] = [app.connect(), app.connect()]
    const { episode, lease } = await open(before)
    const { lease: taken } = await after.call('resume', { episode, lease })
    await before.call('submit', { episode, lease: taken, seq: 1 })
    t.same([before.events.length, after.events.length], [0, 1])
  })

  await t.test('a live socket keeps an idle episode; without one it expires, and only then', async t => {
    await using app = await start({ config: { leaseIdleMs: 1000, ceilingMs: 1e9 } })
    const caller = app.connect()
    const { episode } = await open(caller)
    app.clock.advance(60_000)
    const watcher = app.connect()
    t.equal((await watcher.call('status', { episode })).state, 'ready')
    caller.leave()
    app.clock.advance(999)
    t.equal((await watcher.call('status', { episode })).state, 'ready')
    app.clock.advance(1)
    t.match(await watcher.call('status', { episode }), { state: 'void', verdict: { reward: null, reason: 'expired' } })
    await app.settled()
  })

  await t.test('over HTTP use renews, and a running command does', async t => {
    await using app = await start({ config: { leaseIdleMs: 1000, ceilingMs: 1e9 } })
    const caller = app.connect({}, { http: true })
    const { episode, lease } = await open(caller)
    app.clock.advance(900)
    const step = caller.call('step', { episode, lease, seq: 1, action: exec('sleep 50') })
    app.clock.advance(5000)
    await step
    app.clock.advance(999)
    t.equal((await caller.call('status', { episode })).state, 'ready')
    app.clock.advance(1)
    t.match((await caller.call('status', { episode })).verdict, { reason: 'expired' })
    t.match(await refusal(caller.call('step', { episode, lease, seq: 2, action: exec('true') }), 'EPISODE_VOID'), { details: { reason: 'expired' } })
  })
}

async function budgets (t: Test, start: Start): Promise<void> {
  await t.test('the step before the last warns, the last is final, and the server submits by itself', async t => {
    await using app = await start()
    const caller = app.connect()
    const { episode, lease } = await caller.call('reset', { task: 'answer', requestKey: 'k1', budgets: { steps: 2 } })
    const action = exec('write answer.txt 42')
    const warned = await caller.call('step', { episode, lease, seq: 1, action })
    t.match(warned.observation, { warnings: [/^One step is left/], budgetLeft: { steps: 1 } })
    t.notOk('final' in warned.observation)
    const last = await caller.call('step', { episode, lease, seq: 2, action })
    t.match(last.observation, { final: true, budgetLeft: { steps: 0 } })
    const submitted = await caller.call('submit', { episode, lease, seq: 3, truncated: 'turns' })
    t.match(submitted, { committed: 3, verdict: { reward: 1, truncated: 'budget_steps' } })
    t.equal((await caller.call('step', { episode, lease, seq: 2, action })).replayed, true, 'a lost last reply costs nothing')
    await refusal(caller.call('step', { episode, lease, seq: 3, action }), 'EPISODE_DONE')
    t.equal(app.verifier.submissions.length, 1)
  })

  await t.test('onBudget decides what an exhausted budget is worth', async t => {
    await using app = await start()
    const caller = app.connect()
    for (const [onBudget, expected] of [
      ['zero', { outcome: 'unsolved', reward: 0, reason: 'budget_steps', truncated: 'budget_steps', verifier: null }],
      ['void', { outcome: 'void', reward: null, reason: 'budget_steps', truncated: 'budget_steps' }],
    ] as const) {
      const { episode, lease } = await caller.call('reset', { task: 'answer', requestKey: onBudget, budgets: { steps: 1, onBudget } })
      t.equal((await caller.call('step', { episode, lease, seq: 1, action: exec('write answer.txt 42') })).observation.final, true)
      t.match((await caller.call('submit', { episode, lease, seq: 2 })).verdict, expected)
    }
    t.equal(app.verifier.submissions.length, 0)
  })

  await t.test('tokens and output bytes count', async t => {
    await using app = await start()
    const caller = app.connect()
    const opened = await caller.call('reset', { task: 'answer', requestKey: 'k1', budgets: { tokens: 10, outputBytes: 100 } })
    const { episode, lease } = opened
    const step = await caller.call('step', { episode, lease, seq: 1, action: exec('bytes 40'), usage: { tokens: 9 } })
    t.match(step.observation, { budgetLeft: { tokens: 1, outputBytes: 60 }, warnings: [/^1 tokens are left/] })
    t.equal((await caller.call('step', { episode, lease, seq: 2, action: exec('bytes 60') })).observation.final, true)
    t.match((await caller.call('submit', { episode, lease, seq: 3 })).verdict, { truncated: 'budget_output' })
  })

  await t.test('the ceiling is a budget: the work is submitted as it stands, a running step included', async t => {
    await using app = await start({ config: { ceilingMs: 5000 } })
    const caller = app.connect()
    const idle = await open(caller, 'idle')
    const busy = await open(caller, 'busy')
    const step = caller.call('step', { ...busy, seq: 1, action: exec('echo so far; sleep 9000') })
    await until(() => app.pool.stats().used === 2)
    app.clock.advance(5000)
    const { observation } = await step
    t.match(observation, { cancelled: true, final: true })
    t.equal(text(observation.stdout), 'so far\n')
    for (const request of [{ ...idle, seq: 1 }, { ...busy, seq: 2 }]) {
      t.match((await caller.call('submit', request)).verdict, { reward: 0, truncated: 'budget_ceiling', reason: 'verifier_failed' })
    }
  })

  await t.test('wall time stands still while nobody is connected', async t => {
    await using app = await start()
    const caller = app.connect()
    const { episode, lease } = await caller.call('reset', { task: 'answer', requestKey: 'k1', budgets: { wallMs: 1000, onBudget: 'zero' } })
    app.clock.advance(600)
    caller.leave()
    app.clock.advance(5000)
    const back = app.connect()
    await back.call('resume', { episode, lease })
    t.equal((await back.call('status', { episode })).budgetLeft.wallMs, 400)
    app.clock.advance(400)
    t.match((await back.call('status', { episode })).verdict, { reward: 0, reason: 'budget_wall' })
  })
}

async function losses (t: Test, start: Start): Promise<void> {
  await t.test('a sandbox that is lost in a step is never shown as output, and commits nothing', async t => {
    await using app = await start()
    const caller = app.connect()
    for (const [kind, reason] of [['inside', 'sandbox_lost'], ['outside', 'sandbox_lost'], ['engine', 'engine_lost']] as const) {
      const { episode, lease } = await open(caller, kind)
      await caller.call('step', { episode, lease, seq: 1, action: exec('true') })
      const error = await refusal(caller.call('step', { episode, lease, seq: 2, action: exec(`fail-sandbox ${kind}`) }), 'SANDBOX_LOST')
      t.match(error.details, { committed: 1, reason })
      t.match(await caller.call('status', { episode }), { state: 'void', committed: 1, verdict: { reward: null, reason } })
      t.match((await caller.call('submit', { episode, lease, seq: 2 })).verdict, { reward: null, reason })
    }
    await app.settled()
  })

  await t.test('a sandbox that is lost between two steps, or while it is frozen, voids the episode', async t => {
    await using app = await start()
    const caller = app.connect()
    const { episode } = await open(caller)
    const before = caller.events.length
    app.engine.loseAll({ kind: 'engine', reason: 'the daemon is gone' })
    await until(() => caller.events.length > before)
    t.match(await caller.call('status', { episode }), { state: 'void', verdict: { reason: 'engine_lost' } })
    await app.settled()
  })

  await t.test('an engine that makes no sandbox voids the attempt at once', async t => {
    await using app = await start()
    const caller = app.connect()
    app.pool.acquire = async () => { throw new AssayError('ENGINE_UNAVAILABLE') }
    t.match(await refusal(open(caller), 'EPISODE_VOID'), { details: { reason: 'engine_lost' } })
  })
}

async function refusals (t: Test, start: Start): Promise<void> {
  await t.test('bad requests get a code and a sentence, and a neighbour feels nothing', async t => {
    await using app = await start({ config: { maxPlaces: 8, queueLength: 1 } })
    const neighbour = app.connect({ name: 'neighbour' })
    const { episode, lease } = await open(neighbour)
    const caller = app.connect({ name: 'caller', scopes: ['train'], splits: ['train'], classes: ['train'], maxEpisodes: 2 })
    const bad = [
      [caller.call('status', { episode: 'nonsense' }), 'EPISODE_NOT_FOUND', /as reset returned it/],
      [caller.call('status', { episode: 'ep_n2_abc' }), 'EPISODE_NOT_FOUND', /belongs to node "n2"/],
      [caller.call('status', { episode }), 'EPISODE_NOT_FOUND', /This key has no episode/],
      [caller.call('step', { episode, lease, seq: 1, action: exec('true') }), 'EPISODE_NOT_FOUND', /This key/],
      [caller.call('group.get', { group: 'gr_n1_none' }), 'GROUP_NOT_FOUND', /This key/],
      [caller.call('reset', { task: 'hidden', requestKey: 'k', class: 'train' }), 'TASK_NOT_FOUND', /sees no task "hidden"/],
      [caller.call('tasks.get', { task: 'hidden' }), 'TASK_NOT_FOUND', /tasks.list/],
      [caller.call('reset', { task: 'answer', requestKey: 'k' }), 'FORBIDDEN', /may not use class "eval"; it may use train/],
      [caller.call('group.open', { task: 'answer', size: 9 }), 'GROUP_TOO_LARGE', /at most 8/],
      [caller.call('fork', { episode, lease }), 'NOT_IMPLEMENTED', /does not offer/],
    ] as const
    for (const [promise, code, sentence] of bad) t.match((await refusal(promise, code)).message, sentence)
    const own = await caller.call('reset', { task: 'answer', requestKey: 'k', class: 'train' })
    t.equal((await caller.call('step', { episode: own.episode, lease: own.lease, seq: 1, action: exec('true') })).committed, 1)
    await caller.call('reset', { task: 'answer', requestKey: 'k2', class: 'train' })
    await refusal(caller.call('reset', { task: 'answer', requestKey: 'k3', class: 'train' }), 'TOO_MANY_EPISODES')
    t.match(await neighbour.call('step', { episode, lease, seq: 1, action: exec('true') }), { committed: 1, observation: { exitCode: 0 } })
  })

  await t.test('actions that are not built yet say so and commit nothing', async t => {
    await using app = await start()
    const caller = app.connect()
    const { episode, lease } = await open(caller)
    const error = await refusal(caller.call('step', { episode, lease, seq: 1, action: { type: 'read', path: 'x' } }), 'NOT_IMPLEMENTED')
    t.match(error, { message: /use exec/, details: { committed: 0 } })
    t.equal((await caller.call('step', { episode, lease, seq: 1, action: exec('true') })).committed, 1)
  })

  await t.test('an admin sees everybody\'s episodes', async t => {
    await using app = await start()
    const { episode } = await open(app.connect({ name: 'someone', scopes: ['eval'] }))
    t.equal((await app.connect().call('status', { episode })).state, 'ready')
  })
}
