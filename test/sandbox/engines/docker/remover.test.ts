import t from 'tap'
import { manualClock, type ManualClock } from '../../../../src/base/clock.ts'
import type { DockerClient } from '../../../../src/sandbox/engines/docker/client.ts'
import { Remover } from '../../../../src/sandbox/engines/docker/remover.ts'
import { Limiter } from '../../../../src/sandbox/limiter.ts'
import { silentLogger } from '../../../../src/telemetry/log.ts'

const refusal = (statusCode: number): Error => Object.assign(new Error(`HTTP ${statusCode}`), { statusCode })
const turn = (): Promise<void> => new Promise(resolve => setImmediate(resolve))

/** A client whose calls end as the list says; undefined is success. */
interface Parts { remover: Remover, clock: ManualClock, left: () => number }

function start (...outcomes: Array<Error | undefined>): Parts {
  const clock = manualClock()
  const client: Pick<DockerClient, 'call'> = {
    call: async () => {
      const outcome = outcomes.shift()
      if (outcome !== undefined) throw outcome
      return undefined as never
    },
  }
  const remover = new Remover({ client: client as DockerClient, limiter: new Limiter(1), clock, log: silentLogger })
  return { remover, clock, left: () => outcomes.length }
}

await t.test('gone and going are as good as removed, other refusals are not', async t => {
  const { remover } = start(refusal(404), refusal(409), refusal(500))
  await remover.remove('c')
  await remover.remove('c')
  await t.rejects(remover.remove('c'), { message: 'HTTP 500' })
})

await t.test('a removal that fails is tried again later, until it succeeds', async t => {
  const { remover, clock, left } = start(refusal(500), refusal(500), undefined)
  await remover.removeSurely('c')
  t.equal(left(), 2)
  clock.advance(500)
  await turn()
  t.equal(left(), 1)
  clock.advance(1_000)
  await turn()
  t.equal(left(), 0)
})

await t.test('what is pending at the end gets a last try', async t => {
  const { remover, left } = start(refusal(500), undefined)
  await remover.removeSurely('c')
  await remover.close()
  t.equal(left(), 0)
})

await t.test('a container that may still appear is looked for more than once', async t => {
  const { remover, clock, left } = start(refusal(404), refusal(404), undefined)
  remover.removeUncertain('sb_n1_x')
  for (const ms of [0, 1_000, 10_000]) {
    clock.advance(ms)
    await turn()
  }
  t.equal(left(), 0)
})
