import t from 'tap'
import { manualClock } from '../../src/base/clock.ts'
import { Admission, waitForPlaces } from '../../src/groups/admission.ts'
import { createMetrics } from '../../src/telemetry/metrics.ts'
import { metric } from '../helpers/service.ts'

function start ({ memoryBytes = 100, maxPlaces = 0, queueLength = 10 } = {}) {
  const clock = manualClock()
  const metrics = createMetrics()
  return { clock, metrics, admission: new Admission({ memoryBytes, maxPlaces, queueLength, clock, metrics }) }
}

t.test('capacity is memory over the size of a place, and at most maxPlaces', async t => {
  t.equal(start().admission.total(30), 3)
  t.equal(start({ maxPlaces: 2 }).admission.total(30), 2)
  t.equal(start().admission.total(101), 0)
})

t.test('what could never be granted is refused at once, with what would fit', async t => {
  const { admission } = start()
  t.throws(() => admission.request({ count: 4, memoryBytes: 30 }), { code: 'GROUP_TOO_LARGE', message: /at most 3/, details: { asked: 4, places: 3 } })
  t.equal(admission.free(10), 10)
})

t.test('places are granted together and may be given back one by one', async t => {
  const { admission } = start()
  const places = await admission.request({ count: 3, memoryBytes: 30 }).granted
  t.equal(admission.free(10), 1)
  const waiting = admission.request({ count: 2, memoryBytes: 30 })
  t.equal(waiting.position, 0)
  places.release(1)
  t.equal(waiting.position, 0)
  places.release(1)
  t.equal(waiting.position, undefined)
  t.equal((await waiting.granted).count, 2)
  places.release(99)
  places[Symbol.dispose]()
  t.equal(places.count, 0)
  t.equal(admission.used, 2)
})

t.test('positions are told as they change', async t => {
  const { admission, metrics } = start()
  const first = await admission.request({ count: 10, memoryBytes: 10 }).granted
  const told: Record<string, number[]> = { b: [], c: [] }
  const b = admission.request({ count: 1, memoryBytes: 10, onPosition: at => told['b']?.push(at) })
  const c = admission.request({ count: 5, memoryBytes: 10, onPosition: at => told['c']?.push(at) })
  t.same(told, { b: [0], c: [1] })
  t.equal(await metric(metrics, 'assay_queue_length'), 2)
  b.cancel()
  t.same(told, { b: [0], c: [1, 0] })
  first[Symbol.dispose]()
  await c.granted
  t.same(told, { b: [0], c: [1, 0] })
  t.equal(await metric(metrics, 'assay_queue_length'), 0)
})

t.test('a full queue refuses, but never what fits now', async t => {
  const { admission } = start({ queueLength: 1 })
  const held = await admission.request({ count: 9, memoryBytes: 10 }).granted
  const waiting = admission.request({ count: 5, memoryBytes: 10 })
  t.throws(() => admission.request({ count: 5, memoryBytes: 10 }), { code: 'QUEUE_FULL', retryAfterMs: 1000 })
  t.equal((await admission.request({ count: 1, memoryBytes: 10 }).granted).count, 1, 'smaller ones pass a young head')
  t.equal(admission.waiting, 1)
  held[Symbol.dispose]()
  await waiting.granted
})

t.test('once the head is old nobody passes it', async t => {
  const { admission, clock } = start()
  const held = await admission.request({ count: 5, memoryBytes: 10 }).granted
  const head = admission.request({ count: 10, memoryBytes: 10 })
  const passed = admission.request({ count: 2, memoryBytes: 10 })
  t.equal(passed.position, undefined)
  clock.advance(30_000)
  const behind = admission.request({ count: 1, memoryBytes: 10 })
  t.equal(behind.position, 1)
  held[Symbol.dispose]()
  t.equal(head.position, 0)
  passed.cancel()
  t.equal(head.position, undefined)
  t.equal(behind.position, 0)
  ;(await head.granted)[Symbol.dispose]()
  await behind.granted
})

t.test('who stops waiting leaves the queue, or gives back what was granted in the same turn', async t => {
  const { admission } = start()
  const held = await admission.request({ count: 10, memoryBytes: 10 }).granted
  const stop = new AbortController()
  const waiting = waitForPlaces(admission.request({ count: 10, memoryBytes: 10 }), stop.signal)
  const refused = t.rejects(waiting, /enough/)
  stop.abort(new Error('enough'))
  await refused
  t.equal(admission.waiting, 0)
  held[Symbol.dispose]()
  const late = new AbortController()
  late.abort(new Error('too late'))
  await t.rejects(waitForPlaces(admission.request({ count: 1, memoryBytes: 10 }), late.signal), /too late/)
  t.equal(admission.used, 0)
})

t.test('random requests: never over capacity, nobody waits for ever, all comes back', async t => {
  const { admission, clock } = start({ memoryBytes: 200, maxPlaces: 17, queueLength: 1000 })
  let state = 7
  const dice = (n: number): number => {
    state = (state * 1103515245 + 12345) % 2 ** 31
    return Math.floor(state / 65536) % n
  }
  const held = new Set<{ count: number, release: (count: number) => void }>()
  let granted = 0
  let asked = 0
  for (let turn = 0; turn < 3000; turn++) {
    clock.advance(dice(100))
    if (admission.waiting < 50 && dice(2) === 0) {
      asked++
      const ticket = admission.request({ count: 1 + dice(10), memoryBytes: 10 + dice(10) })
      ticket.granted.then(places => {
        granted++
        held.add(places)
      }, () => {})
    } else {
      const one = [...held][dice(Math.max(1, held.size))]
      one?.release(1 + dice(3))
      if (one?.count === 0) held.delete(one)
    }
    await Promise.resolve()
    if (admission.used > 17 || admission.free(10) < 0) t.fail('over capacity')
  }
  for (let turn = 0; turn < 5000; turn++) {
    if (granted === asked) break
    const [one] = held
    one?.release(99)
    if (one !== undefined) held.delete(one)
    await Promise.resolve()
  }
  t.equal(granted, asked, 'everybody was served')
  for (const one of held) one.release(99)
  t.equal(admission.used, 0)
})
