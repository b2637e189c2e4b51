// The file system of one fake sandbox: a map of absolute paths, under the same rules as a real one.
import { createHash } from 'node:crypto'
import path from 'node:path/posix'
import { AssayError } from '../../errors.ts'
import { checkPath, checkTarget, FILE_RULES, type FileEntry, type Manifest, type ManifestEntry } from '../files.ts'

export type FakeNode =
  | { type: 'file', mode: number, content: Uint8Array }
  | { type: 'directory', mode: number }
  | { type: 'symlink', target: string }
  /** A device, FIFO or the like: seen, never carried over. */
  | { type: 'other', what: string }

export class FakeFiles {
  readonly #nodes = new Map<string, FakeNode>()

  constructor (directories: readonly string[], initial: { root: string, entries: readonly FileEntry[] }) {
    for (const directory of directories) this.makeDirectory(directory)
    if (initial.entries.length > 0) this.put(initial.root, initial.entries)
  }

  find (absolute: string): FakeNode | undefined {
    return absolute === '/' ? { type: 'directory', mode: 0o755 } : this.#nodes.get(absolute)
  }

  /** A regular file's content, through symlinks. */
  read (absolute: string): Uint8Array | undefined {
    const node = this.find(this.#follow(absolute))
    return node?.type === 'file' ? node.content : undefined
  }

  isDirectory (absolute: string): boolean {
    return this.find(this.#follow(absolute))?.type === 'directory'
  }

  /** False when the directory is missing or the path is one. */
  write (absolute: string, content: Uint8Array): boolean {
    const target = this.#follow(absolute)
    const before = this.find(target)
    if (!this.isDirectory(path.dirname(target)) || (before !== undefined && before.type !== 'file')) return false
    this.#nodes.set(target, { type: 'file', mode: before?.type === 'file' ? before.mode : 0o644, content })
    return true
  }

  /** Whatever was there is replaced. */
  place (absolute: string, node: FakeNode): void {
    this.#nodes.set(absolute, node)
  }

  makeDirectory (absolute: string): void {
    if (absolute === '/' || this.find(absolute)?.type === 'directory') return
    this.makeDirectory(path.dirname(absolute))
    this.#nodes.set(absolute, { type: 'directory', mode: 0o755 })
  }

  /** With all that is below; false when nothing was there. */
  remove (absolute: string): boolean {
    for (const key of [...this.#nodes.keys()]) if (key.startsWith(`${absolute}/`)) this.#nodes.delete(key)
    return this.#nodes.delete(absolute)
  }

  /** Names directly under a directory. */
  list (absolute: string): string[] {
    const prefix = absolute === '/' ? '/' : `${absolute}/`
    return [...this.#nodes.keys()].filter(key => key.startsWith(prefix) && !key.slice(prefix.length).includes('/'))
      .map(key => key.slice(prefix.length)).sort()
  }

  /** Checks every entry before it writes the first. Throws FILE_REFUSED. */
  put (root: string, entries: readonly FileEntry[]): void {
    for (const entry of entries) this.#check(root, entry)
    for (const entry of entries) this.#putOne(path.join(root, entry.path), entry)
  }

  /** Regular files and symlinks; others are left out. Throws FILE_REFUSED over maxBytes. */
  get (root: string, paths: readonly string[], maxBytes: number): FileEntry[] {
    let bytes = 0
    return paths.flatMap((relative): FileEntry[] => {
      checkPath(relative)
      const node = this.#isBeneath(root, relative) ? this.find(path.join(root, relative)) : undefined
      if (node?.type === 'symlink') return [{ type: 'symlink', path: relative, target: node.target }]
      if (node?.type !== 'file') return []
      bytes += node.content.length
      if (bytes > maxBytes) throw new AssayError('FILE_REFUSED', { message: `The files have more than ${maxBytes} bytes.` })
      return [{ type: 'file', path: relative, mode: node.mode, content: node.content }]
    })
  }

  /** Throws FILE_REFUSED over maxEntries. */
  manifest (root: string, maxEntries: number): Manifest {
    const manifest = new Map<string, ManifestEntry>()
    for (const [key, node] of this.#nodes) {
      if (!key.startsWith(`${root}/`)) continue
      const relative = key.slice(root.length + 1)
      manifest.set(relative, describe(relative, node))
      if (manifest.size > maxEntries) throw new AssayError('FILE_REFUSED', { message: `The workspace has more than ${maxEntries} entries.` })
    }
    return manifest
  }

  #check (root: string, entry: FileEntry): void {
    checkPath(entry.path)
    if (entry.type === 'symlink') checkTarget(entry.path, entry.target)
    if ('mode' in entry && (entry.mode & ~FILE_RULES.mode) !== 0) {
      throw new AssayError('FILE_REFUSED', { message: `${JSON.stringify(entry.path)} has mode ${entry.mode.toString(8)}; only permission bits may cross.` })
    }
    if (!this.#isBeneath(root, entry.path)) {
      throw new AssayError('FILE_REFUSED', { message: `${JSON.stringify(entry.path)} leads through something that is not a directory.` })
    }
  }

  /** No parent below root is a symlink or a file; parents that do not exist yet are made. */
  #isBeneath (root: string, relative: string): boolean {
    const parents = relative.split('/').slice(0, -1).map((_part, index, parts) => path.join(root, ...parts.slice(0, index + 1)))
    return parents.every(parent => this.find(parent) === undefined || this.find(parent)?.type === 'directory')
  }

  #putOne (absolute: string, entry: FileEntry): void {
    if (entry.type !== 'directory') this.remove(absolute)
    if (entry.type !== 'absent') this.makeDirectory(path.dirname(absolute))
    switch (entry.type) {
      case 'absent': break
      case 'file': this.#nodes.set(absolute, { type: 'file', mode: entry.mode, content: Buffer.from(entry.content) }); break
      case 'directory': this.#nodes.set(absolute, { type: 'directory', mode: entry.mode }); break
      case 'symlink': this.#nodes.set(absolute, { type: 'symlink', target: entry.target }); break
    }
  }

  #follow (absolute: string, hops = 0): string {
    const node = this.find(absolute)
    if (node?.type !== 'symlink' || hops > 8) return absolute
    return this.#follow(path.resolve(path.dirname(absolute), node.target), hops + 1)
  }
}

function describe (relative: string, node: FakeNode): ManifestEntry {
  switch (node.type) {
    case 'file': {
      const sha256 = createHash('sha256').update(node.content).digest('hex')
      return { type: 'file', path: relative, mode: node.mode, sizeBytes: node.content.length, sha256 }
    }
    case 'directory': return { type: 'directory', path: relative, mode: node.mode }
    case 'symlink': return { type: 'symlink', path: relative, target: node.target }
    case 'other': return { type: 'other', path: relative, what: node.what }
  }
}
