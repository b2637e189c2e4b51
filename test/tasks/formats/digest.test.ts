import { createHash } from 'node:crypto'
import t from 'tap'
import { digestFiles, listFiles } from '../../../src/tasks/formats/digest.ts'

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')

await t.test('files are listed by the bytes of their paths', async t => {
  const directory = t.testdir({ b: '', a: { z: '', é: '' }, 'a-': '', B: '' })
  t.same(await listFiles(directory), ['B', 'a-', 'a/z', 'a/é', 'b'])
})

await t.test('the digest is what its description says', async t => {
  const directory = t.testdir({ a: 'x', d: { b: 'y' } })
  t.equal(await digestFiles(directory, ['a', 'd/b']), sha256(`a\0${sha256('x')}\nd/b\0${sha256('y')}\n`))
})
