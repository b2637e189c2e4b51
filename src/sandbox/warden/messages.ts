// What the frames of hello, run, result and refusal hold. Pure; every field that comes back is checked.
import { constants } from 'node:os'
import { lossyText, utf8 } from '../../base/bytes.ts'
import { AssayError } from '../../errors.ts'
import type { Command, Ending, Output, Ran } from '../command.ts'
import { FieldReader, fields } from './fields.ts'

export const WARDEN_VERSION = 1
/** What the warden keeps of one stream at most; a larger wish is lowered to it. */
export const MAX_OUTPUT_BYTES = 4 << 20
const LONGEST_RUN_MS = 24 * 3_600_000

export interface Hello { nonce: Uint8Array, uid: number, gid: number, graceMs: number, workdir: string }

export interface Ready {
  version: number
  /** Seq of the last result that is kept, 0 for none. */
  lastSeq: number
  /** Seq of the command that runs, 0 for none. */
  runningSeq: number
  /** Frames that the warden skipped so far. */
  badFrames: number
}

export type RefusalCode = 'busy' | 'bad' | 'epoch' | 'old' | 'failed' | 'cancelled'

export function encodeHello ({ nonce, uid, gid, graceMs, workdir }: Hello): Buffer {
  const directory = utf8(workdir)
  return Buffer.concat([nonce, fields([uid, 4], [gid, 4], [graceMs, 4], [directory.length, 2]), directory])
}

/** Throws WARDEN_FAULT. */
export function decodeReady (payload: Uint8Array): Ready {
  const from = new FieldReader(payload)
  const version = from.u32()
  const pid = from.u32()
  const ready = { version, lastSeq: from.u32(), runningSeq: from.u32(), badFrames: from.u32() }
  if (version !== WARDEN_VERSION || pid !== 1) {
    throw new AssayError('WARDEN_FAULT', { message: `The warden speaks version ${version} as process ${pid}; this server needs version ${WARDEN_VERSION} as process 1.` })
  }
  return ready
}

export function decodeRefusal (payload: Uint8Array): { code: RefusalCode, sentence: string } {
  const codes: RefusalCode[] = ['busy', 'bad', 'epoch', 'old', 'failed', 'cancelled']
  return { code: codes[(payload[0] ?? 0) - 1] ?? 'bad', sentence: lossyText(payload.subarray(1, 256)) }
}

/** The pieces of a run request, and what the agent is to be told about what was left out of it. */
export interface EncodedRun { pieces: Uint8Array[], warnings: string[] }

export function encodeRun (command: Command, { stream }: { stream: boolean }): EncodedRun {
  const warnings: string[] = []
  let script = utf8(command.script)
  if (script.includes(0)) {
    script = script.filter(byte => byte !== 0)
    warnings.push('NUL characters in the command were left out: a shell cannot hold them.')
  }
  const env = encodeEnvironment(command.env ?? {}, warnings)
  const cwd = utf8(command.cwd ?? '')
  const stdin = command.stdin ?? new Uint8Array(0)
  const flags = (command.merge === true ? 1 : 0) | (command.isolated === true ? 2 : 0) | (stream ? 4 : 0) |
    (command.stdin === undefined ? 0 : 8) | (command.cwd === undefined ? 0 : 16)
  const head = fields(
    [flags, 4], [clamp(command.timeoutMs, 1, LONGEST_RUN_MS), 4], [clamp(command.outputBytes, 2, MAX_OUTPUT_BYTES), 4],
    [cwd.length, 4], [env.length, 4], [script.length, 4], [stdin.length, 4])
  return { pieces: [head, cwd, env, script, stdin], warnings }
}

/** Throws WARDEN_FAULT. */
export function decodeResult (payload: Uint8Array, command: Command): Ran {
  const from = new FieldReader(payload)
  const kind = from.u8()
  const code = from.u8()
  const oomKilled = from.u8() === 1
  const warningCount = from.u8()
  const durationMs = from.u64() / 1000
  from.bytes(24) // user and system time, peak memory: not reported on yet
  const cwdBytes = from.u16()
  const sizes = [0, 1].map(() => ({ kept: from.u32(), headBytes: from.u32(), droppedBytes: from.u64() }))
  const cwd = lossyText(from.bytes(cwdBytes))
  const warnings = Array.from({ length: warningCount }, () => lossyText(from.bytes(from.u16())))
  const cap = clamp(command.outputBytes, 2, MAX_OUTPUT_BYTES)
  const [stdout, stderr] = sizes.map(({ kept, headBytes, droppedBytes }): Output => {
    if (kept > cap || headBytes > kept) throw new AssayError('WARDEN_FAULT', { message: 'The warden returned more output than was asked for.' })
    return { bytes: from.bytes(kept), headBytes, droppedBytes }
  })
  if (stdout === undefined || stderr === undefined || from.left > 0 || !cwd.startsWith('/')) {
    throw new AssayError('WARDEN_FAULT', { message: 'The result of the warden is malformed.' })
  }
  return { ending: endingOf(kind, code), stdout, stderr, durationMs, cwd, oomKilled, warnings }
}

function endingOf (kind: number, code: number): Ending {
  switch (kind) {
    case 0: return { kind: 'exited', exitCode: code }
    case 1: return { kind: 'signalled', signal: signalName(code) }
    case 2: return { kind: 'timedOut' }
    case 3: return { kind: 'cancelled' }
    default: throw new AssayError('WARDEN_FAULT', { message: `The warden reported the unknown ending ${kind}.` })
  }
}

function signalName (number: number): string {
  const known = Object.entries(constants.signals).find(([, value]) => value === number)
  return known?.[0] ?? `SIG${number}`
}

function encodeEnvironment (env: Record<string, string>, warnings: string[]): Uint8Array {
  const refused = Object.keys(env).filter(name => !/^[A-Za-z_][A-Za-z0-9_]*$/.test(name))
  if (refused.length > 0) warnings.push(`Variables whose names a shell cannot hold were left out: ${JSON.stringify(refused).slice(0, 200)}.`)
  const entries = Object.entries(env).filter(([name]) => !refused.includes(name))
  return utf8(entries.map(([name, value]) => `${name}=${value.replaceAll('\0', '')}\0`).join(''))
}

function clamp (value: number, least: number, most: number): number {
  return Math.min(most, Math.max(least, Math.ceil(value)))
}
