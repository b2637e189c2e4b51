// The HTTP mirror: POST /v1/<op>, body = params, one JSON answer. Slow operations answer {pending: true} and are repeated.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Clock } from '../base/clock.ts'
import { AssayError, CODES } from '../errors.ts'
import { OPERATIONS, createCodec } from '../protocol/index.ts'
import type { Logger } from '../telemetry/log.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import { authenticate, principalOf } from './auth.ts'
import { failure, unknownOperation, type Answer, type Dispatch } from './dispatch.ts'
import type { Keyring } from './keys.ts'

export interface HttpDeps {
  dispatch: Dispatch
  keys: Keyring
  metrics: Metrics
  clock: Clock
  log: Logger
  /** How long reset, step and submit wait before they answer {pending: true}, milliseconds. */
  pendingMs: number
}

export function addHttpRoutes (app: FastifyInstance, deps: HttpDeps): void {
  readJsonBodies(app)
  app.setErrorHandler((error, request, reply) => refuse(error, request, reply))
  app.setNotFoundHandler((request, reply) => refuse(unknownRoute(request), request, reply))
  const guarded = { onRequest: async (request: FastifyRequest) => authenticate(request, deps.keys) }
  for (const op of Object.keys(OPERATIONS)) {
    app.post(`/v1/${op}`, guarded, async (request, reply) => await send(reply, await answer(op, request, reply)))
  }

  async function answer (op: string, request: FastifyRequest, reply: FastifyReply): Promise<Answer> {
    const principal = principalOf(request)
    const caller = new AbortController()
    const left = (): void => { if (!reply.raw.writableFinished) caller.abort(gone()) }
    reply.raw.once('close', left)
    const context = { principal, log: deps.log.child({ principal: principal.name }), signal: caller.signal }
    const answered = deps.dispatch(op, request.body ?? {}, context)
    return SLOW.has(op) ? await pendingAfter(answered, caller) : await answered
  }

  async function pendingAfter (answered: Promise<Answer>, caller: AbortController): Promise<Answer> {
    let cancel = (): void => {}
    const pending = new Promise<Answer>(resolve => {
      cancel = deps.clock.after(deps.pendingMs, () => {
        resolve({ ok: true, result: { pending: true } })
        caller.abort(gone())
      })
    })
    try {
      return await Promise.race([answered, pending])
    } finally {
      cancel()
    }
  }

  async function refuse (error: unknown, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const failed = failure(explain(error), { log: deps.log }, request.routeOptions.url?.slice('/v1/'.length) ?? '')
    deps.metrics.requests.inc({ op: 'unknown', code: failed.error.code })
    return await send(reply, failed)
  }
}

function readJsonBodies (app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, async (_request: FastifyRequest, body: Buffer) => {
    return body.length === 0 ? {} : readBody(body)
  })
}

function readBody (body: Buffer): unknown {
  try {
    return codec.decode(body)
  } catch (cause) {
    throw new AssayError('BAD_FRAME', { message: 'The body is not one JSON object; send the parameters as JSON in UTF-8.', cause })
  }
}

async function send (reply: FastifyReply, answer: Answer): Promise<FastifyReply> {
  if (!answer.ok) {
    reply.status(CODES[answer.error.code].status)
    if (answer.error.retryAfterMs !== undefined) reply.header('retry-after', Math.ceil(answer.error.retryAfterMs / 1000))
  }
  return await reply.type('application/json; charset=utf-8').send(codec.encode(answer))
}

// The faults of fastify itself, in the words of the table.
function explain (error: unknown): unknown {
  const { code, statusCode } = error as { code?: unknown, statusCode?: unknown }
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE') return new AssayError('FRAME_TOO_LARGE', { cause: error })
  if (code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE') {
    return new AssayError('BAD_FRAME', { message: 'Send the parameters as JSON with "Content-Type: application/json".', cause: error })
  }
  if (error instanceof AssayError || typeof statusCode !== 'number' || statusCode >= 500) return error
  return new AssayError('BAD_FRAME', { message: 'The HTTP request is malformed; send POST /v1/<op> with a JSON body.', cause: error })
}

function unknownRoute (request: FastifyRequest): AssayError {
  const path = request.url.split('?', 1)[0] ?? ''
  if (!path.startsWith('/v1/')) {
    return new AssayError('UNKNOWN_OP', { message: 'There is nothing at this path; operations are POST /v1/<op>.' })
  }
  const op = path.slice('/v1/'.length)
  if (!Object.hasOwn(OPERATIONS, op)) return unknownOperation(op)
  return new AssayError('UNKNOWN_OP', { message: `${op} is called with POST, not ${request.method}.` })
}

function gone (): AssayError {
  return new AssayError('DEADLINE', { message: 'The caller no longer waits for this answer.' })
}

const codec = createCodec('json')
const SLOW: ReadonlySet<string> = new Set(['reset', 'step', 'submit'])
