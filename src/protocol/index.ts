// The public face of the protocol, also published as "assay/protocol".
export { PROTOCOL_VERSION, SUBPROTOCOLS, isSubprotocol, type Encoding, type Subprotocol } from './version.ts'
export { OPERATIONS, isOperation, type Operation, type OperationName, type Params, type ParamsInput, type Result, type Scope } from './operations.ts'
export { EVENTS, RequestEnvelope, SuccessReply, FailureReply, RequestId, type EventName, type Reply, type ServerEvent } from './frames.ts'
export { WireError, toWireError, fromWireError, invalidParams } from './wire-error.ts'
export { createCodec, bytesToJson, bytesFromWire, type Codec } from './codec.ts'
export { Action, Observation, Exec, type ExecAction } from './actions.ts'
export {
  Verdict, VerifierReport, Provenance, Outcome, Reason, Truncated, VerifierMode, BudgetReason, REASONS, type PlainReason,
} from './verdict.ts'
export {
  Bytes, BytesInput, EpisodeId, GroupId, Lease, TaskId, Split, TrafficClass, Meta, Budgets, BudgetLeft, Limits,
} from './values.ts'
export {
  EpisodeState, EpisodeReport, TaskSummary, TaskView, Balance, Member, MemberState, GroupState, GroupReport, GroupOpenParams,
  ResetObservation, ResetParams, ResetResult, ResumeResult, StepResult, SubmitResult,
} from './results.ts'
