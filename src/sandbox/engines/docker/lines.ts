// JSON lines of a long answer (events, pull, build) as values, whatever the chunking. Bounded per line.
import { StringDecoder } from 'node:string_decoder'
import { AssayError } from '../../../errors.ts'

export type Line = Record<string, unknown>

/** Each parsed line of an answer's body. Throws ENGINE_FAULT on a line that is not JSON or is too long; leaving the loop destroys the stream. */
export async function * jsonLines (stream: AsyncIterable<Uint8Array | string>): AsyncGenerator<Line, void, undefined> {
  const decoder = new StringDecoder('utf8')
  let rest = ''
  for await (const chunk of stream) {
    const lines = (rest + (typeof chunk === 'string' ? chunk : decoder.write(Buffer.from(chunk)))).split('\n')
    rest = lines.pop() ?? ''
    if (rest.length > MAX_LINE_CHARS) throw new AssayError('ENGINE_FAULT', { message: 'docker sent a line that does not end' })
    for (const line of lines) if (line.trim() !== '') yield parseLine(line)
  }
  if (rest.trim() !== '') yield parseLine(rest)
}

function parseLine (line: string): Line {
  let value: unknown
  try {
    value = JSON.parse(line)
  } catch (cause) {
    throw new AssayError('ENGINE_FAULT', { message: `docker sent a line that is not JSON: ${line.slice(0, 200)}`, cause })
  }
  if (typeof value !== 'object' || value === null) throw new AssayError('ENGINE_FAULT', { message: 'docker sent a line that is not an object' })
  return value as Line
}

const MAX_LINE_CHARS = 1024 * 1024
