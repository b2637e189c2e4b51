// Runs one script of the tiny command language. Knows a shell's state and files, nothing of the sandbox around them.
import path from 'node:path/posix'
import { utf8 } from '../../base/bytes.ts'
import type { Clock } from '../../base/clock.ts'
import type { Command, Ending } from '../command.ts'
import type { SandboxLoss } from '../engine.ts'
import { findFakeCommand, type FakeConsole, type FakeShellState, type FakeStatus } from './fake-commands.ts'
import type { FakeFiles } from './fake-files.ts'
import { parseScript, type SimpleCommand } from './fake-shell.ts'

/** The command as it runs; whoever ends it first decides how it ended. */
export interface FakeRunning {
  readonly ended: Promise<Ending>
  isOver: boolean
  end (ending: Ending): void
}

export interface FakeRoom {
  files: FakeFiles
  /** Changed by the script. */
  state: FakeShellState
  running: FakeRunning
  clock: Clock
  write: (stream: 'stdout' | 'stderr', bytes: Uint8Array) => void
  /** The sandbox is lost from now on. */
  fail: (kind: SandboxLoss['kind']) => void
}

export async function interpret ({ script, timeoutMs, stdin }: Command, room: FakeRoom): Promise<Ending> {
  let status = 0
  const lookup = (name: string): string => name === '?' ? String(status) : room.state.env[name] ?? ''
  const commands = parseScript(script, lookup)
  if (commands === undefined) {
    room.write('stderr', utf8('sh: unexpected end of text: a quote is not closed\n'))
    return { kind: 'exited', exitCode: 2 }
  }
  const input = { stdin: stdin ?? new Uint8Array(), deadlineAt: room.clock.monotonic() + timeoutMs }
  for (const one of commands) {
    if (room.running.isOver) break
    if ((one.join === 'and' && status !== 0) || (one.join === 'or' && status === 0)) continue
    const result = await runOne(one, room, input)
    if (typeof result === 'number') status = result
    else if ('signal' in result) return { kind: 'signalled', signal: result.signal }
    else return { kind: 'exited', exitCode: result.exit }
  }
  return { kind: 'exited', exitCode: status }
}

interface Input { stdin: Uint8Array, /** Monotonic milliseconds. */ deadlineAt: number }

async function runOne (one: SimpleCommand, room: FakeRoom, input: Input): Promise<FakeStatus> {
  const redirected = openFiles(one, room)
  const shell = consoleOf(one, room, { ...input, redirected })
  const [name, ...words] = one.words
  if (name === undefined) {
    Object.assign(room.state.env, one.assignments)
    return saveFiles(redirected, shell, 0)
  }
  const run = findFakeCommand(name)
  if (run === undefined) shell.err(`sh: ${name}: command not found\n`)
  return saveFiles(redirected, shell, run === undefined ? 127 : await run(words, shell))
}

type Redirected = Map<1 | 2, { file: string, parts: Uint8Array[] }>

interface ConsoleInput extends Input { redirected: Redirected }

function consoleOf (one: SimpleCommand, room: FakeRoom, { stdin, deadlineAt, redirected }: ConsoleInput): FakeConsole {
  const { files, state, running, clock, write, fail } = room
  const isCrossed = (fd: 1 | 2): boolean => one.redirections.some(each => each.fd === fd && each.path === undefined)
  const put = (fd: 1 | 2, bytes: Uint8Array): void => {
    const file = redirected.get(fd)
    if (file !== undefined) file.parts.push(bytes)
    else write((fd === 1) === isCrossed(fd) ? 'stderr' : 'stdout', bytes)
  }
  return {
    files,
    state,
    stdin,
    out: bytes => put(1, bytes),
    err: text => put(2, utf8(text)),
    fail,
    async sleep (ms) {
      const leftMs = deadlineAt - clock.monotonic()
      await sleepUntil(clock, Math.min(ms, leftMs), running)
      if (!running.isOver && ms >= leftMs) running.end({ kind: 'timedOut' })
      return !running.isOver
    },
  }
}

function openFiles ({ redirections }: SimpleCommand, { files, state }: FakeRoom): Redirected {
  const redirected: Redirected = new Map()
  for (const { fd, isAppend, path: name } of redirections) {
    if (name === undefined) continue
    const file = path.resolve(state.cwd, name)
    const kept = isAppend ? files.read(file) : undefined
    redirected.set(fd, { file, parts: kept === undefined ? [] : [kept] })
  }
  return redirected
}

function saveFiles (redirected: Redirected, shell: FakeConsole, status: FakeStatus): FakeStatus {
  for (const { file, parts } of redirected.values()) {
    if (shell.files.write(file, Buffer.concat(parts))) continue
    shell.err(`sh: ${file}: cannot be written\n`)
    return 1
  }
  return status
}

/** Resolves after ms or once the command is ended. */
async function sleepUntil (clock: Clock, ms: number, running: FakeRunning): Promise<void> {
  await new Promise<void>(resolve => {
    const cancel = clock.after(Math.max(0, ms), resolve)
    running.ended.then(() => {
      cancel()
      resolve()
    }, resolve)
  })
}
