import t from 'tap'
import { decideLoss, type Evidence, type Inspection } from '../../../../src/sandbox/engines/docker/loss.ts'

const nothing: Evidence = { killed: false, died: false, removed: false, oom: false }
const ended: Inspection = { kind: 'ended', exitCode: 137 }

type Row = [what: string, seen: Inspection, evidence: Partial<Evidence>, healthy: boolean, kind: string, reason: RegExp]

const rows: Row[] = [
  ['a silent daemon', { kind: 'unreachable', reason: 'ECONNREFUSED' }, {}, true, 'engine', /ECONNREFUSED/],
  ['a removed container', { kind: 'gone' }, {}, true, 'outside', /removed/],
  ['a paused container', { kind: 'running', paused: true }, {}, true, 'outside', /paused/],
  ['a running container without its stream', { kind: 'running', paused: false }, {}, true, 'engine', /connection/],
  ['a killed container', ended, { killed: true, died: true }, true, 'outside', /killed/],
  ['a first process that ended by itself', ended, { died: true }, true, 'inside', /137$/],
  ['a first process that ended for want of memory', ended, { died: true, oom: true }, true, 'inside', /memory/],
  ['the same while events are not followed', ended, {}, false, 'engine', /events/],
]

for (const [what, inspection, evidence, eventsHealthy, kind, reason] of rows) {
  t.match(decideLoss(inspection, { ...nothing, ...evidence }, { eventsHealthy }), { kind, reason }, what)
}
