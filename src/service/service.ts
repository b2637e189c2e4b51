// The port that the mouths (WebSocket, HTTP), the fleet and in-process users speak to: one call per operation.
import type { OperationName, Params, Result, Scope, ServerEvent, Split, TrafficClass } from '../protocol/index.ts'
import type { Logger } from '../telemetry/log.ts'

/** Who asks. */
export interface Principal {
  readonly name: string
  readonly scopes: readonly Scope[]
  readonly classes: readonly TrafficClass[]
  readonly splits: readonly Split[]
  /** Live episodes at once. */
  readonly maxEpisodes: number
}

/** A socket: leases issued on it are renewed while it lives. HTTP requests have none. */
export interface Connection {
  readonly id: string
  /** Never throws, never blocks; output events may be dropped for a slow reader. */
  emit (event: ServerEvent): void
}

export interface Context {
  readonly principal: Principal
  readonly log: Logger
  readonly connection?: Connection | undefined
  /** The frame's id, for events that belong to the request. */
  readonly requestId?: string | number | undefined
  /** Aborts when the caller no longer waits. What has been started goes on: the caller can come back for it. */
  readonly signal: AbortSignal
}

export interface Service {
  /** params are parsed; throws AssayError. */
  call<O extends OperationName> (op: O, params: Params<O>, context: Context): Promise<Result<O>>
  /** The socket is gone: its leases are no longer renewed, its waiting stops. */
  disconnected (connection: Connection): void
  /** Refuses new work and waits, until the signal aborts, for live episodes to end; the rest become void (drained). */
  drain (options: { signal: AbortSignal }): Promise<void>
  /** Whether new work is taken, and why not. */
  ready (): { ok: true } | { ok: false, reason: string }
}
