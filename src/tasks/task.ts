// A task as the server holds it, hidden parts included; summary.ts is the only way out to an agent.
import type { Split } from '../protocol/index.ts'
import type { ImageSource, SandboxLimits } from '../sandbox/engine.ts'
import type { Case } from './cases.ts'

export interface Task {
  readonly id: string
  readonly title: string
  readonly split: Split
  /** sha256 over every file of the task directory. */
  readonly digest: string
  readonly domain: string
  readonly language: string
  readonly interface: 'cli' | 'function' | 'stateful'
  readonly instruction: string
  /** Numbered requirements in the instruction. */
  readonly requirements: number
  /** Absolute; undefined: the image's own. */
  readonly workdir: string | undefined
  readonly user: string | undefined
  readonly env: Readonly<Record<string, string>>
  readonly limits: SandboxLimits
  readonly stepTimeoutMs: number
  readonly image: ImageSource
  readonly verifier: DriverSpec
  /** Author only: the stage of the image build that holds the reference solution, and where; undefined: solution/reference, or none. */
  readonly reference?: { readonly target: string, readonly path: string } | undefined
  /** The task directory, for author tools (validate, export). */
  readonly directory: string
}

/** Hidden: never in a sandbox while the agent can act there, never on the wire. */
export interface DriverSpec {
  readonly kind: 'driver'
  readonly mode: 'fresh'
  /** Shell text run first in the verifier's sandbox, as the agent's user; undefined: nothing to build. */
  readonly build: { readonly command: string, readonly timeoutMs: number } | undefined
  /** Globs under the workdir that a submission may not change: they are restored from the image. */
  readonly protected: readonly string[]
  /** cli: shell text of the program, to which each case's arguments are added. function: shell text that runs the runner. */
  readonly command: string
  /** The file that loads the agent's code and returns one tagged value; undefined for cli. */
  readonly runner: { readonly name: string, readonly content: Uint8Array } | undefined
  readonly caseTimeoutMs: number
  /** The reference's slowest case or build, milliseconds, as its author measured; without it a timeout is never a 0. */
  readonly referenceMs?: number | undefined
  /** The limit of the whole verification. */
  readonly timeoutMs: number
  readonly cases: readonly Case[]
  /** sha256 over everything that judges. */
  readonly digest: string
}
