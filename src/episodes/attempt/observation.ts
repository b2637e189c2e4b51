// An action as a command, and what became of the command as an observation. Pure.
import type { Budgets, ExecAction, Observation } from '../../protocol/index.ts'
import type { Command, Ending, Ran } from '../../sandbox/command.ts'
import { budgetLeft, warnBudgets, type Spent } from '../budget.ts'

export interface CommandLimits {
  /** Milliseconds when the action sets none. */
  timeoutMs: number
  /** Bytes kept of each stream. */
  outputBytes: number
  /** What is left of the execMs budget, milliseconds. */
  execMsLeft: number | undefined
}

export function toCommand (action: ExecAction, { timeoutMs, outputBytes, execMsLeft }: CommandLimits): Command {
  const limit = action.timeoutMs ?? timeoutMs
  return {
    script: action.command,
    timeoutMs: execMsLeft === undefined ? limit : Math.max(1, Math.min(limit, Math.ceil(execMsLeft))),
    stdin: action.stdin,
    cwd: action.cwd,
    env: action.env,
    merge: action.merge,
    outputBytes,
  }
}

/** What the agent sees; spent already includes this step. */
export function toObservation (ran: Ran, { merge, budgets, spent, isFinal }: ObservationFacts): Observation {
  const warnings = [...ran.warnings, ...(isFinal ? [] : warnBudgets(budgets, spent))]
  const isDropped = ran.stdout.droppedBytes > 0 || ran.stderr.droppedBytes > 0
  return {
    ...endingOf(ran.ending),
    stdout: ran.stdout.bytes,
    ...(!merge && { stderr: ran.stderr.bytes }),
    ...(isDropped && {
      dropped: { stdoutBytes: ran.stdout.droppedBytes, stderrBytes: ran.stderr.droppedBytes },
      headBytes: { stdout: ran.stdout.headBytes, stderr: ran.stderr.headBytes },
    }),
    durationMs: ran.durationMs,
    cwd: ran.cwd,
    ...(ran.oomKilled && { oomKilled: true }),
    ...(warnings.length > 0 && { warnings }),
    budgetLeft: budgetLeft(budgets, spent),
    ...(isFinal && { final: true }),
  }
}

export interface ObservationFacts {
  merge: boolean
  budgets: Budgets
  spent: Spent
  /** This step exhausted a budget. */
  isFinal: boolean
}

/** Output bytes that arrived here; what the sandbox says it dropped is its own word and is not charged. */
export function receivedBytes (ran: Ran): number {
  return ran.stdout.bytes.length + ran.stderr.bytes.length
}

function endingOf (ending: Ending): Pick<Observation, 'exitCode' | 'signal' | 'timedOut' | 'cancelled'> {
  switch (ending.kind) {
    case 'exited': return { exitCode: ending.exitCode }
    case 'signalled': return { signal: ending.signal }
    case 'timedOut': return { timedOut: true }
    case 'cancelled': return { cancelled: true }
  }
}
