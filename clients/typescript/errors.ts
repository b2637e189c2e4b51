// What the client throws: the server's typed errors, and the loss of the connection, which no server can report.
import { AssayError, CODES, type ErrorCode } from '../../src/errors.ts'
import { fromWireError, type WireError } from '../../src/protocol/index.ts'

/**
 * The socket closed before the reply came, or never opened. What was sent may have happened: after connecting again,
 * `episode.resume()` and the same step or submit return the result of what ran, or run what did not.
 */
export class ConnectionLost extends Error {
  override readonly name = 'ConnectionLost'
  /** WebSocket close code; undefined when the connection never opened. */
  readonly closeCode: number | undefined

  constructor (message: string, { closeCode, cause }: { closeCode?: number | undefined, cause?: unknown } = {}) {
    super(message, cause === undefined ? undefined : { cause })
    this.closeCode = closeCode
  }
}

/** The error of a failure reply. A code that this client does not know yet becomes INTERNAL, with the code in details. */
export function parseFailure (error: WireError): AssayError {
  if (Object.hasOwn(CODES, error.code)) return fromWireError(error)
  const { code, message, details, retryAfterMs } = error
  return new AssayError('INTERNAL', { message: `${String(code)}: ${message}`, details: { ...details, code }, retryAfterMs })
}

/** Whether another attempt at the same task may succeed where this one ended without a verdict. */
export function isAttemptLost (error: unknown): error is AssayError {
  return error instanceof AssayError && error.info.retry === 'new-attempt'
}

export type { ErrorCode }
export { AssayError }
