import t from 'tap'
import { chooseGrants, type Waiting } from '../../src/groups/queue.ts'

const ask = (places: number, since = 0): Waiting => ({ places, memoryBytes: places * 10, since })
const free = (places: number) => ({ places, memoryBytes: places * 10 })
const young = { nowMs: 100, ageLimitMs: 1000 }
const aged = { nowMs: 1000, ageLimitMs: 1000 }

const TABLE: Array<[what: string, waiting: Waiting[], places: number, ageing: typeof young, granted: number[]]> = [
  ['nobody waits, nobody is granted', [], 5, young, []],
  ['all that fit are granted in order', [ask(2), ask(2), ask(1)], 5, young, [0, 1, 2]],
  ['all or none: a request is not granted in part', [ask(3)], 2, young, []],
  ['smaller ones pass a young head that does not fit', [ask(8), ask(3), ask(2)], 5, young, [1, 2]],
  ['one as large as the head does not pass it', [ask(8), ask(8), ask(1)], 7, young, [2]],
  ['nobody passes an aged head, so that what is freed adds up for it', [ask(8), ask(1, 900)], 7, aged, []],
  ['an aged head that fits goes first, and others after it', [ask(4), ask(1, 900)], 5, aged, [0, 1]],
  ['the age of the head counts, not of those behind it', [ask(8, 900), ask(1)], 5, aged, [1]],
]

for (const [what, waiting, places, ageing, granted] of TABLE) {
  t.test(what, async t => { t.same(chooseGrants(waiting, free(places), ageing), granted) })
}

t.test('memory and the number of places both bound', async t => {
  t.same(chooseGrants([ask(2)], { places: Infinity, memoryBytes: 19 }, young), [])
  t.same(chooseGrants([ask(2)], { places: 1, memoryBytes: 1000 }, young), [])
  t.same(chooseGrants([ask(2)], { places: Infinity, memoryBytes: 20 }, young), [0])
})
