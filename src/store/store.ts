// The port for what must outlive a request or be seen by another node. Memory now, Redis later: same contract suite.
import type { EpisodeRecord, GroupRecord, NodeRecord } from './records.ts'

export interface Store {
  /** Claims key for owner unless another owner holds it; returns the holder's value. Atomic. */
  claim (key: string, value: string, options: { ttlMs: number }): Promise<string>
  putEpisode (record: EpisodeRecord): Promise<void>
  findEpisode (id: string): Promise<EpisodeRecord | undefined>
  putGroup (record: GroupRecord): Promise<void>
  findGroup (id: string): Promise<GroupRecord | undefined>
  /** Says that a node lives; forgotten after ttlMs. */
  heartbeat (node: NodeRecord, options: { ttlMs: number }): Promise<void>
  liveNodes (): Promise<NodeRecord[]>
  close (): Promise<void>
}
