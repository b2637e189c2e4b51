import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { hasProgram, runProcess } from '../../../src/cli/setup/process.ts'

await t.test('the output comes back, with the variables that were added', async t => {
  t.equal(await runProcess('sh', ['-c', 'printf "%s %s" "$WORD" "$1"', 'sh', 'a b'], { timeoutMs: 5_000, env: { WORD: 'x=y' } }), 'x=y a b')
})

await t.test('a failure says what was run and what it complained about', async t => {
  const failing = runProcess('sh', ['-c', 'echo out; echo went wrong >&2; exit 3'], { timeoutMs: 5_000, code: 'IMAGE_UNAVAILABLE' })
  await t.rejects(failing, { code: 'IMAGE_UNAVAILABLE', message: /^sh -c .* failed \(3\):\nwent wrong$/s })
  await t.rejects(runProcess('no-such-program', [], { timeoutMs: 5_000 }), { message: /no-such-program/ })
})

await t.test('a process that is too slow is ended with its children', async t => {
  const pids = join(t.testdir({}), 'pids')
  const script = 'sleep 60 & echo $! $$ > "$1.new"; mv "$1.new" "$1"; wait'
  const controller = new AbortController()
  const running = runProcess('sh', ['-c', script, 'sh', pids], { timeoutMs: 60_000, signal: controller.signal })
  const rejected = t.rejects(running, { message: 'Ctrl-C' })
  const written = await until(() => readFile(pids, 'utf8').catch(() => undefined))
  controller.abort(new Error('Ctrl-C'))
  await rejected
  for (const pid of written.trim().split(' ')) {
    await until(() => Promise.resolve(isRunning(Number(pid)) ? undefined : true))
    t.notOk(isRunning(Number(pid)), `${pid} is gone`)
  }
  await t.rejects(runProcess('sleep', ['60'], { timeoutMs: 50 }), { code: 'ENGINE_FAULT', message: /sleep took longer than 50 ms/ })
})

await t.test('a daemon that a program leaves behind with its output open is not waited for', async t => {
  const pid = await runProcess('sh', ['-c', 'sleep 60 & echo $!'], { timeoutMs: 10_000 })
  t.ok(isRunning(Number(pid)))
  process.kill(Number(pid))
})

await t.test('programs are found by name', async t => {
  t.ok(await hasProgram('sh'))
  t.notOk(await hasProgram('no-such-program'))
  await t.rejects(hasProgram('sh', AbortSignal.abort(new Error('gone'))), { message: 'gone' })
})

function isRunning (pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false // no such process
  }
}

/** The first value that is not undefined; fails after ten seconds. */
async function until<T> (look: () => Promise<T | undefined>): Promise<T> {
  const end = Date.now() + 10_000
  for (;;) {
    const value = await look()
    if (value !== undefined) return value
    if (Date.now() > end) throw new Error('the condition did not come true')
    await new Promise(resolve => setImmediate(resolve))
  }
}
