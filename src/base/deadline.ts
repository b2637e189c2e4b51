// A disposable AbortSignal: a time limit joined to a parent signal, leaving no timer or listener behind.
// AbortSignal.any leaks on Node 20 when a parent outlives its children, so it is not used.
import { AssayError, type ErrorCode } from '../errors.ts'

export interface Deadline extends Disposable {
  readonly signal: AbortSignal
}

export interface DeadlineOptions {
  parent?: AbortSignal | undefined
  /** The error raised when the time is up; default DEADLINE. */
  code?: ErrorCode | undefined
  /** What was being waited for; becomes the error's sentence. */
  what?: string | undefined
}

/** A signal that aborts after ms or with its parent, whichever comes first. Hold it with `using`. */
export function deadline (ms: number, { parent, code = 'DEADLINE', what = 'the operation' }: DeadlineOptions = {}): Deadline {
  const controller = new AbortController()
  const fromParent = (): void => controller.abort(parent?.reason)
  const timer = setTimeout(() => {
    controller.abort(new AssayError(code, { message: `${what} took longer than ${ms} ms` }))
  }, ms)
  if (parent?.aborted === true) fromParent()
  else parent?.addEventListener('abort', fromParent, { once: true })
  return {
    signal: controller.signal,
    [Symbol.dispose] () {
      clearTimeout(timer)
      parent?.removeEventListener('abort', fromParent)
    },
  }
}

/** Settles as promise does, or rejects with the signal's reason as soon as it aborts. */
export async function orAbort<T> (promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return await promise
  promise.catch(() => {}) // the caller may leave through the signal; a late rejection is then nobody's
  signal.throwIfAborted()
  let onAbort = (): void => {}
  const aborted = new Promise<never>((_resolve, reject) => {
    onAbort = () => reject(signal.reason)
    signal.addEventListener('abort', onAbort, { once: true })
  })
  try {
    return await Promise.race([promise, aborted])
  } finally {
    signal.removeEventListener('abort', onAbort)
  }
}
