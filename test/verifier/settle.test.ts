import t from 'tap'
import type { ErrorCode } from '../../src/errors.ts'
import type { Attempt, CaseEnding, Stopped } from '../../src/verifier/attempt.ts'
import { findingOf, settleWithControl } from '../../src/verifier/settle.ts'

type How = 'passed' | 'failed' | 'slow' | 'killed'
const one = (how: How): CaseEnding =>
  ({ id: how, requirement: 1, passed: how === 'passed', durationMs: 1, timedOut: how === 'slow', killed: how === 'killed' })
const ran = (hows: How[], stopped?: Stopped): Attempt => ({ kind: 'ran', cases: hows.map(one), stopped })
const unready = (code: ErrorCode): Attempt => ({ kind: 'unready', code, why: '' })
const late: Stopped = { by: 'time', why: '' }
const lost = (loss: 'engine' | 'outside' | 'inside' | undefined): Stopped => ({ by: 'loss', why: '', loss })

await t.test('one attempt by itself', async t => {
  const rows: Array<[name: string, attempt: Attempt, finding: unknown]> = [
    ['all pass', ran(['passed', 'passed']), 'verified'],
    ['one fails', ran(['passed', 'failed']), 'verifier_failed'],
    ['one fails and the sandbox is lost', ran(['failed'], lost('inside')), 'verifier_failed'],
    ['one fails and time runs out', ran(['failed', 'slow'], late), 'verifier_failed'],
    ['one is slow', ran(['passed', 'slow']), 'time'],
    ['one is killed, by whomever', ran(['passed', 'killed']), 'loss'],
    ['one is killed and one fails', ran(['killed', 'failed']), 'verifier_failed'],
    ['time runs out with nothing failed', ran(['passed'], late), 'time'],
    ['the sandbox is lost with nothing failed', ran(['passed'], lost('outside')), 'loss'],
    ['cases are missing for no reason', ran(['passed']), 'verifier_error'],
    ['no engine', unready('ENGINE_UNAVAILABLE'), 'engine_lost'],
    ['the engine refuses', unready('ENGINE_FAULT'), 'engine_lost'],
    ['the sandbox does not come up', unready('WARDEN_FAULT'), 'verifier_bootstrap'],
    ['nobody waits any more', { kind: 'cancelled' }, 'cancelled'],
  ]
  for (const [name, attempt, expected] of rows) {
    const finding = findingOf(attempt, 2)
    t.equal(finding.kind === 'final' ? finding.reason : finding.by, expected, name)
  }
})

await t.test('a second provisional ending beside a control', async t => {
  const ordinary = ran(['failed', 'failed'])
  const rows: Array<[name: string, again: Attempt, control: Attempt, reason: string]> = [
    ['slow again', ran(['slow']), ordinary, 'verifier_timeout'],
    ['out of time again', ran([], late), ordinary, 'verifier_timeout'],
    ['lost again', ran([], lost('inside')), ordinary, 'agent_broke_verifier'],
    ['killed again', ran(['killed']), ordinary, 'agent_broke_verifier'],
    ['killed, and the control too', ran(['killed']), ran(['killed']), 'verifier_error'],
    ['removed by someone again', ran([], lost('outside')), ordinary, 'engine_lost'],
    ['broken, not lost', ran([], lost(undefined)), ordinary, 'agent_broke_verifier'],
    ['the engine fails again', ran([], lost('engine')), ordinary, 'engine_lost'],
    ['the control is slow too', ran(['slow']), ran(['failed', 'slow']), 'verifier_error'],
    ['the control is lost too', ran([], lost('inside')), ran([], lost('inside')), 'verifier_error'],
    ['the control has no sandbox', ran(['slow']), unready('ENGINE_FAULT'), 'engine_lost'],
    ['the control is cancelled', ran(['slow']), { kind: 'cancelled' }, 'cancelled'],
  ]
  for (const [name, again, control, reason] of rows) {
    t.equal(settleWithControl(again, control, { hasReferenceTime: true }), reason, name)
  }
  t.equal(settleWithControl(ran(['slow']), ordinary, { hasReferenceTime: false }), 'task_defect', 'without a reference time slowness is no 0')
})
