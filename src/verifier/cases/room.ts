// The directory in which one case runs: new for each, outside the workspace, gone before the next.
import { randomBytes } from 'node:crypto'
import type { Command } from '../../sandbox/command.ts'
import type { Sandbox, WaitOptions } from '../../sandbox/engine.ts'
import type { FileEntry } from '../../sandbox/files.ts'
import type { CliCase, ValueCase } from '../../tasks/cases.ts'
import { type Case } from '../../tasks/cases.ts'
import type { Ran } from '../../sandbox/command.ts'
import { probeCli } from './cli.ts'
import { CASE_OUTPUT_BYTES, type Probe } from './probe.ts'
import { probeValue } from './value.ts'
import type { Submission } from '../verifier.ts'

export interface PreparedCase {
  command: Command
  judge: (ran: Ran) => string | undefined
}

export class CaseRoom {
  readonly sandbox: Sandbox
  readonly #submission: Submission
  #leftover: FileEntry[] = []

  constructor (sandbox: Sandbox, submission: Submission) {
    this.sandbox = sandbox
    this.#submission = submission
  }

  /** Removes the last case's directory and lays out the next one's: its files, and the runner beside them. */
  async enter (one: Case, options: WaitOptions): Promise<PreparedCase> {
    const { task, spec } = this.#submission
    const { runner, caseTimeoutMs } = task.verifier
    const probe = this.#probe(one)
    const name = randomBytes(8).toString('hex')
    const room: FileEntry[] = [
      { type: 'directory', path: name, mode: 0o755 },
      { type: 'directory', path: `${name}/cwd`, mode: 0o755 },
      ...probe.entries.map(entry => ({ ...entry, path: `${name}/cwd/${entry.path}` })),
      ...runner === undefined ? [] : [{ type: 'file', path: `${name}/${runner.name}`, mode: 0o444, content: runner.content } as const],
    ]
    await this.sandbox.put(ROOT, [...this.#leftover, ...room], options)
    this.#leftover = [{ type: 'absent', path: name }]
    return {
      judge: probe.judge,
      command: {
        script: probe.script,
        stdin: probe.stdin,
        timeoutMs: caseTimeoutMs,
        cwd: `${ROOT}/${name}/cwd`,
        env: { WORKSPACE: spec.workdir, ...runner === undefined ? {} : { RUNNER: `${ROOT}/${name}/${runner.name}` } },
        outputBytes: CASE_OUTPUT_BYTES,
        isolated: true,
      },
    }
  }

  /** Nothing of the case runs on. */
  async leave (options: WaitOptions): Promise<void> {
    await this.sandbox.killAll(options)
  }

  #probe (one: Case): Probe {
    const { command } = this.#submission.task.verifier
    return this.#submission.task.interface === 'cli' ? probeCli(one as CliCase, command) : probeValue(one as ValueCase, command)
  }
}

const ROOT = '/tmp'
