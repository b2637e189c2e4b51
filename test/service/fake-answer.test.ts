// The whole way without Docker: a task from its directory, the real verifier, the real journal, groups of 32 on the fake engine.
import { readFile, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { systemClock } from '../../src/base/clock.ts'
import { Semaphore } from '../../src/base/semaphore.ts'
import { readNativeTask } from '../../src/tasks/formats/native.ts'
import { createFileJournal } from '../../src/telemetry/journal.ts'
import { silentLogger } from '../../src/telemetry/log.ts'
import { createMetrics } from '../../src/telemetry/metrics.ts'
import { createVerifier } from '../../src/verifier/driver.ts'
import { metric, startService } from '../helpers/service.ts'

const GROUPS = 10
const directory = join(import.meta.dirname, '../fixtures/tasks/fake-answer')

t.test(`${GROUPS} groups of 32 end with a reward for each member, and nothing is left over`, async t => {
  const { task, warnings } = await readNativeTask(directory)
  t.same(warnings, [])
  const [log, metrics] = [silentLogger, createMetrics()]
  const journal = createFileJournal({ directory: t.testdir(), clock: systemClock, log, metrics })
  await using app = await startService({
    tasks: [task],
    admitted: [task.digest],
    journal,
    verifier: pool => createVerifier({ pool, places: new Semaphore(4), stopAtFailure: true, clock: systemClock, log }),
  })
  const caller = app.connect()
  for (let round = 0; round < GROUPS; round++) {
    const { group } = await caller.call('group.open', { task: task.id, size: 32 })
    await Promise.all(Array.from({ length: 32 }, async (_, member) => {
      const { episode, lease } = await caller.call('reset', { group, member })
      await caller.call('step', { episode, lease, seq: 1, action: { type: 'exec', command: 'ls' } })
      await caller.call('step', { episode, lease, seq: 2, action: { type: 'exec', command: `write answer.txt ${member % 4 === 0 ? 42 : member}` } })
      await caller.call('submit', { episode, lease, seq: 3 })
    }))
    t.match(await caller.call('group.get', { group }), { state: 'complete', balance: { requested: 32, solved: 8, unsolved: 24, void: 0, live: 0 } })
    await caller.call('group.close', { group })
  }
  await app.settled()
  t.equal(await metric(app.metrics, 'assay_members', { term: 'live' }), 0)
  const { places } = await caller.call('info', {})
  t.equal(places.free, places.total)
  await journal[Symbol.asyncDispose]()
  const [day = ''] = await readdir(t.testdirName)
  const files = await readdir(join(t.testdirName, day))
  t.equal(files.length, GROUPS * 32)
  const records = (await readFile(join(t.testdirName, day, files[0] ?? ''), 'utf8')).trimEnd().split('\n').map(line => (JSON.parse(line) as { type: string }).type)
  t.same(records.filter(type => type !== 'state'), ['reset', 'action', 'observation', 'action', 'observation', 'submit', 'verdict'])
})
