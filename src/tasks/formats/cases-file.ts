// Reads tests/cases.jsonl: one hidden case a line, checked as far as it can be without running anything.
import { z } from 'zod'
import { AssayError, isAssayError } from '../../errors.ts'
import { checkPath } from '../../sandbox/files.ts'
import { CliCase, ValueCase, type Case } from '../cases.ts'
import { checkPattern } from '../patterns.ts'
import type { Expectation } from '../cases.ts'
import type { Task } from '../task.ts'

/** Throws TASK_INVALID with file, line and what to change. */
export function parseCases (text: string, { file, kind, requirements }: { file: string, kind: Task['interface'], requirements: number }): Case[] {
  const cases: Case[] = []
  const ids = new Set<string>()
  for (const [index, line] of text.split('\n').entries()) {
    if (line.trim() === '') continue
    const refuse: Refuse = message => { throw new AssayError('TASK_INVALID', { message: `${file}:${index + 1}: ${message}` }) }
    const parsed = parseLine(line, kind, refuse)
    if (ids.has(parsed.id)) refuse(`the id "${parsed.id}" is taken by an earlier line; choose another.`)
    if (parsed.requirement > requirements) {
      refuse(`requirement ${parsed.requirement} is not in instruction.md, which numbers 1 to ${requirements}.`)
    }
    ids.add(parsed.id)
    cases.push(parsed)
  }
  if (cases.length === 0) throw new AssayError('TASK_INVALID', { message: `${file}: has no case; write one JSON object a line.` })
  return cases
}

type Refuse = (message: string) => never

function parseLine (line: string, kind: Task['interface'], refuse: Refuse): Case {
  let value: unknown
  try {
    value = JSON.parse(line)
  } catch {
    return refuse('is not one JSON object; each line is a whole case.') // the parser's own message adds no position that helps
  }
  const schema = kind === 'cli' ? CliCase : ValueCase
  const result = schema.safeParse(value)
  if (!result.success) return refuse(z.prettifyError(result.error))
  const parsed = result.data
  if (kind === 'cli') checkCli(CliCase.parse(parsed), refuse)
  else checkExpectation(ValueCase.parse(parsed).expect, refuse)
  return parsed
}

function checkCli ({ input, expect }: CliCase, refuse: Refuse): void {
  for (const arg of input.args) {
    if (arg.includes('\0') || Buffer.from(arg).toString() !== arg) refuse(`the argument ${JSON.stringify(arg)} cannot be passed to a program; remove NUL and lone surrogates.`)
  }
  for (const path of Object.keys(input.files ?? {})) {
    try {
      checkPath(path)
    } catch (error) {
      if (!isAssayError(error)) throw error
      refuse(error.message)
    }
  }
  for (const expectation of [expect.stdout, expect.stderr]) {
    if (expectation !== undefined) checkExpectation(expectation, refuse)
  }
}

function checkExpectation (expectation: Expectation, refuse: Refuse): void {
  const problem = expectation.kind === 'matches' ? checkPattern(expectation.pattern) : undefined
  if (problem !== undefined) refuse(`pattern ${JSON.stringify(expectation)}: ${problem}`)
}
