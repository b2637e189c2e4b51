import t from 'tap'
import type { Command, Ran } from '../../../src/sandbox/command.ts'
import type { OutputChunk, Sandbox } from '../../../src/sandbox/engine.ts'
import type { FakeEngineOptions } from '../../../src/sandbox/engines/fake.ts'
import { makeEngine, makeSpec } from '../../helpers/fake.ts'

const alive = setInterval(() => {}, 60_000)
t.teardown(() => clearInterval(alive))

const create = async (options: Partial<FakeEngineOptions> = {}): Promise<Sandbox> => await makeEngine(options).create({ ...makeSpec(), env: { HOME: '/root' } })
const command = (script: string, changes: Partial<Command> = {}): Command =>
  ({ script, timeoutMs: 5000, outputBytes: 1000, ...changes })
const out = ({ stdout }: Ran): string => Buffer.from(stdout.bytes).toString()

t.test('directory and exported variables carry over; what was set for one command does not', async t => {
  const sandbox = await create()
  await sandbox.run(command('mkdir -p a/b; cd a/b; export X=1'))
  t.equal(out(await sandbox.run(command('pwd; echo $X $HOME'))), '/desk/a/b\n1 /root\n')
  t.match(await sandbox.run(command('pwd; echo $Y; cd ..', { cwd: '/tmp', env: { Y: '2', X: '9' } })), { cwd: '/' })
  t.equal(out(await sandbox.run(command('echo $X-$Y'))), '1-\n')
  t.equal((await sandbox.run(command('true', { cwd: '/tmp' }))).cwd, '/')
})

t.test('an isolated command starts from the image and leaves nothing', async t => {
  const sandbox = await create()
  await sandbox.run(command('cd /tmp; export X=1'))
  const isolated = await sandbox.run(command('pwd; echo [$X]; cd /; export X=2', { isolated: true }))
  t.equal(out(isolated), '/desk\n[]\n')
  t.equal(out(await sandbox.run(command('pwd; echo $X'))), '/tmp\n1\n')
})

t.test('a time limit, a signal and a kill end a command, and nothing after the end happens', async t => {
  const sandbox = await create()
  t.match(await sandbox.run(command('echo a; sleep 4000; echo b', { timeoutMs: 10 })), { ending: { kind: 'timedOut' }, stdout: { bytes: Buffer.from('a\n') } })
  const stop = new AbortController()
  const cancelled = sandbox.run(command('sleep 4000; write late x'), { signal: stop.signal })
  stop.abort()
  t.match(await cancelled, { ending: { kind: 'cancelled' } })
  t.match(await sandbox.run(command('true'), { signal: AbortSignal.abort() }), { ending: { kind: 'cancelled' } })
  const killed = sandbox.run(command('sleep 4000; write late x'))
  await sandbox.killAll()
  t.match(await killed, { ending: { kind: 'signalled', signal: 'SIGKILL' } })
  t.equal((await sandbox.manifest('/desk', { maxEntries: 10 })).size, 0)
})

t.test('one command at a time', async t => {
  const sandbox = await create()
  const first = sandbox.run(command('sleep 20'))
  await t.rejects(sandbox.run(command('true')), { code: 'WARDEN_FAULT' })
  t.match(await first, { ending: { exitCode: 0 } })
  t.match(await sandbox.run(command('true')), { ending: { exitCode: 0 } })
})

t.test('output is told as it comes, kept head and tail, merged on request', async t => {
  const sandbox = await create()
  const chunks: OutputChunk[] = []
  await sandbox.run(command('echo a; echo b >&2; echo c'), { onOutput: chunk => chunks.push(chunk) })
  t.same(chunks.map(({ stream, offset, bytes }) => [stream, offset, Buffer.from(bytes).toString()]), [['stdout', 0, 'a\n'], ['stderr', 0, 'b\n'], ['stdout', 2, 'c\n']])
  const merged = await sandbox.run(command('echo a; echo b >&2; echo c', { merge: true }))
  t.equal(out(merged), 'a\nb\nc\n')
  t.equal(merged.stderr.bytes.length, 0)
  const capped = await sandbox.run(command('echo -n 123; bytes 10; echo -n 789', { outputBytes: 5 }))
  t.match(capped.stdout, { headBytes: 3, droppedBytes: 11 })
  t.equal(out(capped), '12389')
})

t.test('a lost sandbox answers nothing any more, not even what it had begun', async t => {
  const sandbox = await create()
  await t.rejects(sandbox.run(command('echo shown; fail-sandbox outside')), { code: 'SANDBOX_LOST' })
  t.match(await sandbox.lost, { kind: 'outside' })
  const calls: Array<() => Promise<unknown>> = [
    () => sandbox.run(command('true')),
    () => sandbox.put('/desk', []),
    () => sandbox.get('/desk', [], { maxBytes: 1 }),
    () => sandbox.manifest('/desk', { maxEntries: 1 }),
    () => sandbox.killAll(),
  ]
  for (const call of calls) await t.rejects(call(), { code: 'SANDBOX_LOST' })
})

t.test('a script may answer instead of the interpreter', async t => {
  const sandbox = await create({ script: ({ script }) => script.startsWith('python') ? { exitCode: 2, stdout: 'hello', stderr: 'oh' } : undefined })
  t.match(await sandbox.run(command('python x.py')), { ending: { exitCode: 2 }, stdout: { bytes: Buffer.from('hello') }, stderr: { bytes: Buffer.from('oh') } })
  t.match(await sandbox.run(command('exit 3')), { ending: { exitCode: 3 } })
})
