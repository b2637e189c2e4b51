// Telling whether the process behind a boot id still runs.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import t from 'tap'
import { createBootId, findBootState } from '../../src/base/boot.ts'

t.test('this process is running under its own boot id', async t => {
  t.equal(createBootId(), createBootId(), 'and it has one')
  t.equal(findBootState(createBootId()), 'running')
})

t.test('a process that has ended is ended, also when its pid is another\'s now', async t => {
  const child = spawn(process.execPath, ['-e', 'process.stdin.resume()'], { stdio: ['pipe', 'ignore', 'ignore'] })
  await once(child, 'spawn')
  const boot = createBootId(child.pid)
  t.equal(findBootState(boot), 'running')
  child.stdin.end()
  await once(child, 'exit')
  t.equal(findBootState(boot), 'ended')
  const [machine, , started] = createBootId().split('-')
  t.equal(findBootState(`${machine}-${process.pid}-${Number(started) - 1}`), 'ended', 'same pid, started at another time')
})

t.test('of another machine, or of what is no boot id, nothing can be told', async t => {
  const [machine, pid, started] = createBootId().split('-')
  const foreign = [`000000000000-${pid}-${started}`, '', 'boot', `${machine}-x-1`, `${machine}-1`, `${machine}-1-2-3`, `${machine}-../1-2`]
  for (const boot of foreign) t.equal(findBootState(boot), 'elsewhere', boot)
})
