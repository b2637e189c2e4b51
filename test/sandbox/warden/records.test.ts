import t from 'tap'
import { fields } from '../../../src/sandbox/warden/fields.ts'
import { checkEnd, decodeFiles, decodeManifest, encodeEntries, encodeFileRequest, encodePaths } from '../../../src/sandbox/warden/records.ts'
import { chance } from './support/random.ts'

const hashed = Buffer.alloc(40)
const END = record(255, 0, '', '')
const asked = { asked: ['a', 'b'], maxBytes: 10 }

await t.test('files come in parts and are joined', async t => {
  const bytes = Buffer.concat([record(1, 0o644, 'a', ''), record(7, 0, '', 'he'), record(7, 0, '', 'llo'), record(3, 0o777, 'b', 'a'), END])
  t.same(decodeFiles(bytes, asked), [
    { type: 'file', path: 'a', mode: 0o644, content: Buffer.from('hello') },
    { type: 'symlink', path: 'b', target: 'a' },
  ])
})

await t.test('what was not asked for, comes twice or is of no known type is a fault', async t => {
  for (const records of [
    [record(1, 0o644, 'c', '')],
    [record(1, 0o644, 'a', ''), record(1, 0o644, 'a', '')],
    [record(7, 0, '', 'x')],
    [record(2, 0o755, 'a', '')],
    [record(1, 0o644, Buffer.from([0xff]), '')],
  ]) t.throws(() => decodeFiles(Buffer.concat([...records, END]), asked), { code: 'WARDEN_FAULT' })
})

await t.test('bytes beyond the cap, targets outside and odd modes are refused', async t => {
  for (const records of [
    [record(1, 0o644, 'a', ''), record(7, 0, '', 'x'.repeat(11))],
    [record(3, 0o777, 'a', '/etc/passwd')],
    [record(3, 0o777, 'a', '../up')],
    [record(1, 0o4755, 'a', '')],
  ]) t.throws(() => decodeFiles(Buffer.concat([...records, END]), asked), { code: 'FILE_REFUSED' })
})

await t.test('a manifest keeps what each kind of entry says', async t => {
  const hash = Buffer.concat([fields([5, 8]), Buffer.alloc(32, 0xab)])
  const manifest = decodeManifest(Buffer.concat([
    record(2, 0o755, 'd', ''), record(6, 0o600, 'd/f', hash), record(3, 0o777, 'l', '/usr/bin/python3'),
    record(4, 0, 'p', 'FIFO'), record(4, 0, Buffer.from([0x66, 0xff]), 'x'), END,
  ]), { maxEntries: 10 })
  t.same([...manifest.values()], [
    { type: 'directory', path: 'd', mode: 0o755 },
    { type: 'file', path: 'd/f', mode: 0o600, sizeBytes: 5, sha256: 'ab'.repeat(32) },
    { type: 'symlink', path: 'l', target: '/usr/bin/python3' },
    { type: 'other', path: 'p', what: 'FIFO' },
    { type: 'other', path: 'f\ufffd', what: 'file whose name is not UTF-8' },
  ])
})

await t.test('a manifest with bad paths, doubles or too many entries does not pass', async t => {
  t.throws(() => decodeManifest(Buffer.concat([record(2, 0o755, '../d', ''), END]), { maxEntries: 10 }), { code: 'FILE_REFUSED' })
  t.throws(() => decodeManifest(Buffer.concat([record(2, 0o755, 'd', ''), record(2, 0o755, 'd', ''), END]), { maxEntries: 10 }), { code: 'WARDEN_FAULT' })
  t.throws(() => decodeManifest(Buffer.concat([record(2, 0o755, 'd', ''), record(2, 0o755, 'e', ''), END]), { maxEntries: 1 }), { code: 'FILE_REFUSED' })
})

await t.test('a refusal of the sandbox is thrown with its words, and nothing may follow an end', async t => {
  t.throws(() => checkEnd(record(255, 1, '', 'no space')), { code: 'FILE_REFUSED', message: /no space/ })
  t.throws(() => checkEnd(Buffer.concat([END, END])), { code: 'WARDEN_FAULT' })
  t.throws(() => checkEnd(Buffer.concat([record(1, 0, 'a', ''), END])), { code: 'WARDEN_FAULT' })
  t.doesNotThrow(() => checkEnd(END))
})

await t.test('no bytes at all make a decoder throw anything but a typed error', async t => {
  const good = Buffer.concat([record(2, 0o755, 'a', ''), record(3, 0o777, 'b', 'a'), END])
  for (let seed = 1; seed <= 3000; seed++) {
    const random = chance(seed)
    const bytes = Buffer.from(good)
    for (let i = random.below(4); i >= 0; i--) bytes[random.below(bytes.length)] = random.below(256)
    const manifest = (): unknown => decodeManifest(bytes, { maxEntries: 10 })
    for (const decode of [() => decodeFiles(bytes, asked), manifest, () => checkEnd(bytes)]) {
      try {
        decode()
      } catch (error) {
        const { code } = error as { code?: unknown }
        if (code !== 'WARDEN_FAULT' && code !== 'FILE_REFUSED') t.fail(`seed ${seed}: ${String(error)}`)
      }
    }
  }
})

await t.test('what breaks the rules is refused before anything is sent', async t => {
  const content = Buffer.from('x')
  t.throws(() => encodeEntries([{ type: 'file', path: '../x', mode: 0o644, content }], { maxBytes: 100 }), { code: 'FILE_REFUSED' })
  t.throws(() => encodeEntries([{ type: 'file', path: 'x', mode: 0o4755, content }], { maxBytes: 100 }), { code: 'FILE_REFUSED' })
  t.throws(() => encodeEntries([{ type: 'file', path: 'x', mode: 0o644, content: Buffer.alloc(101) }], { maxBytes: 100 }), { code: 'FILE_REFUSED' })
  t.throws(() => encodeEntries([{ type: 'symlink', path: 'x', target: '../..' }], { maxBytes: 100 }), { code: 'FILE_REFUSED' })
  t.throws(() => encodePaths(['/abs']), { code: 'FILE_REFUSED' })
  for (const root of ['relative', '/a/../b', '/a\0b', `/${'x'.repeat(5000)}`]) {
    t.throws(() => encodeFileRequest({ root, timeoutMs: 1000 }), { code: 'FILE_REFUSED' })
  }
})

function record (type: number, mode: number, ...rest: [path: string | Buffer, data: string | Buffer]): Buffer {
  const [name, data] = [Buffer.from(rest[0]), Buffer.from(rest[1])]
  return Buffer.concat([fields([type, 2], [mode, 2], [name.length, 4], [data.length, 8]), name, data])
}

await t.test('a name that is not UTF-8 stays what may not cross, beside one that reads like it', async t => {
  const strange = record(6, 0o644, Buffer.from([0xff]), hashed)
  const plain = record(6, 0o644, '\ufffd', hashed)
  for (const order of [[strange, plain], [plain, strange]]) {
    const manifest = decodeManifest(Buffer.concat([...order, END]), { maxEntries: 10 })
    t.match(manifest.get('\ufffd'), { type: 'other', what: /not UTF-8/ })
  }
})
