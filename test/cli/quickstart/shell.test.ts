import { execFile } from 'node:child_process'
import { lstat, readFile, readlink } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { quote, writeCommands } from '../../../src/cli/quickstart/shell.ts'
import type { FileEntry } from '../../../src/sandbox/files.ts'

const file = (path: string, content: string | Uint8Array, mode = 0o644): FileEntry =>
  ({ type: 'file', path, mode, content: Buffer.from(content) })

t.test('a real shell that runs the commands has the very same files', async t => {
  const directory = t.testdir({ old: 'goes away' })
  const entries: FileEntry[] = [
    { type: 'directory', path: "a dir's", mode: 0o755 },
    file("a dir's/$HOME `x`.py", 'print("$HOME \\ `id`")\n\n'),
    file('no newline', 'end'),
    file('empty', ''),
    file('delimiter', 'END_OF_FILE\nmore\n'),
    file('binary', Buffer.from([0, 255, 10, 13, 128])),
    file('wide', Buffer.alloc(57 * 4, 'x')),
    file('run.sh', '#!/bin/sh\n', 0o755),
    { type: 'symlink', path: 'link', target: 'run.sh' },
    { type: 'absent', path: 'old' },
  ]
  for (const command of writeCommands(entries)) await promisify(execFile)('bash', ['-c', command], { cwd: directory })
  for (const entry of entries) {
    if (entry.type === 'file') {
      t.ok(Buffer.from(entry.content).equals(await readFile(join(directory, entry.path))), entry.path)
      t.equal((await lstat(join(directory, entry.path))).mode & 0o777, entry.mode)
    }
  }
  t.equal(await readlink(join(directory, 'link')), 'run.sh')
  await t.rejects(lstat(join(directory, 'old')), { code: 'ENOENT' })
})

t.test('a large tree is written by several commands', async t => {
  const commands = writeCommands(Array.from({ length: 10 }, (_, index) => file(`f${index}`, `${'x'.repeat(400)}\n`)), 1000)
  t.equal(commands.length, 5)
  t.ok(commands.every(command => command.startsWith('set -e\n')))
  t.same(writeCommands([]), [])
})

t.test('a quoted word is one word to a shell, whatever is in it', async t => {
  const { stdout } = await promisify(execFile)('sh', ['-c', `printf %s ${quote("it's $(id) \"x\"\n*")}`])
  t.equal(stdout, "it's $(id) \"x\"\n*")
})
