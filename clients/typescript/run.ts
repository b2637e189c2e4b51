// Drives all members of a group at once: reset, policy, submit, and another attempt where one ended without a reward.
import { setMaxListeners } from 'node:events'
import type { Verdict } from '../../src/protocol/index.ts'
import { AssayError, isAssayError } from '../../src/errors.ts'
import type { Episode } from './episode.ts'
import { isAttemptLost } from './errors.ts'
import type { Group } from './group.ts'

/** Acts until it is satisfied or episode.isDone; run submits afterwards where the policy did not. */
export type Policy = (episode: Episode, context: PolicyContext) => Promise<unknown>

export interface PolicyContext {
  /** 0 .. size - 1. */
  readonly member: number
  /** 0 for the first. */
  readonly attempt: number
  /** Aborts when the run ends early; pass it to what the policy waits for. */
  readonly signal: AbortSignal
}

export interface RunOptions {
  /** Attempts per member at most; default 1 + the group's refills. */
  attempts?: number | undefined
  signal?: AbortSignal | undefined
  /** Called with each verdict, void ones included, as it comes. */
  onVerdict?: ((verdict: Verdict, episode: Episode) => void) | undefined
}

export interface RunResult {
  /** Shape [size]; null where no attempt had a reward. Never average null as a number. */
  rewards: Array<1 | 0 | null>
  /** Shape [size]; true where rewards is a number. */
  usable: boolean[]
  /** Shape [size]; the newest attempt of each member, with its verdict. */
  episodes: Episode[]
}

/**
 * Resolves when each member has a reward or no attempts left. An error of the policy, or one that another attempt
 * cannot cure, aborts the other members, waits for them to stop and is then thrown.
 */
export async function runGroup (group: Group, policy: Policy, options: RunOptions = {}): Promise<RunResult> {
  const { signal, attempts = 1 + group.refills, onVerdict } = options
  signal?.throwIfAborted()
  const stop = new AbortController()
  setMaxListeners(0, stop.signal) // every member listens while it waits
  const onAbort = (): void => stop.abort(signal?.reason)
  signal?.addEventListener('abort', onAbort, { once: true })
  try {
    const members = Array.from({ length: group.size }, async (_, member) => {
      try {
        return await driveMember({ group, policy, attempts, signal: stop.signal, onVerdict }, member)
      } catch (error) {
        stop.abort(error) // the first one is the reason of all others
        throw error
      }
    })
    await Promise.allSettled(members)
    if (stop.signal.aborted) throw stop.signal.reason
    const episodes = await Promise.all(members)
    const rewards = episodes.map(episode => episode.verdict?.reward ?? null)
    return { rewards, usable: rewards.map(reward => reward !== null), episodes }
  } finally {
    signal?.removeEventListener('abort', onAbort)
  }
}

interface Drive {
  group: Group
  policy: Policy
  attempts: number
  signal: AbortSignal
  onVerdict: RunOptions['onVerdict']
}

async function driveMember (drive: Drive, member: number): Promise<Episode> {
  const { attempts, signal, onVerdict } = drive
  let last: Episode | undefined
  let lost: AssayError | undefined
  for (let attempt = 0; attempt < attempts; attempt++) {
    const episode = await resetAttempt(drive, member, attempt)
    if (episode === undefined) break
    if (isAssayError(episode)) {
      lost = episode
      continue // this attempt never got its sandbox; the next may
    }
    last = episode
    const verdict = await driveAttempt(drive, episode)
    onVerdict?.(verdict, episode)
    if (verdict.usable) return episode
    signal.throwIfAborted()
  }
  if (last === undefined) throw lost ?? new RangeError('attempts must be at least 1')
  return last
}

/**
 * undefined when the server gives this member no further attempt: fewer refills than asked for, or a closed group.
 * The error, when the attempt ended before it began.
 */
async function resetAttempt (
  { group, signal }: Drive, member: number, attempt: number
): Promise<Episode | AssayError | undefined> {
  try {
    return await group.member(member).reset({ attempt, signal })
  } catch (error) {
    if (attempt > 0 && (isAssayError(error, 'ATTEMPT_ILLEGAL') || isAssayError(error, 'GROUP_CLOSED'))) return undefined
    if (isAttemptLost(error)) return error
    throw error
  }
}

async function driveAttempt ({ policy, signal }: Drive, episode: Episode): Promise<Verdict> {
  try {
    await policy(episode, { member: episode.member ?? 0, attempt: episode.attempt, signal })
    return await episode.submit({ signal })
  } catch (error) {
    if (isAttemptLost(error)) return await lostVerdict(episode, error)
    await episode[Symbol.asyncDispose]()
    throw error
  }
}

/** The void verdict of an attempt that a request found ended. */
async function lostVerdict (episode: Episode, cause: AssayError): Promise<Verdict> {
  const { verdict } = await episode.status()
  if (verdict !== undefined) return verdict
  throw new AssayError('INTERNAL', { message: `${episode.id} is lost (${cause.code}) but has no verdict.`, cause })
}
