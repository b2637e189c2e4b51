import { chmod, mkdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { extract } from 'tar-stream'
import t from 'tap'
import { hashContext, packContext, readContext } from '../../../src/sandbox/images/context.ts'

await t.test('files, modes, directories and symlinks are read in a fixed order and packed', async t => {
  const directory = t.testdir({ Dockerfile: 'FROM x', src: { 'b.py': 'b', 'a.py': 'a' } })
  await mkdir(join(directory, 'empty'))
  await symlink('src/a.py', join(directory, 'link'))
  await chmod(join(directory, 'src/a.py'), 0o755)
  await chmod(join(directory, 'src/b.py'), 0o644)
  const entries = await readContext(directory)
  t.same(entries.map(({ path }) => path), ['Dockerfile', 'empty', 'link', 'src', 'src/a.py', 'src/b.py'])
  const packed: Array<{ name: string, type: unknown, mode: number | undefined, text: string }> = []
  const tar = extract()
  packContext(entries).pipe(tar)
  for await (const entry of tar) {
    const chunks: Buffer[] = []
    for await (const chunk of entry) chunks.push(chunk as Buffer)
    const { name, type, mode } = entry.header
    packed.push({ name, type, mode, text: Buffer.concat(chunks).toString() })
  }
  t.match(packed.find(({ name }) => name === 'src/a.py'), { type: 'file', mode: 0o755, text: 'a' })
  t.match(packed.find(({ name }) => name === 'link'), { type: 'symlink' })
  t.equal(packed.length, 6)
})

await t.test('the hash changes with content, name, mode, target of a link and anything extra, and with nothing else', async t => {
  type Change = (directory: string) => Promise<void>
  const hash = async (change: Change = async () => {}, extra: string[] = []): Promise<string> => {
    const directory = t.testdir({ Dockerfile: 'FROM x', a: 'one', b: 'two' })
    await chmod(join(directory, 'a'), 0o644)
    await symlink('a', join(directory, 'l'))
    await change(directory)
    return hashContext(await readContext(directory), extra)
  }
  const plain = await hash()
  t.match(plain, /^[0-9a-f]{32}$/)
  t.equal(await hash(), plain)
  const others = [
    await hash(directory => writeFile(join(directory, 'a'), 'onf')),
    await hash(directory => chmod(join(directory, 'a'), 0o755)),
    await hash(directory => writeFile(join(directory, 'c'), '')),
    await hash(directory => symlink('b', join(directory, 'm'))),
    await hash(async () => {}, ['stage']),
    await hash(async () => {}, ['sta', 'ge']),
  ]
  t.equal(new Set([plain, ...others]).size, others.length + 1)
})

await t.test('a directory that is not there is an error', async t => {
  await t.rejects(readContext('/no/such/directory'), { code: 'ENOENT' })
})
