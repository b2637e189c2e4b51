// Bytes and text: what is valid UTF-8 may travel as text, everything else must not be damaged.
import { isUtf8 } from 'node:buffer'

export function utf8 (text: string): Uint8Array {
  return Buffer.from(text, 'utf8')
}

/** The text of valid UTF-8, or undefined. */
export function findText (bytes: Uint8Array): string | undefined {
  return isUtf8(bytes) ? asBuffer(bytes).toString('utf8') : undefined
}

/** Text with replacement characters where the bytes are not UTF-8; for people only. */
export function lossyText (bytes: Uint8Array): string {
  return asBuffer(bytes).toString('utf8')
}

export function asBuffer (bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}
