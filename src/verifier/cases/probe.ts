// What the two kinds of driver have in common: what to run for one case, and reading what came of it.
import { findText } from '../../base/bytes.ts'
import type { Output, Ran } from '../../sandbox/command.ts'
import type { FileEntry } from '../../sandbox/files.ts'

/** One case as the sandbox meets it: nothing in it tells what is expected. */
export interface Probe {
  script: string
  stdin: Uint8Array | undefined
  /** Under the case's own directory. */
  entries: readonly FileEntry[]
  /** Why it failed, or undefined. The command ran to an end of its own. */
  judge: (ran: Ran) => string | undefined
}

/** Bytes kept of each stream of one case; a case that prints more fails. */
export const CASE_OUTPUT_BYTES = 1024 * 1024

/** The whole text of a stream, or why there is none. */
export function readStream (output: Output, name: 'stdout' | 'stderr'): { text: string } | { why: string } {
  if (output.droppedBytes > 0) return { why: `${name} is larger than ${CASE_OUTPUT_BYTES} bytes` }
  const text = findText(output.bytes)
  return text === undefined ? { why: `${name} is not valid UTF-8` } : { text }
}

/** "exited with 3", "was ended by SIGSEGV". */
export function describeEnding ({ ending, oomKilled }: Ran): string {
  const memory = oomKilled ? ' (out of memory)' : ''
  switch (ending.kind) {
    case 'exited': return `exited with ${ending.exitCode}${memory}`
    case 'signalled': return `was ended by ${ending.signal}${memory}`
    case 'timedOut': return 'took too long'
    case 'cancelled': return 'was cancelled'
  }
}
