import t from 'tap'
import { AssayError } from '../../../src/errors.ts'
import { Quarantine, pauseMs } from '../../../src/sandbox/warm/quarantine.ts'

const fault = new AssayError('ENGINE_FAULT', { message: 'no space left' })

await t.test('pauses grow and are bounded', t => {
  t.same([1, 2, 3, 4, 5, 6, 7, 20].map(pauseMs), [200, 400, 10_000, 20_000, 40_000, 80_000, 120_000, 120_000])
  t.end()
})

await t.test('it blocks after each failure and refuses after three in a row, with the reason, for a while', t => {
  const quarantine = new Quarantine()
  t.equal(quarantine.failed(fault, { wave: quarantine.wave, nowMs: 0 }), 200)
  t.ok(quarantine.isBlocked(199))
  t.notOk(quarantine.isBlocked(200))
  t.equal(quarantine.refusal(0), undefined)
  quarantine.failed(fault, { wave: quarantine.wave, nowMs: 200 })
  quarantine.failed(fault, { wave: quarantine.wave, nowMs: 600 })
  t.match(quarantine.refusal(1600), { code: 'ENGINE_FAULT', message: /no space left/, retryAfterMs: 9_000 })
  t.equal(quarantine.refusal(10_600), undefined, 'then it may be tried')
  quarantine.succeeded()
  t.notOk(quarantine.isBlocked(1600))
  t.end()
})

await t.test('starts that fail together are one failure', t => {
  const quarantine = new Quarantine()
  const wave = quarantine.wave
  for (let i = 0; i < 8; i++) quarantine.failed(fault, { wave, nowMs: 0 })
  t.equal(quarantine.refusal(0), undefined)
  t.end()
})
