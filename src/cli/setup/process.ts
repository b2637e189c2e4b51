// Child processes of the set-up: a deadline and a signal on each, their group ended with them, the last output in the error.
import { spawn, type ChildProcess } from 'node:child_process'
import { systemClock } from '../../base/clock.ts'
import { deadline, orAbort } from '../../base/deadline.ts'
import { AssayError, type ErrorCode } from '../../errors.ts'

export interface ProcessOptions {
  signal?: AbortSignal | undefined
  timeoutMs: number
  /** On top of our own environment. */
  env?: Record<string, string> | undefined
  /** The error when it fails; default ENGINE_FAULT. */
  code?: ErrorCode | undefined
}

/**
 * Runs a program to its end and returns its stdout, up to 1 MiB.
 * Throws with the last lines of its stderr when it fails; when it is too slow or the signal aborts, its whole group is ended first.
 */
export async function runProcess (program: string, args: readonly string[], options: ProcessOptions): Promise<string> {
  const { signal, timeoutMs, env = {}, code = 'ENGINE_FAULT' } = options
  using limit = deadline(timeoutMs, { parent: signal, code, what: program })
  limit.signal.throwIfAborted()
  const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`)
  // its own process group: apt and mmdebstrap have children that must end with them, and Ctrl-C must reach them through us
  const child = spawn('env', [...variables, program, ...args], { detached: true, stdio: ['ignore', 'pipe', 'pipe'] })
  const stdout = keep(child.stdout, text => text.slice(0, MAX_CHARS))
  const stderr = keep(child.stderr, text => text.slice(-TAIL_CHARS))
  const exited = untilExit(child)
  try {
    const exit = await orAbort(exited, limit.signal)
    await settle(child)
    if (exit === 0) return stdout()
    throw new AssayError(code, { message: `${[program, ...args].join(' ').slice(0, 300)} failed (${exit}):\n${lastLines(stderr())}` })
  } catch (error) {
    if (limit.signal.aborted) await endGroup(child, exited)
    throw error
  } finally {
    // a daemon that it started may hold the other ends for ever
    child.stdout.destroy()
    child.stderr.destroy()
  }
}

/** Whether a program is on the PATH. */
export async function hasProgram (name: string, signal?: AbortSignal): Promise<boolean> {
  try {
    await runProcess('sh', ['-c', 'command -v "$1"', 'sh', name], { timeoutMs: 5_000, signal })
    return true
  } catch (error) {
    signal?.throwIfAborted()
    if (error instanceof AssayError) return false
    throw error
  }
}

function keep (stream: NodeJS.ReadableStream, bound: (text: string) => string): () => string {
  let text = ''
  stream.setEncoding('utf8')
  stream.on('data', (chunk: string) => { text = bound(text + chunk) })
  return () => text
}

function untilExit (child: ChildProcess): Promise<number | string> {
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', (exitCode, signalName) => resolve(exitCode ?? signalName ?? 'unknown'))
  })
}

/** What a process wrote before it ended is still in the pipe; what its daemons write later is not waited for. */
async function settle (child: ChildProcess): Promise<void> {
  await Promise.race([
    new Promise(resolve => { child.once('close', resolve) }),
    new Promise(resolve => { systemClock.after(DRAIN_MS, () => resolve(undefined)) }),
  ])
}

/** TERM so that it can tidy up, then KILL. */
async function endGroup (child: ChildProcess, exited: Promise<unknown>): Promise<void> {
  for (const [name, graceMs] of [['SIGTERM', TERM_MS], ['SIGKILL', KILL_MS]] as const) {
    if (child.pid === undefined) return
    try {
      process.kill(-child.pid, name)
      using grace = deadline(graceMs)
      await orAbort(exited, grace.signal)
      return
    } catch {
      // no such group, or the grace is over: the next signal, or nothing more to do
    }
  }
}

function lastLines (text: string): string {
  return text.trim().split('\n').slice(-12).join('\n')
}

const TAIL_CHARS = 16 * 1024
const MAX_CHARS = 1024 * 1024
const DRAIN_MS = 500
const TERM_MS = 20_000
const KILL_MS = 2_000
