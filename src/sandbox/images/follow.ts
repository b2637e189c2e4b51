// Follows a pull, build or import to its end: progress lines out, an error line becomes a typed error.
import { deadline, orAbort } from '../../base/deadline.ts'
import { AssayError } from '../../errors.ts'
import type { DockerClient } from '../engines/docker/client.ts'
import { jsonLines } from '../engines/docker/lines.ts'

export interface FollowOptions {
  open: Parameters<DockerClient['open']>[1]
  signal?: AbortSignal | undefined
  /** Milliseconds until the daemon begins to answer. */
  firstMs: number
  /** Milliseconds without a line after which it is given up. */
  idleMs: number
  onLine?: ((line: string) => void) | undefined
}

/** Throws IMAGE_UNAVAILABLE with the last lines when the daemon reports an error or goes silent, and as DockerClient.open. */
export async function follow (client: DockerClient, what: string, options: FollowOptions): Promise<void> {
  const life = new AbortController()
  const end = (): void => life.abort(options.signal?.reason)
  options.signal?.addEventListener('abort', end, { once: true })
  try {
    options.signal?.throwIfAborted()
    const stream = await client.open(what, options.open, { signal: life.signal, timeoutMs: options.firstMs })
    await readLines(stream, what, options)
  } finally {
    options.signal?.removeEventListener('abort', end)
    life.abort(new Error('no longer followed'))
  }
}

async function readLines (stream: NodeJS.ReadableStream, what: string, options: FollowOptions): Promise<void> {
  const { signal, idleMs, onLine } = options
  const lines = jsonLines(stream)
  const last: string[] = []
  for (;;) {
    using limit = deadline(idleMs, { parent: signal, code: 'IMAGE_UNAVAILABLE', what: `the next line of ${what}` })
    const next = await orAbort(lines.next(), limit.signal)
    if (next.done === true) return
    const text = lineText(next.value)
    if (text === undefined) continue
    last.push(text)
    if (last.length > LAST_LINES) last.shift()
    if ('error' in next.value) throw new AssayError('IMAGE_UNAVAILABLE', { message: `${what} failed:\n${last.join('\n')}` })
    onLine?.(text)
  }
}

function lineText (line: Record<string, unknown>): string | undefined {
  const text = line['error'] ?? line['stream'] ?? line['status']
  if (typeof text !== 'string' || text.trim() === '') return undefined
  return (typeof line['id'] === 'string' ? `${line['id']}: ${text}` : text).trim()
}

const LAST_LINES = 20
