// Pure: what the evidence from outside says about a sandbox that ended unasked.
import { assertNever } from '../../../base/assert-never.ts'
import type { SandboxLoss } from '../../engine.ts'

/** What the daemon's events said of one container so far. */
export interface Evidence {
  killed: boolean
  died: boolean
  removed: boolean
  oom: boolean
}

export type Inspection =
  | { kind: 'unreachable', reason: string }
  | { kind: 'gone' }
  | { kind: 'running', paused: boolean }
  | { kind: 'ended', exitCode: number }

export interface LossOptions {
  /** The events were received all along: no kill by someone else can have been missed. */
  eventsHealthy: boolean
}

export function decideLoss (inspection: Inspection, evidence: Evidence, { eventsHealthy }: LossOptions): SandboxLoss {
  switch (inspection.kind) {
    case 'unreachable': return { kind: 'engine', reason: `the engine does not answer: ${inspection.reason}` }
    case 'gone': return { kind: 'outside', reason: 'the container was removed from outside' }
    case 'running': return inspection.paused
      ? { kind: 'outside', reason: 'the container was paused from outside' }
      : { kind: 'engine', reason: 'the connection to the running sandbox was lost' }
    case 'ended': return decideEnded(inspection.exitCode, evidence, eventsHealthy)
    default: return assertNever(inspection)
  }
}

function decideEnded (exitCode: number, evidence: Evidence, eventsHealthy: boolean): SandboxLoss {
  if (evidence.killed) return { kind: 'outside', reason: 'the container was killed from outside' }
  if (!eventsHealthy) return { kind: 'engine', reason: `the first process ended (${exitCode}) while the engine's events could not be followed` }
  const why = evidence.oom ? ' after the memory limit was hit' : ''
  return { kind: 'inside', reason: `the first process ended with ${exitCode}${why}` }
}
