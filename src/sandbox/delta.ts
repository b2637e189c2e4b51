// What changed in a workspace since the pristine image: the only thing of an agent's sandbox that goes on.
import { AssayError } from '../errors.ts'
import type { Sandbox, WaitOptions } from './engine.ts'
import { checkPath, checkTarget, type FileEntry, type Manifest, type ManifestEntry } from './files.ts'

export interface Delta {
  /** Files, directories and symlinks to write over the pristine workspace, parents before children. */
  readonly entries: readonly FileEntry[]
  /** Paths of the pristine workspace that are gone, children before parents. */
  readonly deleted: readonly string[]
}

export const DELTA_CAPS = { entries: 20_000, bytes: 64 * 1024 * 1024 } as const

/** Freezes the sandbox, then reads what differs from the baseline. Throws FILE_REFUSED when the rules or caps are broken. */
export async function takeDelta (
  sandbox: Sandbox, root: string, { baseline, signal }: WaitOptions & { baseline: Manifest }
): Promise<Delta> {
  await sandbox.killAll({ signal })
  const manifest = await sandbox.manifest(root, { maxEntries: DELTA_CAPS.entries, signal })
  const { changed, deleted } = compareManifests(baseline, manifest)
  const paths = changed.filter(entry => entry.type !== 'directory').map(entry => entry.path)
  const read = paths.length === 0 ? [] : await sandbox.get(root, paths, { maxBytes: DELTA_CAPS.bytes, signal })
  const byPath = new Map(read.map(entry => [entry.path, entry]))
  const entries = changed.map((entry): FileEntry => {
    if (entry.type === 'directory') return entry
    const got = byPath.get(entry.path)
    if (got?.type !== entry.type) {
      throw new AssayError('WARDEN_FAULT', { message: `${JSON.stringify(entry.path)} is in the manifest but was not returned as a ${entry.type}.` })
    }
    return got
  })
  return { entries, deleted }
}

/** Pure: which entries of now are new or different, and which paths of then are gone. Throws FILE_REFUSED for anything that may not cross. */
export function compareManifests (baseline: Manifest, now: Manifest): { changed: ManifestEntry[], deleted: string[] } {
  const changed: ManifestEntry[] = []
  for (const entry of [...now.values()].sort((a, b) => a.path < b.path ? -1 : 1)) {
    const before = baseline.get(entry.path)
    if (before !== undefined && sameEntry(before, entry)) continue
    checkPath(entry.path)
    if (entry.type === 'other') {
      throw new AssayError('FILE_REFUSED', { message: `${JSON.stringify(entry.path)} is a ${entry.what}; a submission may hold regular files, directories and relative symlinks only.` })
    }
    if (entry.type === 'symlink') checkTarget(entry.path, entry.target)
    changed.push(entry)
  }
  const deleted = [...baseline.keys()].filter(path => {
    const entry = now.get(path)
    return entry === undefined || entry.type !== baseline.get(path)?.type
  }).sort((a, b) => a < b ? 1 : -1)
  return { changed, deleted }
}

function sameEntry (a: ManifestEntry, b: ManifestEntry): boolean {
  if (a.type === 'file' && b.type === 'file') return a.sha256 === b.sha256 && a.sizeBytes === b.sizeBytes && a.mode === b.mode
  if (a.type === 'symlink' && b.type === 'symlink') return a.target === b.target
  if (a.type === 'directory' && b.type === 'directory') return a.mode === b.mode
  return a.type === 'other' && b.type === 'other' && a.what === b.what
}
