// Files as records of the warden: what is sent, and what comes back, which is hostile: every rule of files.ts is applied again.
import { asBuffer, findText, lossyText, utf8 } from '../../base/bytes.ts'
import { assertNever } from '../../base/assert-never.ts'
import { AssayError } from '../../errors.ts'
import { FILE_RULES, checkPath, checkTarget, type FileEntry, type Manifest, type ManifestEntry } from '../files.ts'
import { FieldReader, fields } from './fields.ts'

const RECORDS = { file: 1, directory: 2, symlink: 3, other: 4, absent: 5, hash: 6, data: 7, end: 255 } as const

export interface FileRequest {
  root: string
  timeoutMs: number
  maxEntries?: number | undefined
  maxBytes?: number | undefined
}

export interface ReadLimits { asked: readonly string[], maxBytes: number }

/** Throws FILE_REFUSED for a root that is not an absolute, normal path. */
export function encodeFileRequest ({ root, timeoutMs, maxEntries = 0, maxBytes = 0 }: FileRequest): Buffer {
  if (!root.startsWith('/') || root.includes('\0') || Buffer.byteLength(root) >= 4096 || root.split('/').includes('..')) {
    throw new AssayError('FILE_REFUSED', { message: `root ${JSON.stringify(root.slice(0, 200))} must be an absolute path without "..".` })
  }
  const path = utf8(root)
  const limits = fields([timeoutMs, 4], [Math.min(maxEntries, 0xffffffff), 4], [maxBytes, 8])
  return Buffer.concat([limits, fields([path.length, 2]), path])
}

/** Throws FILE_REFUSED, before anything is made, when one entry breaks the rules. */
export function encodeEntries (entries: readonly FileEntry[], { maxBytes }: { maxBytes: number }): Uint8Array[] {
  let total = 0
  const pieces: Uint8Array[] = []
  for (const entry of entries) {
    checkPath(entry.path)
    if ('mode' in entry) checkMode(entry.path, entry.mode)
    const { type, mode, data } = sentForm(entry)
    const path = utf8(entry.path)
    total += path.length + data.length
    if (total > maxBytes) throw new AssayError('FILE_REFUSED', { message: `The files are larger than ${maxBytes} bytes together.` })
    pieces.push(Buffer.concat([fields([type, 2], [mode, 2], [path.length, 4], [data.length, 8]), path]), data)
  }
  return pieces
}

export function encodePaths (paths: readonly string[]): Uint8Array[] {
  return paths.map(path => {
    checkPath(path)
    const bytes = utf8(path)
    return Buffer.concat([fields([bytes.length, 2]), bytes])
  })
}

/** Only what was asked for, each once. Throws FILE_REFUSED by the rules, WARDEN_FAULT for records that make no sense. */
export function decodeFiles (bytes: Uint8Array, { asked, maxBytes }: ReadLimits): FileEntry[] {
  const left = new Set(asked)
  const found: FileEntry[] = []
  let open: { path: string, mode: number, parts: Uint8Array[] } | undefined
  let total = 0
  const close = (): void => {
    if (open !== undefined) found.push({ type: 'file', path: open.path, mode: open.mode, content: Buffer.concat(open.parts) })
    open = undefined
  }
  for (const { type, mode, path, data } of records(bytes)) {
    if (type === RECORDS.data && open !== undefined) {
      total += data.length
      if (total > maxBytes) throw new AssayError('FILE_REFUSED', { message: `The files are larger than ${maxBytes} bytes together.` })
      open.parts.push(data)
      continue
    }
    close()
    const name = findText(path)
    if (name === undefined || !left.delete(name)) throw new AssayError('WARDEN_FAULT', { message: 'The warden returned a file that was not asked for.' })
    checkMode(name, mode)
    if (type === RECORDS.file) open = { path: name, mode, parts: [] }
    else if (type === RECORDS.symlink) found.push(symlink(name, data))
    else throw new AssayError('WARDEN_FAULT', { message: `The warden returned a record of the unexpected type ${type}.` })
  }
  close()
  return found
}

/** Throws FILE_REFUSED for more than maxEntries or paths that break the rules, WARDEN_FAULT for records that make no sense. */
export function decodeManifest (bytes: Uint8Array, { maxEntries }: { maxEntries: number }): Manifest {
  const manifest = new Map<string, ManifestEntry>()
  for (const { type, mode, path, data } of records(bytes)) {
    const name = findText(path)
    const entry: ManifestEntry = name === undefined
      ? { type: 'other', path: lossyText(path), what: 'file whose name is not UTF-8' }
      : manifestEntry(name, { type, mode, data })
    checkPath(entry.path)
    // a name that is not UTF-8 may read like one that is: what may not cross stays in the list
    if (manifest.get(entry.path)?.type === 'other' && name !== undefined) continue
    if (manifest.has(entry.path) && name !== undefined) throw new AssayError('WARDEN_FAULT', { message: `The warden listed ${JSON.stringify(name)} twice.` })
    manifest.set(entry.path, entry)
    if (manifest.size > maxEntries) throw new AssayError('FILE_REFUSED', { message: `There are more than ${maxEntries} files below the root.` })
  }
  return manifest
}

/** For the answer to a put, which is an end and nothing else. */
export function checkEnd (bytes: Uint8Array): void {
  const [first] = [...records(bytes)]
  if (first !== undefined) throw new AssayError('WARDEN_FAULT', { message: `The warden answered a put with a record of type ${first.type}.` })
}

interface Received { type: number, mode: number, path: Buffer, data: Buffer }

/** Every record up to the end, whose status is thrown as FILE_REFUSED when it is not 0. */
function * records (bytes: Uint8Array): Generator<Received, void> {
  const from = new FieldReader(bytes)
  for (;;) {
    const type = from.u16()
    const mode = from.u16()
    const pathBytes = from.u32()
    const dataBytes = from.u64()
    const record = { type, mode, path: from.bytes(pathBytes), data: from.bytes(dataBytes) }
    if (type !== RECORDS.end) {
      yield record
      continue
    }
    if (from.left > 0) throw new AssayError('WARDEN_FAULT', { message: 'There are bytes after the end of the records.' })
    if (mode !== 0) throw new AssayError('FILE_REFUSED', { message: `The sandbox refused: ${lossyText(record.data)}` })
    return
  }
}

function manifestEntry (path: string, { type, mode, data }: Omit<Received, 'path'>): ManifestEntry {
  checkMode(path, mode)
  switch (type) {
    case RECORDS.directory: return { type: 'directory', path, mode }
    case RECORDS.other: return { type: 'other', path, what: lossyText(data.subarray(0, 100)) }
    case RECORDS.symlink: {
      const target = findText(data)
      return target === undefined ? { type: 'other', path, what: 'symlink to a name that is not UTF-8' } : { type: 'symlink', path, target }
    }
    case RECORDS.hash: {
      const from = new FieldReader(data)
      return { type: 'file', path, mode, sizeBytes: from.u64(), sha256: from.bytes(32).toString('hex') }
    }
    default: throw new AssayError('WARDEN_FAULT', { message: `The warden returned a record of the unexpected type ${type}.` })
  }
}

function symlink (path: string, data: Uint8Array): FileEntry {
  const target = findText(data)
  if (target === undefined) throw new AssayError('FILE_REFUSED', { message: `symlink ${JSON.stringify(path)} points to a name that is not UTF-8.` })
  checkTarget(path, target)
  return { type: 'symlink', path, target }
}

function sentForm (entry: FileEntry): { type: number, mode: number, data: Uint8Array } {
  switch (entry.type) {
    case 'file': return { type: RECORDS.file, mode: entry.mode, data: asBuffer(entry.content) }
    case 'directory': return { type: RECORDS.directory, mode: entry.mode, data: new Uint8Array(0) }
    case 'symlink':
      checkTarget(entry.path, entry.target)
      return { type: RECORDS.symlink, mode: 0o777, data: utf8(entry.target) }
    case 'absent': return { type: RECORDS.absent, mode: 0, data: new Uint8Array(0) }
    default: return assertNever(entry)
  }
}

function checkMode (path: string, mode: number): void {
  if (Number.isInteger(mode) && (mode & ~FILE_RULES.mode) === 0) return
  throw new AssayError('FILE_REFUSED', { message: `${JSON.stringify(path)} has mode ${mode.toString(8)}; only permission bits may cross.` })
}
