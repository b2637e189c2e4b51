// A build context: the files of a directory in a fixed order, their content hash, and the tar that a daemon reads.
import { createHash } from 'node:crypto'
import { lstat, readdir, readFile, readlink } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pack } from 'tar-stream'
import { AssayError } from '../../errors.ts'

export type ContextEntry =
  | { type: 'file', path: string, mode: number, content: Uint8Array }
  | { type: 'directory', path: string, mode: number }
  | { type: 'symlink', path: string, target: string }

/** Everything under directory, sorted by path. Throws TASK_INVALID for devices and the like, or when it is larger than 256 MiB. */
export async function readContext (directory: string): Promise<ContextEntry[]> {
  const entries: ContextEntry[] = []
  let bytes = 0
  for (const path of (await readdir(directory, { recursive: true })).sort()) {
    const absolute = join(directory, path)
    const stat = await lstat(absolute)
    const mode = stat.mode & 0o777
    if (stat.isDirectory()) entries.push({ type: 'directory', path, mode })
    else if (stat.isSymbolicLink()) entries.push({ type: 'symlink', path, target: await readlink(absolute) })
    else if (stat.isFile()) {
      bytes += stat.size
      if (bytes > MAX_BYTES) throw new AssayError('TASK_INVALID', { message: `the build context ${directory} is larger than ${MAX_BYTES} bytes` })
      entries.push({ type: 'file', path, mode, content: await readFile(absolute) })
    } else {
      throw new AssayError('TASK_INVALID', { message: `${absolute} is neither a regular file, a directory nor a symlink` })
    }
  }
  return entries
}

/** 32 hex digits over paths, types, modes, bytes and whatever else decides what is built. */
export function hashContext (entries: readonly ContextEntry[], extra: readonly string[]): string {
  const hash = createHash('sha256')
  const field = (value: string | Uint8Array): void => {
    const bytes = Buffer.from(value)
    hash.update(`${bytes.length}:`).update(bytes) // lengths keep neighbours from running into each other
  }
  for (const entry of entries) {
    field(entry.type)
    field(entry.path)
    field(entry.type === 'symlink' ? entry.target : String(entry.mode))
    if (entry.type === 'file') field(entry.content)
  }
  field('')
  for (const value of extra) field(value)
  return hash.digest('hex').slice(0, 32)
}

/** The tar; errors and the end come as of any stream. */
export function packContext (entries: readonly ContextEntry[]): NodeJS.ReadableStream {
  const tar = pack()
  const mtime = new Date(0)
  for (const entry of entries) {
    if (entry.type === 'file') tar.entry({ name: entry.path, mode: entry.mode, mtime }, Buffer.from(entry.content))
    else if (entry.type === 'directory') tar.entry({ name: entry.path, type: 'directory', mode: entry.mode, mtime })
    else tar.entry({ name: entry.path, type: 'symlink', linkname: entry.target, mtime })
  }
  tar.finalize()
  return Readable.from(tar)
}

const MAX_BYTES = 256 * 1024 * 1024
