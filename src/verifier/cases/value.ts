// One case of a function or stateful interface: {"input": …} to the runner, one tagged value back on one line.
import { utf8 } from '../../base/bytes.ts'
import type { ValueCase } from '../../tasks/cases.ts'
import { compareOutcome, type Outcome } from './compare.ts'
import { describeEnding, readStream, type Probe } from './probe.ts'

/** command is shell text that runs "$RUNNER". */
export function probeValue ({ input, expect }: ValueCase, command: string): Probe {
  return {
    script: command,
    stdin: utf8(`${JSON.stringify({ input })}\n`),
    entries: [],
    judge (ran) {
      if (ran.ending.kind !== 'exited' || ran.ending.exitCode !== 0) return `the runner ${describeEnding(ran)}`
      const read = readStream(ran.stdout, 'stdout')
      if ('why' in read) return read.why
      const outcome = parseOutcome(read.text)
      return typeof outcome === 'string' ? outcome : compareOutcome(expect, outcome)
    },
  }
}

/** Exactly one line with exactly one tagged value; the sentence says what else it was. */
export function parseOutcome (text: string): Outcome | string {
  if (text === '') return 'no value came back'
  if (text.indexOf('\n') !== text.length - 1) return 'more or less than one whole line came back'
  let line: unknown
  try {
    line = JSON.parse(text)
  } catch {
    return 'the line that came back is not JSON' // its text is the agent's; the sentence is enough for the author
  }
  return findOutcome(line) ?? 'the line that came back is not one tagged value'
}

function findOutcome (line: unknown): Outcome | undefined {
  if (typeof line !== 'object' || line === null) return undefined
  const keys = Object.keys(line).sort().join()
  const fields = line as Record<string, unknown>
  const { kind, type, message } = fields
  if (kind === 'value' && keys === 'kind,value') return { kind, value: fields['value'] }
  if (kind === 'error' && keys === 'kind,message,type' && typeof type === 'string' && typeof message === 'string') return { kind, type, message }
  return undefined
}
