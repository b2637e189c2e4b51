// Every instrument, declared once, with closed label sets.
import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client'

export type Metrics = ReturnType<typeof createMetrics>

const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300]

export function createMetrics ({ processMetrics = false }: { processMetrics?: boolean } = {}) {
  const registry = new Registry()
  if (processMetrics) collectDefaultMetrics({ register: registry })
  const registers = [registry]
  return {
    registry,
    requests: new Counter({ name: 'assay_requests_total', help: 'Requests answered', labelNames: ['op', 'code'] as const, registers }),
    requestSeconds: new Histogram({ name: 'assay_request_seconds', help: 'From a request to its reply', labelNames: ['op'] as const, buckets: SECONDS, registers }),
    sockets: new Gauge({ name: 'assay_sockets', help: 'Open WebSockets', registers }),
    droppedEvents: new Counter({ name: 'assay_output_events_dropped_total', help: 'Output events that slow readers lost', registers }),
    episodes: new Gauge({ name: 'assay_episodes', help: 'Episodes held by this node', labelNames: ['state'] as const, registers }),
    verdicts: new Counter({ name: 'assay_verdicts_total', help: 'Verdicts', labelNames: ['outcome', 'reason'] as const, registers }),
    members: new Gauge({ name: 'assay_members', help: 'The balance over members of live groups', labelNames: ['term'] as const, registers }),
    placesFree: new Gauge({ name: 'assay_places_free', help: 'Places that admission can still give', registers }),
    queue: new Gauge({ name: 'assay_queue_length', help: 'Groups and episodes that wait for places', registers }),
    sandboxes: new Gauge({ name: 'assay_sandboxes', help: 'Sandboxes of the pool', labelNames: ['state'] as const, registers }),
    createSeconds: new Histogram({ name: 'assay_sandbox_create_seconds', help: 'Creating one sandbox', buckets: SECONDS, registers }),
    stepSeconds: new Histogram({ name: 'assay_step_seconds', help: 'Commands, as the sandbox measured them', buckets: SECONDS, registers }),
    verifySeconds: new Histogram({ name: 'assay_verify_seconds', help: 'From a submission to its verdict', buckets: SECONDS, registers }),
    journalFailures: new Counter({ name: 'assay_journal_failures_total', help: 'Journal records that could not be written', registers }),
    swept: new Counter({ name: 'assay_sandboxes_swept_total', help: 'Sandboxes of dead nodes removed', registers }),
  }
}
