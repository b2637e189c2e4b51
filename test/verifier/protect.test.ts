import t from 'tap'
import type { Delta } from '../../src/sandbox/delta.ts'
import { protect } from '../../src/verifier/protect.ts'

const file = (path: string) => ({ type: 'file', path, mode: 0o644, content: new Uint8Array() }) as const
const directory = (path: string) => ({ type: 'directory', path, mode: 0o755 }) as const
const symlink = (path: string) => ({ type: 'symlink', path, target: 'elsewhere' }) as const

function kept (delta: Partial<Delta>, globs: string[]) {
  const { delta: left, changed } = protect({ entries: [], deleted: [], ...delta }, globs)
  return { entries: left.entries.map(({ path }) => path), deleted: left.deleted, changed }
}

await t.test('without globs everything passes', async t => {
  t.same(kept({ entries: [file('a')], deleted: ['b'] }, []), { entries: ['a'], deleted: ['b'], changed: false })
})

await t.test('globs name files, directories with all below, and any depth', async t => {
  const rows: Array<[glob: string, path: string, isKept: boolean]> = [
    ['a', 'a', false],
    ['a', 'a/b/c', false],
    ['a', 'ab', true],
    ['a/b', 'a/c', true],
    ['a/**', 'a', false],
    ['a/**', 'a/b/c', false],
    ['a/**', 'b/a', true],
    ['**/conftest.py', 'conftest.py', false],
    ['**/conftest.py', 'x/y/conftest.py', false],
    ['**/conftest.py', 'x/conftest.pyc', true],
    ['*.toml', 'a.toml', false],
    ['*.toml', 'x/a.toml', true],
    ['t?st*', 'tests', false],
    ['t?st*', 'ttst', false],
    ['t?st*', 'tst', true],
    ['x/**/y', 'x/y', false],
    ['x/**/y', 'x/1/2/y/z', false],
    ['x/**/y', 'x/1/2', true],
    ['a*b*c', 'aXbYbZc', false],
    ['a*b*c', 'aXcYb', true],
  ]
  for (const [glob, path, isKept] of rows) {
    t.same(kept({ entries: [file(path)] }, [glob]).entries, isKept ? [path] : [], `${glob} and ${path}`)
    t.same(kept({ deleted: [path] }, [glob]).deleted, isKept ? [path] : [], `${glob} and deleting ${path}`)
  }
})

await t.test('a protected file cannot be hidden behind a file or symlink in the place of its directory', async t => {
  for (const globs of [['a/b/tests.py'], ['**/tests.py']]) {
    const swapped = { entries: [symlink('a'), file('evil/x'), directory('evil')], deleted: ['a/b/tests.py', 'a/b/other', 'a/b', 'a'] }
    t.same(kept(swapped, globs), { entries: ['evil/x', 'evil'], deleted: ['a/b/other'], changed: true })
    t.same(kept({ ...swapped, entries: [file('a')] }, globs).entries, [])
  }
})

await t.test('a symlink cannot lead to a protected path that the image lacks', async t => {
  t.same(kept({ entries: [symlink('conf'), symlink('other')] }, ['conf/ci/run.sh']).entries, ['other'])
  t.same(kept({ entries: [directory('conf'), file('conf/ci.txt')] }, ['conf/ci/run.sh']).entries, ['conf', 'conf/ci.txt'])
})
