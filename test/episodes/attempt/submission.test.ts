import t from 'tap'
import { systemClock } from '../../../src/base/clock.ts'
import { AssayError } from '../../../src/errors.ts'
import { Box } from '../../../src/episodes/attempt/box.ts'
import { judgeSubmission, type SubmissionParts } from '../../../src/episodes/attempt/submission.ts'
import { createBaselines } from '../../../src/episodes/baseline.ts'
import { silentLogger } from '../../../src/telemetry/log.ts'
import { createScriptedVerifier, defer, makeEngine, makePool, makeSpec, makeTask, until } from '../../helpers/fake.ts'

async function prepare (script: string) {
  const engine = makeEngine({ files: [{ type: 'file', path: 'old', mode: 0o644, content: Buffer.from('old') }] })
  const pool = makePool(engine)
  const box = new Box({ pool, log: silentLogger, onLost () {} })
  await box.open(makeSpec(), new AbortController().signal)
  await box.run({ script, timeoutMs: 1000, outputBytes: 1000 })
  const verifier = createScriptedVerifier()
  const parts: SubmissionParts = {
    box,
    task: makeTask(),
    spec: makeSpec(),
    seed: 7,
    truncated: 'turns',
    baselineOf: createBaselines({ pool }),
    verifier,
    clock: systemClock,
    log: silentLogger,
  }
  return { engine, pool, verifier, parts, judge: () => judgeSubmission(parts, new AbortController().signal) }
}

t.test('the verifier gets what changed, when the agent\'s sandbox is gone', async t => {
  const { pool, verifier, judge } = await prepare('write answer.txt 42; rm old')
  verifier.gate = defer()
  const judging = judge()
  await until(() => verifier.submissions.length === 1)
  t.equal(pool.stats().used, 0)
  t.match(verifier.submissions[0], { seed: 7, delta: { entries: [{ type: 'file', path: 'answer.txt', content: Buffer.from('42') }], deleted: ['old'] } })
  verifier.gate.resolve()
  t.match(await judging, { reason: 'verified', truncated: 'turns', verifier: { kind: 'driver', mode: 'fresh', runs: 1, cases: { passed: 1 } } })
})

t.test('what may not cross is the agent\'s doing', async t => {
  for (const script of ['mkfifo trap', 'symlink /etc/passwd link', 'symlink ../../up link']) {
    const { judge, pool } = await prepare(script)
    t.match(await judge(), { reason: 'delta_rejected', verifier: null, truncated: 'turns' }, script)
    t.equal(pool.stats().used, 0)
  }
})

t.test('a sandbox that is gone has no delta, and the loss says whose fault it is', async t => {
  for (const [kind, reason] of [['engine', 'engine_lost'], ['inside', 'sandbox_lost']] as const) {
    const { engine, judge, parts } = await prepare('true')
    await parts.baselineOf(parts.spec)
    engine.loseAll({ kind, reason: 'gone' })
    t.match(await judge(), { reason, verifier: null })
  }
})

t.test('a pristine workspace that cannot be listed is not the agent\'s doing', async t => {
  for (const [code, reason] of [['FILE_REFUSED', 'task_defect'], ['ENGINE_FAULT', 'engine_lost']] as const) {
    const { parts, pool } = await prepare('write answer.txt 42')
    const baselineOf = async () => { throw new AssayError(code) }
    t.match(await judgeSubmission({ ...parts, baselineOf }, new AbortController().signal), { reason })
    t.equal(pool.stats().used, 0)
  }
})

t.test('a verifier that breaks its port leaves no reward and no sandbox', async t => {
  const { judge, pool } = await prepare('write answer.txt throw')
  t.match(await judge(), { reason: 'verifier_error', verifier: null })
  t.equal(pool.stats().used, 0)
})

t.test('an episode that ends while its submission waits is no fault of the verifier\'s', async t => {
  const { parts, pool } = await prepare('true')
  const end = new AbortController()
  const errors: string[] = []
  const log = { ...silentLogger, error: (_fields: unknown, message: string) => { errors.push(message) } }
  const baselineOf = async () => {
    end.abort()
    await parts.box.close()
    return new Map()
  }
  t.match(await judgeSubmission({ ...parts, baselineOf, log }, end.signal), { reason: 'cancelled' })
  t.same(errors, [])
  t.equal(pool.stats().used, 0)
})
