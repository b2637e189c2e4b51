// What the larger operations answer: task summaries, group reports, episode reports.
import { z } from 'zod'
import { Observation } from './actions.ts'
import { BudgetLeft, Budgets, Committed, EpisodeId, GroupId, Lease, Meta, Split, TaskId, TrafficClass } from './values.ts'
import { Verdict } from './verdict.ts'

export const EpisodeState = z.enum(['queued', 'starting', 'ready', 'busy', 'verifying', 'done', 'void', 'closed'])
export type EpisodeState = z.infer<typeof EpisodeState>

export const TaskSummary = z.strictObject({
  id: TaskId,
  title: z.string(),
  split: Split,
  digest: z.string().describe('sha256 over every file of the task'),
  domain: z.string(),
  language: z.string(),
  interface: z.enum(['cli', 'function', 'stateful']),
  admitted: z.boolean().describe('This digest passed the admission gate; other tasks give no trainable verdicts'),
})
export type TaskSummary = z.infer<typeof TaskSummary>

export const TaskView = TaskSummary.extend({
  instruction: z.string().describe('What the agent is asked to do, Markdown'),
  workdir: z.string(),
  stepTimeoutMs: z.int().describe('Default limit of one command'),
  requirements: z.int().describe('How many numbered requirements the instruction states'),
}).describe('All that an agent may see of a task')
export type TaskView = z.infer<typeof TaskView>

export const Balance = z.strictObject({
  requested: z.int(),
  solved: z.int(),
  unsolved: z.int(),
  void: z.int(),
  live: z.int(),
}).describe('requested = solved + unsolved + void + live, at every instant')
export type Balance = z.infer<typeof Balance>

export const MemberState = z.enum(['unstarted', 'live', 'refillable', 'solved', 'unsolved', 'void'])
export type MemberState = z.infer<typeof MemberState>

export const Member = z.strictObject({
  member: z.int(),
  state: MemberState.describe('refillable: the last attempt is void and another may start'),
  attempts: z.int().describe('Attempts started'),
  episode: EpisodeId.optional().describe('The newest attempt'),
})
export type Member = z.infer<typeof Member>

export const GroupState = z.enum(['queued', 'open', 'complete', 'closed'])
export type GroupState = z.infer<typeof GroupState>

export const GroupReport = z.strictObject({
  group: GroupId,
  task: TaskId,
  state: GroupState,
  size: z.int(),
  concurrency: z.int(),
  position: z.int().optional().describe('Place in the admission queue, 0 is next; only while queued'),
  rewards: z.array(z.union([z.literal(1), z.literal(0), z.null()])).describe('Shape [size]; null where there is no reward (yet)'),
  usable: z.array(z.boolean()).describe('Shape [size]; true where rewards is a number'),
  degenerate: z.boolean().describe('All usable rewards are equal: the group carries no advantage'),
  degraded: z.boolean().describe('Finished with fewer usable members than minUsable'),
  members: z.array(Member).describe('Shape [size]'),
  balance: Balance.describe('Over members; unstarted and refillable ones are live'),
  attempts: Balance.describe('Over attempts'),
  meta: Meta,
})
export type GroupReport = z.infer<typeof GroupReport>

export const ResetObservation = z.strictObject({
  instruction: z.string(),
  cwd: z.string(),
  budgetLeft: BudgetLeft,
})
export type ResetObservation = z.infer<typeof ResetObservation>

export const ResetResult = z.strictObject({
  episode: EpisodeId,
  lease: Lease,
  committed: Committed,
  attempt: z.int(),
  observation: ResetObservation,
})
export type ResetResult = z.infer<typeof ResetResult>

export const StepResult = z.strictObject({
  committed: Committed,
  observation: Observation,
  replayed: z.boolean().optional().describe('The stored result of this seq; nothing was run'),
})
export type StepResult = z.infer<typeof StepResult>

export const SubmitResult = z.strictObject({
  committed: Committed,
  verdict: Verdict,
  replayed: z.boolean().optional(),
})
export type SubmitResult = z.infer<typeof SubmitResult>

export const EpisodeReport = z.strictObject({
  episode: EpisodeId,
  task: TaskId,
  state: EpisodeState,
  committed: Committed,
  group: GroupId.optional(),
  member: z.int().optional(),
  attempt: z.int(),
  running: z.int().optional().describe('The seq that is executing'),
  budgetLeft: BudgetLeft,
  verdict: Verdict.optional(),
  meta: Meta,
})
export type EpisodeReport = z.infer<typeof EpisodeReport>

export const ResumeResult = z.strictObject({
  episode: EpisodeId,
  lease: Lease,
  committed: Committed,
  state: EpisodeState,
  running: z.int().optional(),
  last: z.strictObject({ seq: z.int(), observation: Observation.optional(), verdict: Verdict.optional() }).optional().describe('The result of the committed seq'),
})
export type ResumeResult = z.infer<typeof ResumeResult>

export const GroupOpenParams = z.strictObject({
  task: TaskId,
  size: z.int().min(1).max(4096).default(32).describe('Members'),
  concurrency: z.int().min(1).max(4096).optional().describe('Members live at once; default: size'),
  class: TrafficClass.default('train'),
  run: z.string().min(1).max(128).default('default').describe('The training run, for fair shares and balances'),
  seed: z.int().min(0).optional(),
  minUsable: z.int().min(0).optional().describe('A finished group with fewer usable members is degraded'),
  refills: z.int().min(0).max(16).default(2).describe('Further attempts per member after a void'),
  budgets: Budgets.optional(),
  meta: Meta.optional(),
})
export type GroupOpenParams = z.infer<typeof GroupOpenParams>

const fromGroup = ['group', 'member', 'attempt'] as const

export const ResetParams = z.strictObject({
  task: TaskId.optional().describe('Needed with requestKey; with group it must be the group\'s'),
  requestKey: z.string().min(1).max(256).optional().describe('Names this reset: a repeat returns the same episode under a new lease'),
  group: GroupId.optional(),
  member: z.int().min(0).optional().describe('0 .. size - 1'),
  attempt: z.int().min(0).optional().describe('Default 0; k + 1 is legal once k is void and refills remain'),
  class: TrafficClass.optional().describe('With requestKey; default eval'),
  seed: z.int().min(0).optional(),
  budgets: Budgets.optional().describe('With requestKey; a group\'s members take the group\'s'),
  meta: Meta.optional(),
}).superRefine((params, context) => {
  const issue = (path: string, message: string): void => { context.addIssue({ code: 'custom', path: [path], message }) }
  if (params.group === undefined) {
    if (params.requestKey === undefined) issue('requestKey', 'give requestKey, or group and member')
    if (params.task === undefined) issue('task', 'required with requestKey')
    for (const key of fromGroup) if (params[key] !== undefined) issue(key, 'only together with group')
  } else {
    if (params.member === undefined) issue('member', 'required with group')
    for (const key of ['requestKey', 'class', 'budgets'] as const) {
      if (params[key] !== undefined) issue(key, 'not together with group, which has set it')
    }
  }
})
export type ResetParams = z.infer<typeof ResetParams>
