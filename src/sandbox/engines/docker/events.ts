// Follows the daemon's container events of one node, reconnecting with back-off and without a gap. Decides nothing.
import type { GetEventsOptions } from 'dockerode'
import { z } from 'zod'
import type { Clock } from '../../../base/clock.ts'
import { orAbort } from '../../../base/deadline.ts'
import type { Logger } from '../../../telemetry/log.ts'
import type { DockerClient } from './client.ts'
import { jsonLines } from './lines.ts'
import { LABELS } from './spec.ts'

export type ContainerAction = 'die' | 'oom' | 'destroy' | 'kill'

export interface EventsOptions {
  client: DockerClient
  node: string
  clock: Clock
  log: Logger
  onEvent: (containerId: string, action: ContainerAction) => void
}

export interface Events extends AsyncDisposable {
  /** Resolves at the first connection; rejects when it cannot be made. Starts following. */
  start (): Promise<void>
  /** Whether events are being received now. */
  isConnected (): boolean
}

export function followEvents (options: EventsOptions): Events {
  const stop = new AbortController()
  let connected = false
  let sinceSeconds = options.clock.now() / 1000
  let following: Promise<void> | undefined

  const connect = async (): Promise<AsyncIterable<Uint8Array>> => {
    const query = { since: sinceSeconds, filters: filters(options.node) }
    const stream = await options.client.open('events', (docker, abortSignal) => docker.getEvents({ ...query, abortSignal } as GetEventsOptions), { signal: stop.signal })
    connected = true
    return stream as AsyncIterable<Uint8Array>
  }
  const read = async (stream: AsyncIterable<Uint8Array>): Promise<void> => {
    for await (const line of jsonLines(stream)) {
      const event = Event.safeParse(line)
      if (!event.success) continue
      sinceSeconds = event.data.timeNano / 1e9
      options.onEvent(event.data.Actor.ID, event.data.Action)
    }
  }
  const follow = async (first: AsyncIterable<Uint8Array>): Promise<void> => {
    let stream: AsyncIterable<Uint8Array> | undefined = first
    for (let failures = 0; !stop.signal.aborted;) {
      try {
        stream ??= await connect()
        failures = 0
        await read(stream)
      } catch (error) {
        if (!stop.signal.aborted) options.log.warn({ error }, 'docker events interrupted')
      }
      connected = false
      stream = undefined
      failures++
      await pause(options.clock, Math.min(50 * 2 ** failures, 5_000), stop.signal)
    }
  }
  return {
    async start () {
      if (following !== undefined) return
      following = follow(await connect())
    },
    isConnected: () => connected,
    async [Symbol.asyncDispose] () {
      stop.abort(new Error('events are no longer followed'))
      await following
    },
  }
}

async function pause (clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  let cancel = (): void => {}
  try {
    await orAbort(new Promise<void>(resolve => { cancel = clock.after(ms, resolve) }), signal)
  } catch {
    // aborted: the caller's loop sees it
  } finally {
    cancel()
  }
}

function filters (node: string): Record<string, string[]> {
  return { type: ['container'], label: [`${LABELS.node}=${node}`], event: ['die', 'oom', 'destroy', 'kill'] }
}

const Event = z.object({
  Action: z.enum(['die', 'oom', 'destroy', 'kill']),
  Actor: z.object({ ID: z.string() }),
  timeNano: z.number(),
})
