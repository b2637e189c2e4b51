// One hidden case: what goes in and what must come out. Lines of tests/cases.jsonl.
import { z } from 'zod'

/** How a value is compared, on the server. Data only: nothing here is ever run. */
export const Expectation = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('equals'), value: z.json() }),
  z.strictObject({ kind: z.literal('approx'), value: z.json(), relative: z.number().positive().default(1e-9), absolute: z.number().min(0).default(0) }),
  z.strictObject({ kind: z.literal('set'), values: z.array(z.json()) }).describe('Any order, duplicates counted'),
  z.strictObject({ kind: z.literal('matches'), pattern: z.string().max(2000) }).describe('A linear-time regular expression over the whole text'),
  z.strictObject({ kind: z.literal('throws'), type: z.string(), message: z.string().optional().describe('Must be contained in the message') }),
])
export type Expectation = z.infer<typeof Expectation>

export const CliInput = z.strictObject({
  args: z.array(z.string()).default([]),
  stdin: z.string().optional(),
  files: z.record(z.string(), z.string()).optional().describe('Written under the case\'s own directory, which is its cwd'),
})

export const CliExpectation = z.strictObject({
  exitCode: z.int().min(0).max(255).default(0),
  stdout: Expectation.optional(),
  stderr: Expectation.optional(),
})

const base = { id: z.string().min(1).max(100), requirement: z.int().min(1).describe('The numbered requirement that it tests') }

export const CliCase = z.strictObject({ ...base, input: CliInput, expect: CliExpectation })
/** input goes to the runner as it is; the runner knows its shape. */
export const ValueCase = z.strictObject({ ...base, input: z.json(), expect: Expectation })
export type CliCase = z.infer<typeof CliCase>
export type ValueCase = z.infer<typeof ValueCase>
export type Case = CliCase | ValueCase
