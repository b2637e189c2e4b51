import t from 'tap'
import { AssayError } from '../../../src/errors.ts'
import { Box, failureReason, lossReason } from '../../../src/episodes/attempt/box.ts'
import type { Command } from '../../../src/sandbox/command.ts'
import type { SandboxLoss } from '../../../src/sandbox/engine.ts'
import { silentLogger } from '../../../src/telemetry/log.ts'
import { makeEngine, makePool, makeSpec, until } from '../../helpers/fake.ts'

const command = (script: string): Command => ({ script, timeoutMs: 5000, outputBytes: 1000 })
const alive = setInterval(() => {}, 60_000)
t.teardown(() => clearInterval(alive))

async function open () {
  const engine = makeEngine()
  const pool = makePool(engine)
  const losses: SandboxLoss[] = []
  const box = new Box({ pool, log: silentLogger, onLost: loss => losses.push(loss) })
  await box.open(makeSpec(), new AbortController().signal)
  return { engine, pool, box, losses }
}

t.test('it runs, and gives its sandbox back once however often it is closed', async t => {
  const { box, pool } = await open()
  t.match(await box.run(command('exit 4')), { ending: { exitCode: 4 } })
  await Promise.all([box.close(), box.close()])
  await box.close()
  t.equal(pool.stats().used, 0)
  t.throws(() => box.sandbox, { code: 'SANDBOX_LOST' })
})

t.test('cancel ends the running command, which returns what it printed', async t => {
  const { box } = await open()
  const ran = box.run(command('echo so far; sleep 4000'))
  await new Promise(resolve => setImmediate(resolve))
  box.cancel()
  t.match(await ran, { ending: { kind: 'cancelled' }, stdout: { bytes: Buffer.from('so far\n') } })
  await box.close()
})

t.test('a loss while a command runs is the command\'s failure, otherwise it is told', async t => {
  const first = await open()
  const ran = first.box.run(command('sleep 4000'))
  const refused = t.rejects(ran, { code: 'SANDBOX_LOST' })
  first.engine.loseAll({ kind: 'outside', reason: 'removed' })
  await refused
  t.same(first.losses, [])
  const second = await open()
  second.engine.loseAll({ kind: 'engine', reason: 'gone' })
  await until(() => second.losses.length === 1)
  t.match(second.losses, [{ kind: 'engine' }])
})

t.test('a command that never returns from a lost sandbox does not hold its caller', async t => {
  const { box, engine } = await open()
  const { sandbox } = box
  sandbox.run = async () => await new Promise(() => {})
  const refused = t.rejects(box.run(command('true')), { code: 'SANDBOX_LOST', details: { kind: 'engine' } })
  engine.loseAll({ kind: 'engine', reason: 'gone' })
  await refused
})

t.test('a sandbox that comes after close is given back at once', async t => {
  const pool = makePool(makeEngine({ latencyMs: 5 }))
  const box = new Box({ pool, log: silentLogger, onLost () {} })
  const opening = t.rejects(box.open(makeSpec(), new AbortController().signal), { code: 'EPISODE_VOID' })
  await box.close()
  await opening
  t.equal(pool.stats().used, 0)
})

t.test('a removal that fails is logged and keeps nobody waiting', async t => {
  const { box } = await open()
  const { sandbox } = box
  sandbox[Symbol.asyncDispose] = async () => { throw new Error('no') }
  await box.close()
  t.throws(() => box.sandbox, { code: 'SANDBOX_LOST' })
})

t.test('a failure is blamed on what is known of the sandbox, else on the code', async t => {
  t.equal(lossReason({ kind: 'engine', reason: '' }), 'engine_lost')
  t.equal(lossReason({ kind: 'inside', reason: '' }), 'sandbox_lost')
  t.equal(await failureReason(new AssayError('SANDBOX_LOST'), undefined), 'sandbox_lost')
  t.equal(await failureReason(new AssayError('WARDEN_FAULT'), undefined), 'sandbox_lost')
  t.equal(await failureReason(new AssayError('ENGINE_UNAVAILABLE'), undefined), 'engine_lost')
  const { box, engine } = await open()
  const { sandbox } = box
  t.equal(await failureReason(new AssayError('SANDBOX_LOST'), sandbox), 'sandbox_lost', 'no news yet')
  engine.loseAll({ kind: 'engine', reason: 'gone' })
  t.equal(await failureReason(new AssayError('SANDBOX_LOST'), sandbox), 'engine_lost')
})
