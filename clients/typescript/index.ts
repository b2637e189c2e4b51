// The TypeScript client, published as "assay/client": connect, drive groups and episodes, typed errors.
export { connect, type ConnectOptions } from './connect.ts'
export { Client, type Tasks } from './client.ts'
export { Group, type MemberHandle } from './group.ts'
export { Episode, type ActionInput, type StepOptions, type SubmitOptions } from './episode.ts'
export type { Policy, PolicyContext, RunOptions, RunResult } from './run.ts'
export type { RequestOptions } from './channel.ts'
export { text } from './observation.ts'
export { AssayError, ConnectionLost, type ErrorCode } from './errors.ts'
export type {
  EpisodeReport, GroupReport, Observation, Outcome, Reason, ServerEvent, TaskSummary, TaskView, Verdict,
} from '../../src/protocol/index.ts'
