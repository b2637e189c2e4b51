// From a raw request to its answer: the one path of frames and HTTP bodies, and the only error -> wire mapping.
import type { Clock } from '../base/clock.ts'
import { AssayError } from '../errors.ts'
import {
  OPERATIONS, invalidParams, isOperation, toWireError, type OperationName, type Params, type WireError,
} from '../protocol/index.ts'
import type { Context, Service } from '../service/service.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import type { Keyring } from './keys.ts'

export type Answer = { ok: true, result: unknown } | { ok: false, error: WireError }

/** Answers one request. Never rejects: whatever goes wrong is in the answer. */
export type Dispatch = (op: string, params: unknown, context: Context) => Promise<Answer>

export interface DispatchDeps {
  service: Service
  keys: Keyring
  metrics: Metrics
  clock: Clock
}

export function createDispatch ({ service, keys, metrics, clock }: DispatchDeps): Dispatch {
  return async (op, params, context) => {
    const startedMs = clock.monotonic()
    let answer: Answer
    try {
      answer = { ok: true, result: await run(op, params, context) }
    } catch (thrown) {
      answer = failure(thrown, context, op)
    }
    const label = isOperation(op) ? op : 'unknown'
    metrics.requests.inc({ op: label, code: answer.ok ? 'OK' : answer.error.code })
    metrics.requestSeconds.observe({ op: label }, (clock.monotonic() - startedMs) / 1000)
    return answer
  }

  async function run (op: string, params: unknown, context: Context): Promise<unknown> {
    if (!isOperation(op)) throw unknownOperation(op)
    const { built, scopes } = OPERATIONS[op]
    if (!scopes.some(scope => context.principal.scopes.includes(scope))) {
      throw new AssayError('FORBIDDEN', { message: `${op} needs a key with one of the scopes ${scopes.join(', ')}.` })
    }
    if (!built) throw new AssayError('NOT_IMPLEMENTED')
    const parsed = OPERATIONS[op].params.safeParse(params)
    if (!parsed.success) throw invalidParams(op, parsed.error)
    if (op === 'reset' || op === 'group.open') keys.spend(context.principal)
    return await service.call(op, parsed.data as Params<OperationName>, context)
  }
}

/** The answer to a failure. What is no AssayError is a bug: it is logged with its stack and shows nothing of itself. */
export function failure (thrown: unknown, { log }: Pick<Context, 'log'>, op: string): Answer & { ok: false } {
  if (!(thrown instanceof AssayError)) log.error({ err: thrown, op: isOperation(op) ? op : 'unknown' }, 'request failed on a bug')
  return { ok: false, error: toWireError(thrown) }
}

export function unknownOperation (op: string): AssayError {
  const name = op.slice(0, 64)
  const [closest] = Object.keys(OPERATIONS)
    .map(known => ({ known, distance: editDistance(name, known) }))
    .sort((a, b) => a.distance - b.distance)
  const hint = closest !== undefined && closest.distance <= closest.known.length / 2
    ? `did you mean "${closest.known}"?`
    : 'info.operations lists those that there are.'
  return new AssayError('UNKNOWN_OP', { message: `There is no operation ${JSON.stringify(name)}; ${hint}` })
}

// Levenshtein, one row at a time; both strings are short.
function editDistance (from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index)
  for (let i = 1; i <= from.length; i++) {
    const next = [i]
    for (let j = 1; j <= to.length; j++) {
      const replaced = (row[j - 1] ?? 0) + (from[i - 1] === to[j - 1] ? 0 : 1)
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1))
    }
    row = next
  }
  return row[to.length] ?? 0
}
