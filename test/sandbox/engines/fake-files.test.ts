import { createHash } from 'node:crypto'
import t from 'tap'
import { FakeFiles } from '../../../src/sandbox/engines/fake-files.ts'
import type { FileEntry } from '../../../src/sandbox/files.ts'

const start = (entries: FileEntry[] = []) => new FakeFiles(['/work', '/tmp'], { root: '/work', entries })
const file = (path: string, text = 'x', mode = 0o644): FileEntry => ({ type: 'file', path, mode, content: Buffer.from(text) })

t.test('entries are put, with the parents they need, and come back the same', async t => {
  const files = start()
  const entries: FileEntry[] = [{ type: 'directory', path: 'd', mode: 0o700 }, file('d/e/f', 'deep', 0o755), { type: 'symlink', path: 'link', target: 'd/e/f' }]
  files.put('/work', entries)
  t.same(files.get('/work', ['d/e/f', 'link', 'd', 'missing'], 100), [entries[1], entries[2]])
  t.equal(Buffer.from(files.read('/work/link') ?? []).toString(), 'deep')
  t.match(files.manifest('/work', 10), new Map([
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
    t.throws(() => files.put('/work', [file('good'), entry]), { code: 'FILE_REFUSED' }, JSON.stringify(entry))
    t.equal(files.find('/work/good'), undefined)
  }
})

t.test('absent removes what is there, a tree too, and is content when nothing is', async t => {
  const files = start([file('d/a'), file('d/b'), file('keep')])
  files.put('/work', [{ type: 'absent', path: 'd' }, { type: 'absent', path: 'never' }])
  t.same(files.list('/work'), ['keep'])
})

t.test('a file takes the place of a tree, and a link is replaced, not followed', async t => {
  const files = start([file('d/a'), { type: 'symlink', path: 'l', target: 'kept' }, file('kept', 'old')])
  files.put('/work', [file('d', 'now a file'), file('l', 'new')])
  t.equal(Buffer.from(files.read('/work/d') ?? []).toString(), 'now a file')
  t.equal(Buffer.from(files.read('/work/kept') ?? []).toString(), 'old')
})

t.test('caps refuse', async t => {
  const files = start([file('a', 'aaaa'), file('b', 'bbbb')])
  t.throws(() => files.get('/work', ['a', 'b'], 7), { code: 'FILE_REFUSED' })
  t.equal(files.get('/work', ['a', 'b'], 8).length, 2)
  t.throws(() => files.manifest('/work', 1), { code: 'FILE_REFUSED' })
  t.throws(() => files.get('/work', ['../x'], 1), { code: 'FILE_REFUSED' })
})

t.test('what is no file is seen, and never read', async t => {
  const files = start()
  files.place('/work/pipe', { type: 'other', what: 'FIFO' })
  t.match(files.manifest('/work', 9).get('pipe'), { type: 'other', what: 'FIFO' })
  t.same(files.get('/work', ['pipe'], 100), [])
  t.equal(files.write('/work/pipe', Buffer.from('x')), false)
  t.equal(files.write('/work/none/x', Buffer.from('x')), false)
  files.place('/work/loop', { type: 'symlink', target: 'loop' })
  t.equal(files.read('/work/loop'), undefined)
})
