// AssayError as it crosses the wire: these fields and nothing else.
import { z } from 'zod'
import { AssayError, CODES, type ErrorCode } from '../errors.ts'

export const WireError = z.strictObject({
  code: z.enum(Object.keys(CODES) as [ErrorCode, ...ErrorCode[]]),
  blame: z.enum(['caller', 'task', 'sandbox', 'server', 'capacity']),
  retry: z.enum(['never', 'same', 'new-attempt']),
  retryAfterMs: z.int().optional().describe('With retry "same": wait this long, milliseconds'),
  message: z.string().describe('A sentence that says what to change'),
  details: z.record(z.string(), z.unknown()).optional(),
})
export type WireError = z.infer<typeof WireError>

/** The wire shape of any thrown value; what is not an AssayError is a bug and shows nothing of itself. */
export function toWireError (thrown: unknown): WireError {
  const error = thrown instanceof AssayError ? thrown : new AssayError('INTERNAL')
  const { blame, retry } = CODES[error.code]
  return {
    code: error.code,
    blame,
    retry,
    ...(error.retryAfterMs !== undefined && { retryAfterMs: Math.round(error.retryAfterMs) }),
    message: error.message,
    ...(error.details !== undefined && { details: error.details }),
  }
}

/** The error that a client throws for a failure reply. */
export function fromWireError (error: WireError): AssayError {
  const { code, message, details, retryAfterMs } = error
  return new AssayError(code, { message, details, retryAfterMs })
}

/** INVALID_PARAMS with each problem's path: "action.timeoutMs: expected int". */
export function invalidParams (op: string, error: z.ZodError): AssayError {
  const problems = error.issues.slice(0, 10).map(issue => ({ path: issue.path.map(String).join('.'), message: issue.message }))
  const text = problems.map(({ path, message }) => path === '' ? message : `${path}: ${message}`).join('; ')
  return new AssayError('INVALID_PARAMS', { message: `${op}: ${text}`, details: { problems } })
}
