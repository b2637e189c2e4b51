// What counts as changed since the pristine image, and what may not cross.
import t from 'tap'
import { compareManifests, takeDelta } from '../../src/sandbox/delta.ts'
import type { Sandbox } from '../../src/sandbox/engine.ts'
import type { Manifest, ManifestEntry } from '../../src/sandbox/files.ts'

const file = (path: string, sha256 = 'aa', mode = 0o644): ManifestEntry => ({ type: 'file', path, mode, sizeBytes: 2, sha256 })
const directory = (path: string, mode = 0o755): ManifestEntry => ({ type: 'directory', path, mode })
const symlink = (path: string, target: string): ManifestEntry => ({ type: 'symlink', path, target })
const other = (path: string, what: string): ManifestEntry => ({ type: 'other', path, what })

function manifest (...entries: ManifestEntry[]): Manifest {
  return new Map(entries.map(entry => [entry.path, entry]))
}

t.test('what is new or different crosses, parents before children; what is the same does not', async t => {
  const before = manifest(directory('src'), file('src/a'), file('src/b'), file('src/c'), symlink('link', 'src/a'))
  const now = manifest(directory('src'), file('src/a'), file('src/b', 'bb'), file('src/c', 'aa', 0o755), symlink('link', 'src/b'), directory('new'), file('new/x'))
  const { changed, deleted } = compareManifests(before, now)
  t.same(changed.map(({ path }) => path), ['link', 'new', 'new/x', 'src/b', 'src/c'])
  t.same(deleted, [])
})

t.test('what is gone or has become something else is deleted first, children before parents', async t => {
  const before = manifest(directory('d'), file('d/a'), file('f'), directory('gone'), file('gone/x'))
  const now = manifest(file('d'), directory('f'))
  const { changed, deleted } = compareManifests(before, now)
  t.same(changed.map(({ path, type }) => [path, type]), [['d', 'file'], ['f', 'directory']])
  t.same(deleted, ['gone/x', 'gone', 'f', 'd/a', 'd'])
})

t.test('devices, FIFOs and links out of the workspace are refused when they are new, and only then', async t => {
  t.throws(() => compareManifests(manifest(), manifest(other('p', 'fifo'))), { code: 'FILE_REFUSED', message: /"p" is a fifo/ })
  t.throws(() => compareManifests(manifest(), manifest(symlink('l', '/etc'))), { code: 'FILE_REFUSED' })
  t.throws(() => compareManifests(manifest(), manifest(file('../x'))), { code: 'FILE_REFUSED' })
  const pristine = manifest(other('p', 'fifo'), symlink('l', '/usr'))
  t.same(compareManifests(pristine, pristine), { changed: [], deleted: [] })
})

t.test('the sandbox is frozen before it is read, and a file that does not come is the warden\'s fault', async t => {
  const calls: string[] = []
  const now = manifest(directory('d'), file('d/a'))
  const sandbox = (answer: boolean): Sandbox => ({
    killAll: async () => { calls.push('killAll') },
    manifest: async () => { calls.push('manifest'); return now },
    get: async (_root: string, paths: readonly string[]) => {
      calls.push(`get ${paths.join()}`)
      return answer ? [{ type: 'file', path: 'd/a', mode: 0o644, content: Buffer.from('hi') }] : []
    },
  }) as unknown as Sandbox
  const delta = await takeDelta(sandbox(true), '/app', { baseline: manifest() })
  t.same(calls, ['killAll', 'manifest', 'get d/a'])
  t.match(delta, { entries: [{ type: 'directory', path: 'd' }, { type: 'file', path: 'd/a', content: Buffer.from('hi') }], deleted: [] })
  await t.rejects(takeDelta(sandbox(false), '/app', { baseline: manifest() }), { code: 'WARDEN_FAULT' })
})
