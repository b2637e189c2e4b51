// The one table of operations: HTTP routes, WebSocket frames, JSON Schemas and clients are generated from it.
import { z } from 'zod'
import { Action } from './actions.ts'
import {
  EpisodeReport, GroupOpenParams, GroupReport, ResetParams, ResetResult, ResumeResult, StepResult, SubmitResult,
  TaskSummary, TaskView,
} from './results.ts'
import { Bytes, BytesInput, Committed, EpisodeId, GroupId, Lease, Limits, Seq, Split, TaskId } from './values.ts'
import { Verdict } from './verdict.ts'

export type Scope = 'train' | 'eval' | 'admin'

export interface Operation {
  summary: string
  params: z.ZodType
  result: z.ZodType
  /** Scopes of which a key needs one. */
  scopes: readonly Scope[]
  /** False: part of v1, answered NOT_IMPLEMENTED by this server. */
  built: boolean
}

const anyone: readonly Scope[] = ['train', 'eval', 'admin']
const admin: readonly Scope[] = ['admin']
const inEpisode = { episode: EpisodeId, lease: Lease }
const usage = z.strictObject({ tokens: z.int().min(0).optional() }).optional().describe('What the policy spent on this action')
const Path = z.string().min(1).max(4096)

export const OPERATIONS = {
  info: {
    summary: 'What this server is, what it offers and its limits',
    params: z.strictObject({}),
    result: z.strictObject({
      protocol: z.string(),
      serverVersion: z.string(),
      node: z.string(),
      engine: z.string(),
      operations: z.array(z.string()).describe('Operations that are built'),
      splits: z.array(Split).describe('Splits that this key sees'),
      places: z.strictObject({ total: z.int(), free: z.int() }).describe('Sandboxes of the default size that fit at once'),
      limits: Limits,
    }),
    scopes: anyone,
    built: true,
  },
  'tasks.list': {
    summary: 'The tasks that this key sees, in order of id',
    params: z.strictObject({
      split: Split.optional(),
      after: TaskId.optional().describe('The last id of the page before'),
      limit: z.int().min(1).max(1000).default(100),
    }),
    result: z.strictObject({ tasks: z.array(TaskSummary), next: TaskId.optional().describe('Pass as after for the next page') }),
    scopes: anyone,
    built: true,
  },
  'tasks.get': {
    summary: 'All that an agent may see of one task',
    params: z.strictObject({ task: TaskId }),
    result: TaskView,
    scopes: anyone,
    built: true,
  },
  'tasks.stage': {
    summary: 'Announce coming groups, so that their sandboxes are ready when they open',
    params: z.strictObject({
      batches: z.array(z.strictObject({ task: TaskId, count: z.int().min(1) })).min(1).max(1000),
    }),
    result: z.strictObject({ accepted: z.int() }),
    scopes: anyone,
    built: false,
  },
  'group.open': {
    summary: 'Open a group of members that attempt one task; answers at once, resets wait for places',
    params: GroupOpenParams,
    result: GroupReport,
    scopes: anyone,
    built: true,
  },
  'group.get': {
    summary: 'Rewards, usable mask, members and balances of a group',
    params: z.strictObject({ group: GroupId }),
    result: GroupReport,
    scopes: anyone,
    built: true,
  },
  'group.close': {
    summary: 'End a group; unfinished members become void (cancelled)',
    params: z.strictObject({
      group: GroupId,
      abort: z.boolean().default(false).describe('true kills running steps; false lets them end'),
    }),
    result: GroupReport,
    scopes: anyone,
    built: true,
  },
  reset: {
    summary: 'Start an attempt, or return the one that this key or (group, member, attempt) already names, under a new lease',
    params: ResetParams,
    result: ResetResult,
    scopes: anyone,
    built: true,
  },
  step: {
    summary: 'Run one action exactly once and return its observation',
    params: z.strictObject({
      ...inEpisode,
      seq: Seq,
      action: Action,
      stream: z.boolean().optional().describe('Send output events while it runs'),
      usage,
    }),
    result: StepResult,
    scopes: anyone,
    built: true,
  },
  cancel: {
    summary: 'End the running step; it commits with cancelled: true',
    params: z.strictObject(inEpisode),
    result: z.strictObject({ committed: Committed }),
    scopes: anyone,
    built: false,
  },
  submit: {
    summary: 'Freeze the sandbox, verify what was left and return the verdict',
    params: z.strictObject({
      ...inEpisode,
      seq: Seq,
      truncated: z.enum(['tokens', 'turns']).optional().describe('The policy was cut off by its own limit'),
      usage,
    }),
    result: SubmitResult,
    scopes: anyone,
    built: true,
  },
  resume: {
    summary: 'Take an episode over under a new lease, with the committed seq and its result',
    params: z.strictObject(inEpisode),
    result: ResumeResult,
    scopes: anyone,
    built: true,
  },
  status: {
    summary: 'Where an episode stands',
    params: z.strictObject({ episode: EpisodeId }),
    result: EpisodeReport,
    scopes: anyone,
    built: true,
  },
  close: {
    summary: 'Give an episode up and free its sandbox; without a verdict it is void (cancelled)',
    params: z.strictObject(inEpisode),
    result: EpisodeReport,
    scopes: anyone,
    built: true,
  },
  fork: {
    summary: 'Copies of an episode in its present state',
    params: z.strictObject({ ...inEpisode, count: z.int().min(1).max(256).default(1) }),
    result: z.strictObject({ episodes: z.array(z.strictObject({ ...inEpisode, committed: Committed })) }),
    scopes: anyone,
    built: false,
  },
  'files.put': {
    summary: 'Unpack a tar under a directory of the sandbox; changes state, so it takes a seq',
    params: z.strictObject({ ...inEpisode, seq: Seq, path: Path, tar: BytesInput }),
    result: z.strictObject({ committed: Committed }),
    scopes: anyone,
    built: false,
  },
  'files.get': {
    summary: 'Files of the sandbox as a tar',
    params: z.strictObject({ ...inEpisode, paths: z.array(Path).min(1).max(10_000) }),
    result: z.strictObject({ committed: Committed, tar: Bytes }),
    scopes: anyone,
    built: false,
  },
  'verdict.get': {
    summary: 'The verdict of an episode, with verifier logs for authors',
    params: z.strictObject({ episode: EpisodeId, logs: z.boolean().default(false) }),
    result: z.strictObject({ verdict: Verdict, logs: z.array(z.string()).optional() }),
    scopes: anyone,
    built: false,
  },
  verify: {
    summary: 'Verify a stored submission again',
    params: z.strictObject({ episode: EpisodeId }),
    result: z.strictObject({ verdict: Verdict }),
    scopes: admin,
    built: false,
  },
} as const satisfies Record<string, Operation>

export type OperationName = keyof typeof OPERATIONS
/** The parsed parameters of an operation. */
export type Params<O extends OperationName> = z.output<(typeof OPERATIONS)[O]['params']>
/** What a client may write for them: defaults left out, text for bytes. */
export type ParamsInput<O extends OperationName> = z.input<(typeof OPERATIONS)[O]['params']>
export type Result<O extends OperationName> = z.output<(typeof OPERATIONS)[O]['result']>

export function isOperation (name: unknown): name is OperationName {
  return typeof name === 'string' && Object.hasOwn(OPERATIONS, name)
}
