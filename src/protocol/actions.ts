// One step: the action a trainer sends and the observation it gets back.
import { z } from 'zod'
import { BudgetLeft, Bytes, BytesInput } from './values.ts'

const Path = z.string().min(1).max(4096).refine(path => !path.includes('\0'), 'a path has no NUL').describe('Absolute, or relative to the current directory')

export const Exec = z.strictObject({
  type: z.literal('exec'),
  command: z.string().max(4_000_000).refine(text => !text.includes('\0'), 'a command has no NUL').describe('Shell text, run by bash (or sh) in its own process group'),
  timeoutMs: z.int().min(1).max(7_200_000).optional().describe('Limit in milliseconds; default: the task\'s'),
  stdin: BytesInput.optional().describe('Standard input; default: none (/dev/null)'),
  cwd: Path.optional().describe('Directory for this command; the carried one stays unless the command changes it'),
  env: z.record(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/), z.string().refine(text => !text.includes('\0'), 'no NUL')).optional().describe('Variables for this command alone'),
  merge: z.boolean().optional().describe('Send stderr into stdout, in order of writing'),
})
export const Read = z.strictObject({
  type: z.literal('read'),
  path: Path,
  range: z.strictObject({ offset: z.int().min(0), length: z.int().min(1) }).optional().describe('Bytes'),
})
export const Write = z.strictObject({ type: z.literal('write'), path: Path, content: BytesInput, mode: z.int().min(0).max(0o777).optional() })
export const Edit = z.strictObject({
  type: z.literal('edit'),
  path: Path,
  old: z.string().min(1).describe('Must occur exactly once'),
  new: z.string(),
})

export const Action = z.discriminatedUnion('type', [Exec, Read, Write, Edit])
export type Action = z.infer<typeof Action>
export type ExecAction = z.infer<typeof Exec>

export const Dropped = z.strictObject({
  stdoutBytes: z.int(),
  stderrBytes: z.int(),
}).describe('Bytes cut from the middle of each stream; nothing is put in their place')

export const Observation = z.strictObject({
  exitCode: z.int().optional().describe('Set when the command exited by itself'),
  signal: z.string().optional().describe('Set when a signal ended it, e.g. "SIGSEGV"'),
  timedOut: z.boolean().optional().describe('The time limit ended it'),
  cancelled: z.boolean().optional().describe('cancel ended it'),
  stdout: Bytes.optional(),
  stderr: Bytes.optional().describe('Absent with merge'),
  dropped: Dropped.optional().describe('Present when output was dropped'),
  headBytes: z.strictObject({ stdout: z.int(), stderr: z.int() }).optional().describe('Where the gap is, when output was dropped'),
  durationMs: z.number().optional().describe('Milliseconds in the sandbox'),
  cwd: z.string().optional().describe('Current directory after the command'),
  oomKilled: z.boolean().optional().describe('A process of the command was killed for memory'),
  changedFiles: z.array(z.string()).optional(),
  content: Bytes.optional().describe('What read returned'),
  error: z.string().optional().describe('Why a read, write or edit changed nothing'),
  warnings: z.array(z.string()).optional().describe('Sentences for the agent: a budget about to end, a variable not carried over'),
  budgetLeft: BudgetLeft.optional(),
  final: z.boolean().optional().describe('This step exhausted a budget: the server has submitted (or ended) the episode'),
})
export type Observation = z.infer<typeof Observation>
