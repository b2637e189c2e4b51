// What group.get answers, from members and their attempts. Pure.
import type { Balance, GroupReport, GroupState, MemberState } from '../protocol/index.ts'
import type { AttemptRecord, GroupSetup } from './group.ts'

export interface GroupFacts {
  setup: GroupSetup
  state: GroupState
  /** In the admission queue; undefined when it does not wait. */
  position: number | undefined
  /** Every member is finished. */
  isOver: boolean
  members: ReadonlyArray<{ state: MemberState, attempts: readonly AttemptRecord[] }>
  balance: Balance
  attempts: Balance
}

export function reportGroup ({ setup, state, position, isOver, members, balance, attempts }: GroupFacts): GroupReport {
  const rewards = members.map(member => rewardOf(member.state))
  const usable = rewards.map(reward => reward !== null)
  return {
    group: setup.id,
    task: setup.task.id,
    state,
    size: setup.size,
    concurrency: setup.concurrency,
    ...(state === 'queued' && position !== undefined && { position }),
    rewards,
    usable,
    degenerate: new Set(rewards.filter(reward => reward !== null)).size <= 1,
    degraded: isOver && usable.filter(Boolean).length < (setup.minUsable ?? 0),
    members: members.map((member, index) => {
      const newest = member.attempts.at(-1)
      const count = member.attempts.length
      const episode = newest === undefined ? {} : { episode: newest.episode }
      return { member: index, state: member.state, attempts: count, ...episode }
    }),
    balance,
    attempts,
    meta: setup.meta,
  }
}

function rewardOf (state: MemberState): 1 | 0 | null {
  if (state === 'solved') return 1
  return state === 'unsolved' ? 0 : null
}
