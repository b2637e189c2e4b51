import { open } from 'node:fs/promises'
import { isAbsolute, join } from 'node:path'
import t from 'tap'
import { ensureWarden } from '../../../src/cli/setup/warden.ts'

await t.test('the warden is compiled once per content of its sources, into the data directory', async t => {
  const dataDir = join(t.testdir({}), 'data')
  const said: string[] = []
  const say = (line: string): void => { said.push(line) }
  const path = await ensureWarden({ dataDir, say })
  t.ok(isAbsolute(path) && path.startsWith(dataDir))
  t.match(path, /warden-[0-9a-f]{16}\/warden$/)
  await using file = await open(path)
  const { buffer } = await file.read(Buffer.alloc(4), 0, 4, 0)
  t.equal(buffer.toString('latin1'), '\x7fELF')
  t.equal((await file.stat()).mode & 0o111, 0o111)
  t.equal(await ensureWarden({ dataDir, say }), path)
  t.same(said, ['compiling the warden'])
})

await t.test('two that compile at once get the same whole program', async t => {
  const dataDir = t.testdir({})
  const paths = await Promise.all([1, 2].map(() => ensureWarden({ dataDir, say: () => {} })))
  t.equal(paths[0], paths[1])
})
