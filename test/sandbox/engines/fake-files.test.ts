import { createHash } from 'node:crypto'
import t from 'tap'
import { FakeFiles } from '../../../src/sandbox/engines/fake-files.ts'
import type { FileEntry } from '../../../src/sandbox/files.ts'

const start = (entries: FileEntry[] = []) => new FakeFiles(['/desk', '/tmp'], { root: '/desk', entries })
const file = (path: string, text = 'x', mode = 0o644): FileEntry => ({ type: 'file', path, mode, content: Buffer.from(text) })

t.test('entries are put, with the parents they need, and come back the same', async t => {
  const files = start()
  const entries: FileEntry[] = [{ type: 'directory', path: 'd', mode: 0o700 }, file('d/e/f', 'deep', 0o755), { type: 'symlink', path: 'link', target: 'd/e/f' }]
  files.put('/desk', entries)
  t.same(files.get('/desk', ['d/e/f', 'link', 'd', 'missing'], 100), [entries[1], entries[2]])
  t.equal(Buffer.from(files.read('/desk/link') ?? []).toString(), 'deep')
  t.match(files.manifest('/desk', 10), new Map([
    ['d', { type: 'directory', path: 'd', mode: 0o700 }],
    ['d/e', { type: 'directory', path: 'd/e', mode: 0o755 }],
    ['d/e/f', { type: 'file', path: 'd/e/f', mode: 0o755, sizeBytes: 4, sha256: createHash('sha256').update('deep').digest('hex') }],
    ['link', { type: 'symlink', path: 'link', target: 'd/e/f' }],
  ]))
})

t.test('an entry that breaks the rules refuses all, and nothing is written', async t => {
  const bad: FileEntry[] = [
    file('../up'), file('/abs'), file('a//b'), file('a', 'x', 0o4755), { type: 'symlink', path: 'l', target: '/etc' }, { type: 'symlink', path: 'l', target: '../..' }, file('link/through'), file('plain/below'),
  ]
  for (const entry of bad) {
    const files = start([{ type: 'symlink', path: 'link', target: 'other' }, file('plain')])
    t.throws(() => files.put('/desk', [file('good'), entry]), { code: 'FILE_REFUSED' }, JSON.stringify(entry))
    t.equal(files.find('/desk/good'), undefined)
  }
})

t.test('absent removes what is there, a tree too, and is content when nothing is', async t => {
  const files = start([file('d/a'), file('d/b'), file('keep')])
  files.put('/desk', [{ type: 'absent', path: 'd' }, { type: 'absent', path: 'never' }])
  t.same(files.list('/desk'), ['keep'])
})

t.test('a file takes the place of a tree, and a link is replaced, not followed', async t => {
  const files = start([file('d/a'), { type: 'symlink', path: 'l', target: 'kept' }, file('kept', 'old')])
  files.put('/desk', [file('d', 'now a file'), file('l', 'new')])
  t.equal(Buffer.from(files.read('/desk/d') ?? []).toString(), 'now a file')
  t.equal(Buffer.from(files.read('/desk/kept') ?? []).toString(), 'old')
})

t.test('caps refuse', async t => {
  const files = start([file('a', 'aaaa'), file('b', 'bbbb')])
  t.throws(() => files.get('/desk', ['a', 'b'], 7), { code: 'FILE_REFUSED' })
  t.equal(files.get('/desk', ['a', 'b'], 8).length, 2)
  t.throws(() => files.manifest('/desk', 1), { code: 'FILE_REFUSED' })
  t.throws(() => files.get('/desk', ['../x'], 1), { code: 'FILE_REFUSED' })
})

t.test('what is no file is seen, and never read', async t => {
  const files = start()
  files.place('/desk/pipe', { type: 'other', what: 'FIFO' })
  t.match(files.manifest('/desk', 9).get('pipe'), { type: 'other', what: 'FIFO' })
  t.same(files.get('/desk', ['pipe'], 100), [])
  t.equal(files.write('/desk/pipe', Buffer.from('x')), false)
  t.equal(files.write('/desk/none/x', Buffer.from('x')), false)
  files.place('/desk/loop', { type: 'symlink', target: 'loop' })
  t.equal(files.read('/desk/loop'), undefined)
})
