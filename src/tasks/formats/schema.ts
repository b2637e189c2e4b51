// What task.toml may say, as zod: Assay's own facts strictly, Harbor's tables as far as they are used here.
import { z } from 'zod'
import { Split, TaskId } from '../../protocol/index.ts'

const seconds = z.number().positive().max(86_400)
const shell = z.string().min(1).refine(text => !text.includes('\0'), 'no NUL')
const absolute = z.string().regex(/^\/([^/]+\/?)*$/, 'an absolute path').refine(path => !path.split('/').includes('..'), 'no ".."')
const user = z.string().regex(/^\d+(:\d+)?$/, 'a numeric "uid" or "uid:gid"')

/** [metadata.assay] */
export const AssayFacts = z.strictObject({
  id: TaskId.optional().describe('Default: the directory\'s name'),
  title: z.string().min(1).max(200),
  kind: z.literal('driver'),
  mode: z.literal('fresh').default('fresh'),
  interface: z.enum(['cli', 'function', 'stateful']),
  language: z.string().min(1).max(40),
  domain: z.string().min(1).max(80),
  split: Split,
  source: z.strictObject({
    name: z.string().min(1),
    version: z.string().min(1),
    licence: z.string().min(1).describe('SPDX identifier'),
    sha256: z.string().regex(/^[0-9a-f]{64}$/).describe('Of the archive that the image build fetches'),
  }).optional().describe('The published package that the task is adapted from'),
  user: user.optional().describe('Numeric; the agent\'s and the verifier\'s'),
  pids: z.int().min(16).max(32_768).default(256),
  step_timeout_sec: seconds.default(60).describe('Default limit of one command of the agent'),
  build: shell.optional().describe('Run first in the verifier\'s sandbox, as the agent\'s user'),
  build_timeout_sec: seconds.default(120),
  protected: z.array(z.string().min(1).max(500)).max(100).default([]).describe('Globs under the workdir that a submission cannot change'),
  command: shell.describe('cli: the program, arguments are added. Otherwise: what runs "$RUNNER"'),
  case_timeout_sec: seconds.default(10),
  reference_ms: z.number().positive().optional().describe('The reference\'s slowest case or build, measured'),
  reference_target: z.string().min(1).optional().describe('Dockerfile stage that holds the reference solution'),
  reference_path: absolute.optional().describe('Its tree in that stage, to be laid over the workdir'),
}).superRefine((facts, context) => {
  if ((facts.reference_target === undefined) !== (facts.reference_path === undefined)) {
    context.addIssue({ code: 'custom', path: ['reference_path'], message: 'give reference_target and reference_path together' })
  }
  const limits = [['case_timeout_sec', facts.case_timeout_sec], ['build_timeout_sec', facts.build_timeout_sec]] as const
  for (const [key, value] of limits) {
    if (facts.reference_ms !== undefined && value * 1000 < 10 * facts.reference_ms) {
      context.addIssue({ code: 'custom', path: [key], message: 'a limit must be at least 10 times reference_ms' })
    }
  }
})
export type AssayFacts = z.infer<typeof AssayFacts>

/** The tables of Harbor 1.x; their other keys are judged by known-keys.ts. */
export const TaskToml = z.looseObject({
  task: z.looseObject({ name: z.string().optional(), description: z.string().optional() }).default({}),
  metadata: z.looseObject({ assay: AssayFacts }),
  agent: z.looseObject({ user: z.union([user, z.int().min(0)]).optional() }).default({}),
  verifier: z.looseObject({ timeout_sec: seconds.default(600) }).prefault({}),
  environment: z.looseObject({
    docker_image: z.string().min(1).optional(),
    cpus: z.number().positive().max(64).default(1),
    memory_mb: z.int().min(16).max(1_048_576).default(512),
    storage_mb: z.int().min(16).max(1_048_576).default(1024),
    env: z.record(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'a variable name'), z.string().refine(text => !text.includes('\0'), 'no NUL')).default({}),
    workdir: absolute.optional(),
  }).prefault({}),
})
export type TaskToml = z.infer<typeof TaskToml>
