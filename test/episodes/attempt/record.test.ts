import t from 'tap'
import { manualClock } from '../../../src/base/clock.ts'
import { EpisodeRecorder } from '../../../src/episodes/attempt/record.ts'
import { unverified, decideVerdict } from '../../../src/episodes/verdict.ts'
import type { Journal, JournalRecord } from '../../../src/telemetry/journal.ts'
import { silentLogger } from '../../../src/telemetry/log.ts'
import { createMetrics } from '../../../src/telemetry/metrics.ts'
import { metric } from '../../helpers/service.ts'

function start () {
  const records: JournalRecord[] = []
  const ended: string[] = []
  const journal: Journal = {
    append: (_id, record) => { records.push(record) },
    end: async id => { ended.push(id) },
    async [Symbol.asyncDispose] () {},
  }
  const metrics = createMetrics()
  return { records, ended, metrics, recorder: new EpisodeRecorder({ episodeId: 'e1', journal, metrics, clock: manualClock(5), log: silentLogger }) }
}

t.test('actions and observations are journalled with bytes that JSON can carry', async t => {
  const { records, recorder } = start()
  recorder.born({ task: 'a' })
  recorder.action(1, { type: 'exec', command: 'cat', stdin: Buffer.from([255]) })
  recorder.observation(1, { exitCode: 0, stdout: Buffer.from('text'), stderr: Buffer.from([254]) })
  recorder.submission(2, { type: 'submit' })
  t.same(JSON.parse(JSON.stringify(records)), [
    { type: 'reset', at: 5, task: 'a' },
    { type: 'action', at: 5, seq: 1, action: { type: 'exec', command: 'cat', stdin: { base64: '/w==' } } },
    { type: 'observation', at: 5, seq: 1, observation: { exitCode: 0, stdout: 'text', stderr: { base64: '/g==' } } },
    { type: 'submit', at: 5, seq: 2, request: { type: 'submit' } },
  ])
})

t.test('the state gauge follows the episode until it is forgotten', async t => {
  const { recorder, metrics, records } = start()
  recorder.born({})
  recorder.moved('queued', 'starting')
  t.equal(await metric(metrics, 'assay_episodes', { state: 'queued' }), 0)
  t.equal(await metric(metrics, 'assay_episodes', { state: 'starting' }), 1)
  recorder.moved('starting', 'void')
  recorder.moved('void', 'closed')
  recorder.forgotten('closed')
  for (const state of ['queued', 'starting', 'void', 'closed']) t.equal(await metric(metrics, 'assay_episodes', { state }), 0)
  t.same(records.flatMap(({ type, ...rest }) => type === 'state' ? [rest['to']] : []), ['starting', 'void'])
})

t.test('a verdict is counted by outcome and reason and ends the journal', async t => {
  const { recorder, metrics, ended, records } = start()
  const provenance = {
    task: 'a', taskDigest: 'd', imageDigest: 'i', verifierDigest: 'v', serverVersion: '0', engine: 'fake', isolation: 'none' as const, node: 'n1', seed: 1, startedAt: '', endedAt: '',
  }
  recorder.verdict(decideVerdict(unverified('expired'), { onBudget: 'verify', isAdmitted: false, provenance, meta: {} }))
  t.equal(await metric(metrics, 'assay_verdicts_total', { outcome: 'void', reason: 'expired' }), 1)
  t.same(ended, ['e1'])
  t.match(records.at(-1), { type: 'verdict', verdict: { reward: null } })
})
