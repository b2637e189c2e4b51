// Sandboxes that do what a test says, behind the real ports: for the verifier's logic, not for what a kernel does.
import { defer } from '../../src/base/defer.ts'
import { AssayError } from '../../src/errors.ts'
import type { Command, Output, Ran } from '../../src/sandbox/command.ts'
import type { Engine, Sandbox, SandboxLoss, SandboxSpec } from '../../src/sandbox/engine.ts'
import type { FileEntry } from '../../src/sandbox/files.ts'
import type { Pool } from '../../src/sandbox/pool.ts'
import type { Task } from '../../src/tasks/task.ts'

export function output (text: string): Output {
  const bytes = Buffer.from(text)
  return { bytes, headBytes: bytes.length, droppedBytes: 0 }
}

export function ran ({ exitCode = 0, stdout = '', stderr = '' }: { exitCode?: number, stdout?: string, stderr?: string }): Ran {
  return {
    ending: { kind: 'exited', exitCode },
    stdout: output(stdout),
    stderr: output(stderr),
    durationMs: 1,
    cwd: '/app',
    oomKilled: false,
    warnings: [],
  }
}

export const slow: Ran = { ...ran({}), ending: { kind: 'timedOut' } }

export interface ScriptedSandbox extends Sandbox {
  /** Everything asked of it, in order: "put <root> …", "run <script>", "killAll", "dispose". */
  readonly log: string[]
  readonly puts: Array<{ root: string, entries: readonly FileEntry[] }>
  readonly commands: Command[]
  /** From now on every call throws SANDBOX_LOST. */
  lose (loss: SandboxLoss): void
}

export interface Facts {
  /** Something was put into the workspace, so this is not the control. */
  hasDelta: boolean
  signal: AbortSignal | undefined
}

/** What a sandbox does with a command. */
export type Behaviour = (command: Command, sandbox: ScriptedSandbox, facts: Facts) => Ran | Promise<Ran>

export function scriptedSandbox (behave: Behaviour, spec: SandboxSpec): ScriptedSandbox {
  const lost = defer<SandboxLoss>()
  let loss: SandboxLoss | undefined
  const check = (): void => { if (loss !== undefined) throw new AssayError('SANDBOX_LOST', { message: loss.reason }) }
  const sandbox: ScriptedSandbox = {
    id: 's',
    ref: { ref: 'r', sandboxId: 's', node: 'n1', boot: 'b' },
    image: spec.image,
    lost: lost.promise,
    log: [],
    puts: [],
    commands: [],
    lose (what) {
      loss ??= what
      lost.resolve(what)
    },
    async run (command, { signal } = {}) {
      check()
      sandbox.log.push(`run ${command.script}`)
      sandbox.commands.push(command)
      const hasDelta = sandbox.puts.some(({ root }) => root === spec.workdir)
      const result = await behave(command, sandbox, { hasDelta, signal })
      check()
      return result
    },
    async put (root, entries) {
      check()
      sandbox.log.push(`put ${root}`)
      sandbox.puts.push({ root, entries })
    },
    async get () { return [] },
    async manifest () { return new Map() },
    async killAll () {
      check()
      sandbox.log.push('killAll')
    },
    async [Symbol.asyncDispose] () { sandbox.log.push('dispose') },
  }
  return sandbox
}

export interface ScriptedPool extends Pool {
  readonly sandboxes: ScriptedSandbox[]
  readonly live: () => number
}

/** acquire: called first for each sandbox; throws to refuse one. */
export function scriptedPool (behave: Behaviour, acquire: (count: number) => void = () => {}): ScriptedPool {
  const sandboxes: ScriptedSandbox[] = []
  return {
    engine: {} as Engine,
    sandboxes,
    live: () => sandboxes.filter(({ log }) => !log.includes('dispose')).length,
    async acquire (spec) {
      acquire(sandboxes.length)
      const sandbox = scriptedSandbox(behave, spec)
      sandboxes.push(sandbox)
      return sandbox
    },
    stage: () => ({ [Symbol.dispose] () {} }),
    stats: () => ({ ready: 0, starting: 0, used: 0, created: 0, destroyed: 0 }),
    async close () {},
  }
}

export const spec: SandboxSpec = {
  image: { id: 'sha256:0', workdir: '/app', user: '' },
  workdir: '/app',
  env: {},
  limits: { memoryBytes: 1, pids: 1, cpus: 1, diskBytes: 1 },
}

/** A cli task: `prog N` must print N + 1. */
export function cliTask (verifier: Partial<Task['verifier']> = {}): Task {
  return {
    id: 'plus-one',
    title: 'Plus one',
    split: 'train',
    digest: 'd',
    domain: 'x',
    language: 'x',
    interface: 'cli',
    instruction: '',
    requirements: 1,
    workdir: '/app',
    user: undefined,
    env: {},
    limits: spec.limits,
    stepTimeoutMs: 1000,
    image: { kind: 'name', name: 'x' },
    directory: '/nowhere',
    verifier: {
      kind: 'driver',
      mode: 'fresh',
      build: undefined,
      protected: [],
      command: 'prog',
      runner: undefined,
      caseTimeoutMs: 1000,
      referenceMs: 10,
      timeoutMs: 20_000,
      cases: ['1', '2', '3', '4'].map(n => ({
        id: `case-${n}`,
        requirement: 1,
        input: { args: [n] },
        expect: { exitCode: 0, stdout: { kind: 'equals', value: `${Number(n) + 1}\n` } },
      })),
      digest: 'v',
      ...verifier,
    },
  }
}

/** The right answer to a case of cliTask. */
export function answer (command: Command): Ran {
  return ran({ stdout: `${Number(/'(\d+)'/.exec(command.script)?.[1]) + 1}\n` })
}
