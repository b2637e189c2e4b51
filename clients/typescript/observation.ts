// Observations as they arrive in either encoding, and their text for people and policies.
import { bytesFromWire, type Observation } from '../../src/protocol/index.ts'

/** The text of an observation's bytes; what is not UTF-8 becomes U+FFFD, what is absent becomes "". */
export function text (bytes: Uint8Array | undefined): string {
  return bytes === undefined ? '' : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8')
}

/** JSON carries bytes as text or {base64}; a caller gets Uint8Array from both encodings. */
export function readObservation (observation: Observation): Observation {
  const read = { ...observation }
  for (const field of ['stdout', 'stderr', 'content'] as const) {
    const value = observation[field]
    if (value !== undefined) read[field] = bytesFromWire(value)
  }
  return read
}
