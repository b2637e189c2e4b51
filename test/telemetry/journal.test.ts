import { readFile, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { manualClock } from '../../src/base/clock.ts'
import { createFileJournal, noJournal, type JournalRecord } from '../../src/telemetry/journal.ts'
import { silentLogger } from '../../src/telemetry/log.ts'
import { createMetrics } from '../../src/telemetry/metrics.ts'
import { metric } from '../helpers/service.ts'

const DAY = 86_400_000

function start (directory: string, bufferBytes = 1_000_000) {
  const clock = manualClock(Date.UTC(2026, 4, 1, 12))
  const metrics = createMetrics()
  return { clock, metrics, journal: createFileJournal({ directory, clock, log: silentLogger, metrics, bufferBytes }) }
}

const record = (at: number, seq: number): JournalRecord => ({ type: 'action', at, seq, action: { command: 'ls' } })
const lines = async (file: string): Promise<unknown[]> => (await readFile(file, 'utf8')).trimEnd().split('\n').map(line => JSON.parse(line) as unknown)

t.test('one file per episode, in order, under the day on which it began', async t => {
  const { clock, journal } = start(t.testdir())
  for (const id of ['ep_n1_a', 'ep_n1_b']) journal.append(id, record(clock.now(), 1))
  clock.advance(DAY)
  journal.append('ep_n1_a', record(clock.now(), 2))
  await journal.end('ep_n1_a')
  t.match(await lines(join(t.testdirName, '2026-05-01', 'ep_n1_a.jsonl')), [{ seq: 1 }, { seq: 2 }])
  await journal[Symbol.asyncDispose]()
  t.match(await lines(join(t.testdirName, '2026-05-01', 'ep_n1_b.jsonl')), [{ type: 'action', seq: 1, action: { command: 'ls' } }])
  t.same(await readdir(t.testdirName), ['2026-05-01'])
})

t.test('records appended while others are written are neither lost nor out of order', async t => {
  const { clock, journal } = start(t.testdir())
  const ends: Array<Promise<void>> = []
  for (let seq = 0; seq < 500; seq++) {
    journal.append('e', record(clock.now(), seq))
    if (seq % 50 === 0) {
      ends.push(journal.end('other'))
      await new Promise(resolve => setImmediate(resolve))
    }
  }
  await Promise.all(ends)
  await journal.end('e')
  t.same((await lines(join(t.testdirName, '2026-05-01', 'e.jsonl'))).map(one => (one as { seq: number }).seq), Array.from({ length: 500 }, (_, seq) => seq))
})

t.test('what is appended is written soon without being asked', async t => {
  const { clock, journal } = start(t.testdir())
  journal.append('e', record(clock.now(), 1))
  clock.advance(50)
  await journal[Symbol.asyncDispose]() // waits for what the timer started
  t.equal((await lines(join(t.testdirName, '2026-05-01', 'e.jsonl'))).length, 1)
})

t.test('a disk that refuses is counted, and nobody hears an error', async t => {
  const directory = t.testdir({ taken: 'a file where a directory should be' })
  const { clock, journal, metrics } = start(join(directory, 'taken'))
  journal.append('e', record(clock.now(), 1))
  journal.append('e', record(clock.now(), 2))
  await journal.end('e')
  t.equal(await metric(metrics, 'assay_journal_failures_total'), 2)
})

t.test('other files of the day are left alone', async t => {
  const { clock, journal } = start(t.testdir())
  journal.append('a', record(clock.now(), 1))
  await journal.end('a')
  await writeFile(join(t.testdirName, '2026-05-01', 'note'), '')
  journal.append('b', record(clock.now(), 1))
  await journal.end('b')
  t.same(await readdir(join(t.testdirName, '2026-05-01')), ['a.jsonl', 'b.jsonl', 'note'])
})

t.test('the buffer is bounded, and what cannot be written as JSON is left out and counted', async t => {
  const { clock, journal, metrics } = start(t.testdir(), 100)
  journal.append('e', record(clock.now(), 1))
  journal.append('e', { type: 'observation', at: clock.now(), text: 'x'.repeat(100) })
  const loop: JournalRecord = { type: 'state', at: clock.now() }
  loop['self'] = loop
  journal.append('e', loop)
  await journal.end('e')
  t.equal(await metric(metrics, 'assay_journal_failures_total'), 2)
  journal.append('e', record(clock.now(), 2))
  await journal.end('e')
  t.equal((await lines(join(t.testdirName, '2026-05-01', 'e.jsonl'))).length, 2, 'room is made by writing')
})

t.test('the journal that keeps nothing does nothing', async t => {
  noJournal.append('e', record(1, 1))
  await noJournal.end('e')
  await noJournal[Symbol.asyncDispose]()
  t.pass()
})
