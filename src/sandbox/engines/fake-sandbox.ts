// One fake sandbox: its files, its carried shell state, one command at a time, and its end.
import path from 'node:path/posix'
import { utf8 } from '../../base/bytes.ts'
import type { Clock } from '../../base/clock.ts'
import { defer } from '../../base/defer.ts'
import { AssayError } from '../../errors.ts'
import type { Command, Ending, Output, Ran } from '../command.ts'
import type { Image, RunOptions, Sandbox, SandboxLoss, SandboxRef, SandboxSpec, WaitOptions } from '../engine.ts'
import type { FileEntry, Manifest } from '../files.ts'
import type { FakeShellState } from './fake-commands.ts'
import type { FakeFiles } from './fake-files.ts'
import { interpret, type FakeRoom, type FakeRunning } from './fake-interpreter.ts'

export interface FakeAnswer { exitCode: number, stdout?: string, stderr?: string }

/** Answers a command instead of the interpreter; undefined leaves it to the interpreter. */
export type FakeScript = (command: Command, files: FakeFiles) => FakeAnswer | undefined

export interface FakeSandboxOptions {
  ref: SandboxRef
  spec: SandboxSpec
  files: FakeFiles
  script: FakeScript | undefined
  clock: Clock
  /** Asked before each command: a loss that happens instead of it. */
  fails: () => SandboxLoss | undefined
  onGone: () => void
}

type GetOptions = WaitOptions & { maxBytes: number }

interface CarriedFrom { command: Command, startCwd: string }

export class FakeSandbox implements Sandbox {
  readonly ref: SandboxRef
  readonly lost: Promise<SandboxLoss>
  readonly #options: FakeSandboxOptions
  readonly #lost = defer<SandboxLoss>()
  #state: FakeShellState
  #running: FakeRunning | undefined
  #isGone = false

  constructor (options: FakeSandboxOptions) {
    this.ref = options.ref
    this.lost = this.#lost.promise
    this.#options = options
    this.#state = this.#freshState()
  }

  get id (): string { return this.ref.sandboxId }
  get image (): Image { return this.#options.spec.image }

  async run (command: Command, { signal, onOutput }: RunOptions = {}): Promise<Ran> {
    this.#checkHere()
    const loss = this.#options.fails()
    if (loss !== undefined) this.lose(loss)
    this.#checkHere()
    if (this.#running !== undefined) throw new AssayError('WARDEN_FAULT', { message: 'A command is running; one at a time.' })
    const running = createRunning()
    this.#running = running
    const onAbort = (): void => running.end({ kind: 'cancelled' })
    if (signal?.aborted === true) onAbort()
    signal?.addEventListener('abort', onAbort, { once: true })
    try {
      return await this.#execute(command, running, onOutput)
    } finally {
      running.isOver = true
      signal?.removeEventListener('abort', onAbort)
      this.#running = undefined
    }
  }

  async put (root: string, entries: readonly FileEntry[], { signal }: WaitOptions = {}): Promise<void> {
    signal?.throwIfAborted()
    this.#checkHere()
    this.#options.files.put(root, entries)
  }

  async get (root: string, paths: readonly string[], options: GetOptions): Promise<FileEntry[]> {
    options.signal?.throwIfAborted()
    this.#checkHere()
    return this.#options.files.get(root, paths, options.maxBytes)
  }

  async manifest (root: string, options: WaitOptions & { maxEntries: number }): Promise<Manifest> {
    options.signal?.throwIfAborted()
    this.#checkHere()
    return this.#options.files.manifest(root, options.maxEntries)
  }

  async killAll ({ signal }: WaitOptions = {}): Promise<void> {
    signal?.throwIfAborted()
    this.#checkHere()
    this.#running?.end({ kind: 'signalled', signal: 'SIGKILL' })
  }

  async [Symbol.asyncDispose] (): Promise<void> {
    this.#leave()
  }

  /** Ends the sandbox without being asked to. */
  lose (loss: SandboxLoss): void {
    if (this.#isGone) return
    this.#leave()
    this.#lost.resolve(loss)
  }

  #leave (): void {
    if (this.#isGone) return
    this.#isGone = true
    this.#running?.end({ kind: 'cancelled' })
    this.#options.onGone()
  }

  #checkHere (): void {
    if (this.#isGone) throw new AssayError('SANDBOX_LOST')
  }

  async #execute (command: Command, running: FakeRunning, onOutput: RunOptions['onOutput']): Promise<Ran> {
    const { clock, files } = this.#options
    const startedAt = clock.monotonic()
    const isIsolated = command.isolated === true
    const state = isIsolated ? this.#freshState() : { cwd: this.#state.cwd, env: { ...this.#state.env } }
    if (command.cwd !== undefined) state.cwd = path.resolve(state.cwd, command.cwd)
    const startCwd = state.cwd
    Object.assign(state.env, command.env)
    const output = new OutputCollector(command, running, onOutput)
    const room: FakeRoom = {
      files,
      state,
      running,
      clock,
      write: (stream, bytes) => output.write(stream, bytes),
      fail: kind => this.lose({ kind, reason: 'the command fail-sandbox' }),
    }
    const ending = await Promise.race([running.ended, this.#answer(command, room)])
    this.#checkHere()
    if (!isIsolated) this.#carry(state, { command, startCwd })
    const cwd = isIsolated ? state.cwd : this.#state.cwd
    const durationMs = clock.monotonic() - startedAt
    return { ending, ...output.result(), durationMs, cwd, oomKilled: false, warnings: [] }
  }

  async #answer (command: Command, room: FakeRoom): Promise<Ending> {
    const answer = this.#options.script?.(command, room.files)
    if (answer === undefined) return await interpret(command, room)
    room.write('stdout', utf8(answer.stdout ?? ''))
    room.write('stderr', utf8(answer.stderr ?? ''))
    return { kind: 'exited', exitCode: answer.exitCode }
  }

  /** What the next command starts with: what the script changed, not what was set for this command alone. */
  #carry (state: FakeShellState, { command, startCwd }: CarriedFrom): void {
    const env = { ...state.env }
    for (const name of Object.keys(command.env ?? {})) {
      const before = this.#state.env[name]
      if (before === undefined) delete env[name]
      else env[name] = before
    }
    this.#state = { cwd: state.cwd === startCwd ? this.#state.cwd : state.cwd, env }
  }

  #freshState (): FakeShellState {
    const { env, workdir } = this.#options.spec
    return { cwd: workdir, env: { ...env } }
  }
}

class OutputCollector {
  readonly #command: Command
  readonly #running: FakeRunning
  readonly #onOutput: RunOptions['onOutput']
  readonly #parts = { stdout: [] as Uint8Array[], stderr: [] as Uint8Array[] }
  readonly #offsets = { stdout: 0, stderr: 0 }

  constructor (command: Command, running: FakeRunning, onOutput: RunOptions['onOutput']) {
    this.#command = command
    this.#running = running
    this.#onOutput = onOutput
  }

  write (stream: 'stdout' | 'stderr', bytes: Uint8Array): void {
    if (this.#running.isOver || bytes.length === 0) return
    const into = this.#command.merge === true ? 'stdout' : stream
    this.#parts[into].push(bytes)
    this.#onOutput?.({ stream: into, offset: this.#offsets[into], bytes })
    this.#offsets[into] += bytes.length
  }

  result (): { stdout: Output, stderr: Output } {
    const { outputBytes } = this.#command
    return { stdout: cap(this.#parts.stdout, outputBytes), stderr: cap(this.#parts.stderr, outputBytes) }
  }
}

function createRunning (): FakeRunning {
  const ended = defer<Ending>()
  const running: FakeRunning = {
    ended: ended.promise,
    isOver: false,
    end (ending) {
      running.isOver = true // at once: the interpreter must not go on with the next command
      ended.resolve(ending)
    },
  }
  return running
}

/** Head and tail of half the limit each. */
function cap (parts: readonly Uint8Array[], limit: number): Output {
  const all = Buffer.concat(parts)
  if (all.length <= limit) return { bytes: all, headBytes: all.length, droppedBytes: 0 }
  const headBytes = Math.ceil(limit / 2)
  const tail = all.subarray(all.length - (limit - headBytes))
  return { bytes: Buffer.concat([all.subarray(0, headBytes), tail]), headBytes, droppedBytes: all.length - limit }
}
