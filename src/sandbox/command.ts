// One command and what became of it.

export interface Command {
  /** Shell text. */
  script: string
  /** Milliseconds until TERM, then KILL after a grace. */
  timeoutMs: number
  /** undefined: /dev/null. */
  stdin?: Uint8Array | undefined
  /** For this command; undefined: the carried one. */
  cwd?: string | undefined
  /** On top of the carried environment, for this command alone. */
  env?: Record<string, string> | undefined
  /** stderr into stdout, in order of writing. */
  merge?: boolean | undefined
  /** Bytes kept per stream, half head, half tail. */
  outputBytes: number
  /** Start from the image's environment and leave nothing to the next command: no carried cwd, variables or functions. */
  isolated?: boolean | undefined
}

export type Ending =
  | { kind: 'exited', exitCode: number }
  | { kind: 'signalled', signal: string }
  | { kind: 'timedOut' }
  | { kind: 'cancelled' }

export interface Output {
  /** Head and tail joined; where bytes were dropped the gap is after headBytes. */
  bytes: Uint8Array
  headBytes: number
  droppedBytes: number
}

export interface Ran {
  ending: Ending
  stdout: Output
  /** Empty with merge. */
  stderr: Output
  durationMs: number
  /** The carried directory after the command. */
  cwd: string
  oomKilled: boolean
  /** Sentences for the agent, e.g. a variable that could not be carried over. */
  warnings: readonly string[]
}
