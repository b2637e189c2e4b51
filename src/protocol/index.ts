// The public face of the protocol, also published as "assay/protocol".
export {
  OPERATIONS, isOperation, type Operation, type OperationName, type Params, type ParamsInput, type Result, type Scope,
} from './operations.ts'
export {
  EVENTS, RequestEnvelope, SuccessReply, FailureReply, RequestId, readRequest,
  type EventName, type FrameReading, type Reply, type ServerEvent,
} from './frames.ts'
export { WireError, toWireError, fromWireError, invalidParams } from './wire-error.ts'
export {
  PROTOCOL_VERSION, SUBPROTOCOLS, isSubprotocol, createCodec, bytesToJson, bytesFromWire,
  type Codec, type Encoding, type Subprotocol,
} from './codec.ts'
export { protocolDocuments, jsonSchemaOf, type JsonDocument } from './json-schema.ts'
export { Action, Observation, Exec, type ExecAction } from './actions.ts'
export {
  Verdict, VerifierReport, Provenance, Outcome, Reason, Truncated, VerifierMode, BudgetReason, REASONS,
  type PlainReason,
} from './verdict.ts'
export {
  Bytes, BytesInput, EpisodeId, GroupId, Lease, TaskId, Split, TrafficClass, Meta, Budgets, BudgetLeft, Limits,
} from './values.ts'
export {
  EpisodeState, EpisodeReport, TaskSummary, TaskView, Balance, Member, MemberState, GroupState, GroupReport,
  GroupOpenParams, ResetObservation, ResetParams, ResetResult, ResumeResult, StepResult, SubmitResult,
} from './results.ts'
