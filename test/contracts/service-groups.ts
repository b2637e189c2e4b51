// The part of the service contract that is about groups and about the end of a node.
import type { Test } from 'tap'
import type { Result } from '../../src/protocol/index.ts'
import { refusal } from '../helpers/fake.ts'
import type { ServiceOptions, ServiceUnderTest } from '../helpers/service.ts'

export type Start = (options?: ServiceOptions) => Promise<ServiceUnderTest>

const exec = (command: string): { type: 'exec', command: string } => ({ type: 'exec', command })
const text = (bytes: Uint8Array | undefined): string => Buffer.from(bytes ?? []).toString()

export async function serviceGroups (t: Test, start: Start): Promise<void> {
  await t.test('32 members at once, some solve, some fail, one is void until its refill', async t => {
    await using app = await start()
    const caller = app.connect()
    const { group } = await caller.call('group.open', { task: 'answer', size: 32, minUsable: 32, meta: { step: 1 } })
    const run = async (member: number, attempt: number, answer: string): Promise<Result<'submit'>> => {
      const { episode, lease } = await caller.call('reset', { group, member, attempt })
      await caller.call('step', { episode, lease, seq: 1, action: exec(`write answer.txt ${answer}`) })
      return await caller.call('submit', { episode, lease, seq: 2 })
    }
    await Promise.all(Array.from({ length: 32 }, (_, member) => run(member, 0, member === 5 ? 'void' : member % 2 === 0 ? '42' : '7')))
    t.match(await caller.call('group.get', { group }), { state: 'open', balance: { requested: 32, solved: 16, unsolved: 15, void: 0, live: 1 } })
    t.match((await caller.call('group.get', { group })).members[5], { state: 'refillable', attempts: 1 })
    await refusal(run(5, 2, '42'), 'ATTEMPT_ILLEGAL')
    await refusal(run(6, 1, '42'), 'ATTEMPT_ILLEGAL')
    await run(5, 1, '42')
    const report = await caller.call('group.get', { group })
    t.match(report, {
      state: 'complete',
      degenerate: false,
      degraded: false,
      balance: { requested: 32, solved: 17, unsolved: 15, void: 0, live: 0 },
      attempts: { requested: 33, solved: 17, unsolved: 15, void: 1, live: 0 },
      meta: { step: 1 },
    })
    t.same(report.rewards.slice(0, 7), [1, 0, 1, 0, 1, 1, 1])
    t.ok(report.usable.every(Boolean))
    t.equal((await caller.call('group.close', { group })).state, 'closed')
    await app.settled()
    const { places } = await caller.call('info', {})
    t.equal(places.free, places.total)
  })

  await t.test('a reset of the same member and attempt is the same episode under a new lease', async t => {
    await using app = await start()
    const caller = app.connect()
    const { group } = await caller.call('group.open', { task: 'answer', size: 2 })
    const [a, b] = await Promise.all([caller.call('reset', { group, member: 0 }), caller.call('reset', { group, member: 0 })])
    t.equal(a.episode, b.episode)
    t.not(a.lease, b.lease)
    await refusal(caller.call('step', { episode: a.episode, lease: a.lease, seq: 1, action: exec('true') }), 'FENCED')
    t.match(await refusal(caller.call('reset', { group, member: 2 }), 'INVALID_PARAMS'), { message: /members 0 to 1/ })
    t.match(await refusal(caller.call('reset', { group, member: 1, task: 'other' }), 'INVALID_PARAMS'), { message: /of task "answer"/ })
    t.equal((await caller.call('group.get', { group })).attempts.requested, 1)
  })

  await t.test('members beyond concurrency wait for one to finish', async t => {
    await using app = await start({ config: { maxPlaces: 2 } })
    const caller = app.connect()
    const { group } = await caller.call('group.open', { task: 'answer', size: 4, concurrency: 2 })
    const first = [await caller.call('reset', { group, member: 0 }), await caller.call('reset', { group, member: 1 })]
    let opened = 0
    const later = [2, 3].map(async member => {
      const reset = await caller.call('reset', { group, member })
      opened++
      return reset
    })
    t.equal(app.pool.stats().used, 2)
    for (const { episode, lease } of first) await caller.call('submit', { episode, lease, seq: 1 })
    for (const { episode, lease } of await Promise.all(later)) await caller.call('submit', { episode, lease, seq: 1 })
    t.equal(opened, 2)
    t.match(await caller.call('group.get', { group }), { state: 'complete', degenerate: true, balance: { unsolved: 4 } })
  })

  await t.test('a group that does not fit waits its turn, is told its position, and gets all its places at once', async t => {
    await using app = await start({ config: { maxPlaces: 3 } })
    const [caller, waiting] = [app.connect(), app.connect()]
    const first = await caller.call('group.open', { task: 'answer', size: 2 })
    const second = await waiting.call('group.open', { task: 'answer', size: 2 })
    t.match(second, { state: 'queued', position: 0 })
    t.match(waiting.events, [{ event: 'queued', group: second.group, position: 0, etaMs: null }])
    const reset = waiting.call('reset', { group: second.group, member: 0 })
    t.match(await waiting.call('group.get', { group: second.group }), { state: 'queued', balance: { live: 2 } })
    await caller.call('group.close', { group: first.group })
    const { episode } = await reset
    t.match(await waiting.call('group.get', { group: second.group }), { state: 'open', members: [{ state: 'live', episode }, { state: 'unstarted' }] })
  })

  await t.test('out of refills a member is void, and too few usable members make the group degraded', async t => {
    await using app = await start()
    const caller = app.connect()
    const { group } = await caller.call('group.open', { task: 'answer', size: 1, refills: 1, minUsable: 1 })
    for (const attempt of [0, 1]) {
      const { episode, lease } = await caller.call('reset', { group, member: 0, attempt })
      await caller.call('close', { episode, lease })
    }
    t.match(await refusal(caller.call('reset', { group, member: 0, attempt: 2 }), 'ATTEMPT_ILLEGAL'), { message: /all 1 refills are used/ })
    t.match(await caller.call('group.get', { group }), {
      state: 'complete', degraded: true, rewards: [null], usable: [false], balance: { void: 1, live: 0 }, attempts: { requested: 2, void: 2 },
    })
    const states = caller.events.flatMap(event => event.event === 'member' ? [event.state] : [])
    t.same(states, ['live', 'refillable', 'live', 'void'])
  })

  await t.test('close lets a running step end, abort does not; what is unfinished is cancelled', async t => {
    await using app = await start()
    const caller = app.connect()
    for (const abort of [false, true]) {
      const { group } = await caller.call('group.open', { task: 'answer', size: 3 })
      const { episode, lease } = await caller.call('reset', { group, member: 0 })
      const idle = await caller.call('reset', { group, member: 1 })
      const step = caller.call('step', { episode, lease, seq: 1, action: exec(abort ? 'sleep 9000' : 'sleep 30; echo end') })
      const closing = caller.call('group.close', { group, abort })
      if (abort) await refusal(step, 'EPISODE_VOID')
      else t.equal(text((await step).observation.stdout), 'end\n')
      t.match(await closing, { state: 'closed', balance: { requested: 3, void: 3, live: 0 }, attempts: { requested: 2, void: 2 } })
      t.match((await caller.call('status', { episode: idle.episode })).verdict, { reason: 'cancelled' })
      await refusal(caller.call('reset', { group, member: 2 }), 'GROUP_CLOSED')
    }
    await app.settled()
  })

  await t.test('a group whose opener is gone and in which nothing lives gives its places back', async t => {
    await using app = await start({ config: { maxPlaces: 2, leaseIdleMs: 1000 } })
    const gone = app.connect()
    const { group } = await gone.call('group.open', { task: 'answer', size: 2 })
    await gone.call('reset', { group, member: 0 })
    gone.leave()
    app.clock.advance(1000) // the member's lease
    app.clock.advance(1000) // the group
    const caller = app.connect()
    t.match(await caller.call('group.get', { group }), { state: 'closed', balance: { void: 2 } })
    t.equal((await caller.call('group.open', { task: 'answer', size: 2 })).position, undefined, 'the places are free again')
  })
}

export async function serviceDraining (t: Test, start: Start): Promise<void> {
  await t.test('a drain refuses new work, lets live episodes end, and voids the rest when its time is up', async t => {
    await using app = await start()
    const caller = app.connect()
    const { group } = await caller.call('group.open', { task: 'answer', size: 3 })
    const quick = await caller.call('reset', { group, member: 0 })
    const slow = await caller.call('reset', { group, member: 1 })
    const stop = new AbortController()
    let isDrained = false
    const drained = app.service.drain({ signal: stop.signal }).then(() => { isDrained = true })
    t.same(app.service.ready(), { ok: false, reason: 'draining' })
    await refusal(caller.call('group.open', { task: 'answer' }), 'DRAINING')
    await refusal(caller.call('reset', { task: 'answer', requestKey: 'k' }), 'DRAINING')
    await refusal(caller.call('reset', { group, member: 2 }), 'DRAINING')
    const { lease } = await caller.call('reset', { group, member: 0 })
    t.match(await caller.call('submit', { episode: quick.episode, lease, seq: 1 }), { verdict: { reward: 0 } })
    t.equal(isDrained, false)
    stop.abort(new Error('time is up'))
    await drained
    t.match((await caller.call('status', { episode: slow.episode })).verdict, { reward: null, reason: 'drained' })
    t.match(await caller.call('group.get', { group }), { state: 'closed', balance: { unsolved: 1, void: 2, live: 0 } })
    t.equal(app.pool.stats().used, 0)
  })
}
