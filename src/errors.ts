// The closed table of error codes and the one error class: the one file that every other may import.

export type Blame = 'caller' | 'task' | 'sandbox' | 'server' | 'capacity'
/** never: the same request cannot succeed · same: send it again, after retryAfterMs · new-attempt: start another attempt. */
export type Retry = 'never' | 'same' | 'new-attempt'

export interface CodeInfo {
  /** HTTP status. */
  status: number
  blame: Blame
  retry: Retry
  /** The sentence used when the thrower has none that is more precise. */
  message: string
}

export const CODES = {
  // what the caller sent
  BAD_FRAME: { status: 400, blame: 'caller', retry: 'never', message: 'The frame could not be decoded; send one whole message of the negotiated subprotocol per frame.' },
  FRAME_TOO_LARGE: { status: 413, blame: 'caller', retry: 'never', message: 'The message is larger than info.limits.frameBytes; send less at once.' },
  UNKNOWN_OP: { status: 404, blame: 'caller', retry: 'never', message: 'There is no such operation; see schemas/ for the list.' },
  NOT_IMPLEMENTED: { status: 501, blame: 'server', retry: 'never', message: 'This operation is part of protocol v1 but this server does not offer it yet.' },
  INVALID_PARAMS: { status: 400, blame: 'caller', retry: 'never', message: 'The parameters do not match the schema of the operation.' },
  UNAUTHENTICATED: { status: 401, blame: 'caller', retry: 'never', message: 'Send a known key as "Authorization: Bearer KEY".' },
  FORBIDDEN: { status: 403, blame: 'caller', retry: 'never', message: 'This key does not have the scope that the operation needs.' },
  TASK_NOT_FOUND: { status: 404, blame: 'caller', retry: 'never', message: 'This key sees no such task; tasks.list names those it sees.' },
  GROUP_NOT_FOUND: { status: 404, blame: 'caller', retry: 'never', message: 'This key has no such group; use the id that group.open returned to it.' },
  EPISODE_NOT_FOUND: { status: 404, blame: 'caller', retry: 'never', message: 'This key has no such episode; use the id that reset returned to it.' },
  GROUP_TOO_LARGE: { status: 409, blame: 'caller', retry: 'never', message: 'The group needs more places at once than this server has; lower its concurrency.' },
  GROUP_CLOSED: { status: 409, blame: 'caller', retry: 'never', message: 'The group is closed; open a new one.' },
  ATTEMPT_ILLEGAL: { status: 409, blame: 'caller', retry: 'never', message: 'Attempt k + 1 is legal only once attempt k is void and refills remain.' },
  REQUEST_KEY_CONFLICT: { status: 409, blame: 'caller', retry: 'never', message: 'This requestKey already stands for a reset of another task; use a new one.' },
  EPISODE_BUSY: { status: 409, blame: 'caller', retry: 'same', message: 'Another step of this episode is running; wait for its reply, or repeat its seq to join it.' },
  EPISODE_DONE: { status: 409, blame: 'caller', retry: 'never', message: 'The episode has its verdict and takes no more steps; submit returns the verdict.' },
  EPISODE_CLOSED: { status: 409, blame: 'caller', retry: 'never', message: 'The episode is closed; reset a new one.' },
  EPISODE_VOID: { status: 409, blame: 'server', retry: 'new-attempt', message: 'The episode ended without a verdict; start another attempt.' },
  FENCED: { status: 409, blame: 'caller', retry: 'never', message: 'The lease is not the newest of this episode; whoever resumed or repeated the reset drives it now.' },
  SEQ_CONFLICT: { status: 409, blame: 'caller', retry: 'never', message: 'This seq is committed with a different action; the next seq is committed + 1.' },
  SEQ_GAP: { status: 409, blame: 'caller', retry: 'never', message: 'This seq is ahead; the next seq is committed + 1.' },
  SEQ_EXPIRED: { status: 409, blame: 'caller', retry: 'never', message: 'The result of this old seq is no longer held; it was acknowledged by a later one.' },
  // limits
  TOO_MANY_IN_FLIGHT: { status: 429, blame: 'capacity', retry: 'same', message: 'Too many requests of this socket are unanswered; wait for replies.' },
  SLOW_READER: { status: 429, blame: 'capacity', retry: 'same', message: 'This socket does not read its replies; read them before sending more.' },
  RATE_LIMITED: { status: 429, blame: 'capacity', retry: 'same', message: 'This key starts groups and episodes faster than its ratePerMinute; wait retryAfterMs.' },
  TOO_MANY_EPISODES: { status: 429, blame: 'capacity', retry: 'same', message: 'This key has as many live episodes as it may; finish some first.' },
  QUEUE_FULL: { status: 503, blame: 'capacity', retry: 'same', message: 'The admission queue is full; try again later.' },
  DRAINING: { status: 503, blame: 'capacity', retry: 'same', message: 'The server is draining and takes no new work; try another or later.' },
  DEADLINE: { status: 504, blame: 'server', retry: 'same', message: 'The operation took longer than its deadline.' },
  // the world
  TASK_INVALID: { status: 500, blame: 'task', retry: 'never', message: 'The task directory breaks the format.' },
  IMAGE_UNAVAILABLE: { status: 503, blame: 'server', retry: 'same', message: 'The image of the task could not be built or pulled.' },
  ENGINE_UNAVAILABLE: { status: 503, blame: 'server', retry: 'same', message: 'The sandbox engine does not answer.' },
  ENGINE_FAULT: { status: 502, blame: 'server', retry: 'same', message: 'The sandbox engine refused or failed a call.' },
  SANDBOX_LOST: { status: 502, blame: 'sandbox', retry: 'new-attempt', message: 'The sandbox is gone; the episode ends without a verdict unless evidence blames the agent.' },
  WARDEN_FAULT: { status: 502, blame: 'sandbox', retry: 'new-attempt', message: 'The program inside the sandbox broke its protocol.' },
  VERIFIER_FAULT: { status: 502, blame: 'server', retry: 'new-attempt', message: 'The verifier could not reach a result.' },
  FILE_REFUSED: { status: 422, blame: 'sandbox', retry: 'never', message: 'A path or file breaks the rules for what may cross the sandbox boundary.' },
  CONFIG_INVALID: { status: 500, blame: 'server', retry: 'never', message: 'The configuration is not valid.' },
  INTERNAL: { status: 500, blame: 'server', retry: 'never', message: 'A bug in the server; the log has its stack.' },
} as const satisfies Record<string, CodeInfo>

export type ErrorCode = keyof typeof CODES

export interface AssayErrorOptions {
  /** A sentence that says what to change; default: the table's. */
  message?: string | undefined
  details?: Record<string, unknown> | undefined
  retryAfterMs?: number | undefined
  cause?: unknown
}

export class AssayError extends Error {
  override readonly name = 'AssayError'
  readonly code: ErrorCode
  readonly details: Record<string, unknown> | undefined
  readonly retryAfterMs: number | undefined

  constructor (code: ErrorCode, { message, details, retryAfterMs, cause }: AssayErrorOptions = {}) {
    super(message ?? CODES[code].message, cause === undefined ? undefined : { cause })
    this.code = code
    this.details = details
    this.retryAfterMs = retryAfterMs
  }

  get info (): CodeInfo { return CODES[this.code] }
}

export function isAssayError (error: unknown, code?: ErrorCode): error is AssayError {
  return error instanceof AssayError && (code === undefined || error.code === code)
}

/** Runs fn at the edge of the system: typed errors pass, anything else is wrapped as code with its cause. */
export async function boundary<T> (code: ErrorCode, what: string, fn: () => Promise<T>): Promise<T> {
  try {
    return await fn()
  } catch (error) {
    if (error instanceof AssayError) throw error
    throw new AssayError(code, { message: `${what}: ${error instanceof Error ? error.message : String(error)}`, cause: error })
  }
}
