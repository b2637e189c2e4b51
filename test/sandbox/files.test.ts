// The rules for what may cross the sandbox boundary, as a table.
import t from 'tap'
import { checkPath, checkTarget, FILE_RULES } from '../../src/sandbox/files.ts'

const refused = { code: 'FILE_REFUSED' }

t.test('relative, normal, bounded paths pass, whatever characters they are made of', async t => {
  for (const path of ['a', 'a/b.txt', '.hidden', '...', 'a b\nc', 'файл', 'a'.repeat(FILE_RULES.pathBytes)]) {
    t.doesNotThrow(() => checkPath(path), path.slice(0, 20))
  }
})

t.test('absolute, dotted, empty, NUL-bearing and oversized paths are refused with a sentence', async t => {
  const deep = Array.from({ length: FILE_RULES.depth + 1 }, () => 'd').join('/')
  for (const path of ['', '/', '/a', '..', 'a/..', 'a/../b', './a', 'a//b', 'a/', 'a\0b', 'a'.repeat(FILE_RULES.pathBytes + 1), deep]) {
    t.throws(() => checkPath(path), { ...refused, message: /must be relative|is longer/ }, JSON.stringify(path.slice(0, 20)))
  }
})

t.test('a symlink may point anywhere inside its root and nowhere else', async t => {
  for (const [path, target] of [['a', 'b'], ['d/a', '../b'], ['d/e/a', '../../b/./c'], ['a', 'b/../c']] as const) {
    t.doesNotThrow(() => checkTarget(path, target), `${path} -> ${target}`)
  }
  for (const [path, target] of [['a', '/etc/passwd'], ['a', '..'], ['d/a', '../../x'], ['a', 'b/../../c'], ['a', ''], ['a', 'x\0y']] as const) {
    t.throws(() => checkTarget(path, target), refused, `${path} -> ${target}`)
  }
})
