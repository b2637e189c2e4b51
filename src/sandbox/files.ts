// Files as they cross the sandbox boundary: plain entries, re-checked on the server whatever the sandbox claims.
import { AssayError } from '../errors.ts'

export type FileEntry =
  | { type: 'file', path: string, mode: number, content: Uint8Array }
  | { type: 'directory', path: string, mode: number }
  | { type: 'symlink', path: string, target: string }
  /** For put alone: whatever is at path goes, a directory with all it holds; nothing there is fine. */
  | { type: 'absent', path: string }

/** One line of a manifest. `other` is a device, FIFO, socket or hardlinked or setuid file: it never crosses. */
export type ManifestEntry =
  | { type: 'file', path: string, mode: number, sizeBytes: number, sha256: string }
  | { type: 'directory', path: string, mode: number }
  | { type: 'symlink', path: string, target: string }
  | { type: 'other', path: string, what: string }

/** By relative path. */
export type Manifest = ReadonlyMap<string, ManifestEntry>

export const FILE_RULES = { pathBytes: 1024, depth: 64, mode: 0o777 } as const

/** The path rules for everything that crosses: relative, normal, no dot-dot, bounded. Throws FILE_REFUSED. */
export function checkPath (path: string): void {
  const parts = path.split('/')
  const bad = path === '' || path.startsWith('/') || path.includes('\0') || parts.some(part => part === '' || part === '.' || part === '..')
  if (bad) throw new AssayError('FILE_REFUSED', { message: `path ${JSON.stringify(path.slice(0, 200))} must be relative and normal, without "..".` })
  if (Buffer.byteLength(path) > FILE_RULES.pathBytes || parts.length > FILE_RULES.depth) {
    throw new AssayError('FILE_REFUSED', { message: `path ${JSON.stringify(path.slice(0, 200))}… is longer than ${FILE_RULES.pathBytes} bytes or deeper than ${FILE_RULES.depth}.` })
  }
}

/** A symlink's target must be relative and stay inside the root. Throws FILE_REFUSED. */
export function checkTarget (path: string, target: string): void {
  if (target === '' || target.startsWith('/') || target.includes('\0') || Buffer.byteLength(target) > FILE_RULES.pathBytes) {
    throw new AssayError('FILE_REFUSED', { message: `symlink ${JSON.stringify(path)} must point to a relative path.` })
  }
  let depth = path.split('/').length - 1
  for (const part of target.split('/')) {
    depth += part === '..' ? -1 : part === '.' || part === '' ? 0 : 1
    if (depth < 0) throw new AssayError('FILE_REFUSED', { message: `symlink ${JSON.stringify(path)} points outside its root.` })
  }
}
