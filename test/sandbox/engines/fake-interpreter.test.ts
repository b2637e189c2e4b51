import t from 'tap'
import { systemClock } from '../../../src/base/clock.ts'
import { FakeFiles } from '../../../src/sandbox/engines/fake-files.ts'
import { interpret, type FakeRoom } from '../../../src/sandbox/engines/fake-interpreter.ts'

async function run (script: string, files = new FakeFiles(['/desk'], { root: '/desk', entries: [] })) {
  const streams = { stdout: '', stderr: '' }
  const room: FakeRoom = {
    files,
    state: { cwd: '/desk', env: { WHO: 'me' } },
    running: { ended: new Promise(() => {}), isOver: false, end () {} },
    clock: systemClock,
    write: (stream, bytes) => { streams[stream] += Buffer.from(bytes).toString() },
    fail () {},
  }
  const ending = await interpret({ script, timeoutMs: 1000, outputBytes: 1000 }, room)
  return { ending, ...streams, state: room.state, files }
}

const exited = (exitCode: number) => ({ kind: 'exited', exitCode })

t.test('the status is that of the last command that ran', async t => {
  const table: Array<[string, number, string]> = [
    ['', 0, ''],
    ['true', 0, ''],
    ['false', 1, ''],
    ['false; echo a', 0, 'a\n'],
    ['false && echo a', 1, ''],
    ['false || echo a', 0, 'a\n'],
    ['true && false || echo a && echo b', 0, 'a\nb\n'],
    ['echo a; exit 7; echo b', 7, 'a\n'],
    ['exit 256', 0, ''],
    ['nothing-like-it', 127, ''],
  ]
  for (const [script, code, stdout] of table) t.match(await run(script), { ending: exited(code), stdout }, script)
})

t.test('what does not exist, or does not end, is said on stderr', async t => {
  t.match(await run('frobnicate'), { stderr: 'sh: frobnicate: command not found\n' })
  t.match(await run('echo "a'), { ending: exited(2), stderr: /quote is not closed/ })
})

t.test('a command may end by a signal', async t => {
  t.match(await run('echo a; die SIGSEGV; echo b'), { ending: { kind: 'signalled', signal: 'SIGSEGV' }, stdout: 'a\n' })
})

t.test('output goes where it is sent', async t => {
  const { files } = await run('echo one > f; echo two >> f; cat missing 2> err; echo out > both 2>&1')
  const text = (path: string): string => Buffer.from(files.read(path) ?? []).toString()
  t.equal(text('/desk/f'), 'one\ntwo\n')
  t.match(text('/desk/err'), /No such file/)
  t.match(await run('echo a >&2'), { stdout: '', stderr: 'a\n' })
  t.match(await run('echo a > none/f'), { ending: exited(1), stderr: /cannot be written/ })
})

t.test('assignments alone change the shell', async t => {
  t.match(await run('X=5; echo a'), { state: { env: { X: '5', WHO: 'me' } } })
})
