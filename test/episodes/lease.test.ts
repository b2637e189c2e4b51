import t from 'tap'
import { manualClock } from '../../src/base/clock.ts'
import { systemRandom } from '../../src/base/ids.ts'
import { IdleTimer, Leases } from '../../src/episodes/lease.ts'
import type { Lease } from '../../src/protocol/index.ts'

function start () {
  const clock = manualClock()
  let expired = 0
  const leases = new Leases({ clock, random: systemRandom, leaseIdleMs: 100, onExpired: () => { expired++ } })
  return { clock, leases, expired: () => expired }
}

const socket = (id: string) => ({ id, emit () {} })

t.test('each lease is new, unguessable and fences the ones before', async t => {
  const { leases } = start()
  const [first, second] = [leases.issue(socket('a')), leases.issue(socket('a'))]
  t.not(first, second)
  t.ok(first.length > 20)
  t.throws(() => leases.check(first, 4), { code: 'FENCED', details: { committed: 4 } })
  t.throws(() => leases.check('l2_made-up' as Lease, 0), { code: 'FENCED' })
  leases.check(second, 0)
})

t.test('a live socket keeps the lease, and only the one that holds it', async t => {
  const { clock, leases, expired } = start()
  leases.issue(socket('a'))
  clock.advance(10_000)
  t.equal(expired(), 0)
  t.equal(leases.disconnected('b'), false)
  clock.advance(10_000)
  t.equal(expired(), 0)
  t.equal(leases.disconnected('a'), true)
  t.equal(leases.listener, undefined)
  clock.advance(99)
  t.equal(expired(), 0)
  clock.advance(1)
  t.equal(expired(), 1)
})

t.test('a socket whose lease was taken over renews nothing any more', async t => {
  const { clock, leases, expired } = start()
  leases.issue(socket('a'))
  leases.issue(socket('b'))
  t.equal(leases.disconnected('a'), false)
  leases.disconnected('b')
  clock.advance(100)
  t.equal(expired(), 1)
})

t.test('a running command keeps it, and idleness counts from the command\'s end', async t => {
  const { clock, leases, expired } = start()
  leases.issue(undefined)
  clock.advance(90)
  leases.commandStarted()
  clock.advance(1000)
  leases.commandEnded()
  clock.advance(99)
  t.equal(expired(), 0)
  clock.advance(1)
  t.equal(expired(), 1)
})

t.test('taking a lease over HTTP after a socket leaves only use to renew it', async t => {
  const { clock, leases, expired } = start()
  leases.issue(socket('a'))
  leases.issue(undefined)
  clock.advance(100)
  t.equal(expired(), 1)
})

t.test('after stop nothing expires, and leases still fence', async t => {
  const { clock, leases, expired } = start()
  const lease = leases.issue(undefined)
  leases.stop()
  leases.issue(undefined)
  clock.advance(10_000)
  t.equal(expired(), 0)
  t.throws(() => leases.check(lease, 0), { code: 'FENCED' })
})

t.test('use puts the idle timer off, however often', async t => {
  const clock = manualClock()
  let idle = 0
  const timer = new IdleTimer({ clock, idleMs: 100, onIdle: () => { idle++ } })
  for (let i = 0; i < 50; i++) {
    clock.advance(60)
    timer.touch()
  }
  t.equal(idle, 0)
  timer.hold('x')
  timer.hold('x')
  timer.release('y')
  clock.advance(1000)
  t.equal(idle, 0)
  timer.release('x')
  clock.advance(100)
  t.equal(idle, 1)
})
