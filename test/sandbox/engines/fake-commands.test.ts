import t from 'tap'
import { findFakeCommand, type FakeConsole } from '../../../src/sandbox/engines/fake-commands.ts'
import { FakeFiles } from '../../../src/sandbox/engines/fake-files.ts'

function start () {
  const said = { out: '', err: '', failed: '' }
  const shell: FakeConsole = {
    files: new FakeFiles(['/desk', '/tmp'], { root: '/desk', entries: [] }),
    state: { cwd: '/desk', env: { A: '1' } },
    stdin: Buffer.from('from stdin'),
    out: bytes => { said.out += Buffer.from(bytes).toString() },
    err: text => { said.err += text },
    sleep: async ms => ms < 100,
    fail: kind => { said.failed = kind },
  }
  const run = async (name: string, ...words: string[]) => await findFakeCommand(name)?.(words, shell)
  return { said, shell, run }
}

t.test('names are commands, and nothing else is', async t => {
  t.ok(findFakeCommand('echo'))
  for (const name of ['python', 'constructor', 'toString', '']) t.equal(findFakeCommand(name), undefined)
})

t.test('statuses', async t => {
  const { run } = start()
  t.same([await run('true'), await run('/bin/true'), await run(':'), await run('false')], [0, 0, 0, 1])
  t.same([await run('exit'), await run('exit', '300'), await run('die'), await run('die', 'SIGTERM')], [{ exit: 0 }, { exit: 44 }, { signal: 'SIGKILL' }, { signal: 'SIGTERM' }])
  t.same([await run('sleep', '5'), await run('sleep', '500')], [0, 1])
})

t.test('printing', async t => {
  const { run, said } = start()
  await run('echo', 'a', 'b')
  await run('echo', '-n', 'c')
  await run('bytes', '3')
  await run('pwd')
  await run('env')
  await run('cat')
  t.equal(said.out, 'a b\ncxxx/desk\nA=1\nfrom stdin')
})

t.test('files', async t => {
  const { run, said } = start()
  t.equal(await run('write', 'f', 'two', 'words'), 0)
  t.equal(await run('write', 'none/f', 'x'), 1)
  t.equal(await run('cat', 'f', 'missing'), 1)
  t.equal(said.out, 'two words')
  t.match(said.err, /cat: missing: No such file/)
  said.out = ''
  await run('mkdir', '-p', 'd/e')
  await run('symlink', 'f', 'link')
  await run('mkfifo', 'pipe')
  await run('ls')
  t.equal(said.out, 'd\nf\nlink\npipe\n')
  t.equal(await run('rm', '-rf', 'd', 'nothing'), 0)
  t.equal(await run('rm', 'nothing'), 1)
})

t.test('the shell', async t => {
  const { run, shell } = start()
  t.equal(await run('cd', '/tmp'), 0)
  t.equal(await run('cd', 'nowhere'), 1)
  t.equal(shell.state.cwd, '/tmp')
  await run('export', 'B=2=3', 'A')
  t.same(shell.state.env, { A: '1', B: '2=3' })
})

t.test('the sandbox may be made to fail', async t => {
  const { run, said } = start()
  await run('fail-sandbox')
  t.equal(said.failed, 'inside')
  await run('fail-sandbox', 'engine')
  t.equal(said.failed, 'engine')
})
