import t from 'tap'
import type { Command } from '../../../src/sandbox/command.ts'
import { fields } from '../../../src/sandbox/warden/fields.ts'
import { decodeReady, decodeRefusal, decodeResult, encodeHello, encodeRun } from '../../../src/sandbox/warden/messages.ts'
import { chance } from './support/random.ts'

const COMMAND: Command = { script: 'true', timeoutMs: 1000, outputBytes: 100 }

await t.test('what a shell cannot hold is left out of a command, and said', async t => {
  const { pieces, warnings } = encodeRun({ ...COMMAND, script: 'a\0b', env: { 'NO-NAME': '1', OK: 'x' } }, { stream: false })
  t.equal(Buffer.concat(pieces.slice(2)).toString(), 'OK=x\0ab')
  t.equal(warnings.length, 2)
})

await t.test('times and caps are sent within the range of their fields', async t => {
  const [head] = encodeRun({ ...COMMAND, timeoutMs: 1e15, outputBytes: 1e15 }, { stream: false }).pieces
  t.same([Buffer.from(head ?? []).readUInt32LE(4), Buffer.from(head ?? []).readUInt32LE(8)], [24 * 3_600_000, 4 << 20])
  const [least] = encodeRun({ ...COMMAND, timeoutMs: 0.2, outputBytes: 0 }, { stream: false }).pieces
  t.same([Buffer.from(least ?? []).readUInt32LE(4), Buffer.from(least ?? []).readUInt32LE(8)], [1, 2])
})

await t.test('each ending is told apart', async t => {
  t.same(decodeResult(result({ kind: 0, code: 3 }), COMMAND).ending, { kind: 'exited', exitCode: 3 })
  t.same(decodeResult(result({ kind: 1, code: 9 }), COMMAND).ending, { kind: 'signalled', signal: 'SIGKILL' })
  t.same(decodeResult(result({ kind: 1, code: 40 }), COMMAND).ending, { kind: 'signalled', signal: 'SIG40' })
  t.same(decodeResult(result({ kind: 2 }), COMMAND).ending, { kind: 'timedOut' })
  t.same(decodeResult(result({ kind: 3 }), COMMAND).ending, { kind: 'cancelled' })
  t.throws(() => decodeResult(result({ kind: 4 }), COMMAND), { code: 'WARDEN_FAULT' })
})

await t.test('a result brings output, gap, directory and warnings', async t => {
  t.match(decodeResult(result({ kind: 0 }), COMMAND), {
    stdout: { bytes: Buffer.from('out'), headBytes: 1, droppedBytes: 7 },
    stderr: { bytes: Buffer.from('e'), headBytes: 1, droppedBytes: 0 },
    durationMs: 1.5,
    cwd: '/w',
    oomKilled: false,
    warnings: ['careful'],
  })
})

await t.test('more output than was asked for, a relative directory or bytes left over are faults', async t => {
  t.throws(() => decodeResult(result({ kind: 0 }), { ...COMMAND, outputBytes: 2 }), { code: 'WARDEN_FAULT' })
  t.throws(() => decodeResult(result({ kind: 0, cwd: 'w/' }), COMMAND), { code: 'WARDEN_FAULT' })
  t.throws(() => decodeResult(Buffer.concat([result({ kind: 0 }), Buffer.from('x')]), COMMAND), { code: 'WARDEN_FAULT' })
})

await t.test('no bytes at all make a decoder throw anything but WARDEN_FAULT', async t => {
  const good = result({ kind: 0 })
  for (let seed = 1; seed <= 2000; seed++) {
    const random = chance(seed)
    const part = good.subarray(0, random.below(good.length + 1))
    const bytes = random.below(2) === 0 ? random.bytes(random.below(120)) : Buffer.from(part)
    if (bytes.length > 0) bytes[random.below(bytes.length)] = random.below(256)
    for (const decode of [() => decodeResult(bytes, COMMAND), () => decodeReady(bytes), () => decodeRefusal(bytes)]) {
      try {
        decode()
      } catch (error) {
        if ((error as { code?: unknown }).code !== 'WARDEN_FAULT') t.fail(`seed ${seed}: ${String(error)}`)
      }
    }
  }
})

await t.test('a warden of another version or that is not process 1 is refused', async t => {
  const ready = { version: 1, lastSeq: 7, runningSeq: 0, badFrames: 3 }
  t.same(decodeReady(fields([1, 4], [1, 4], [7, 4], [0, 4], [3, 4])), ready)
  t.throws(() => decodeReady(fields([2, 4], [1, 4], [0, 4], [0, 4], [0, 4])), { code: 'WARDEN_FAULT' })
  t.throws(() => decodeReady(fields([1, 4], [9, 4], [0, 4], [0, 4], [0, 4])), { code: 'WARDEN_FAULT' })
})

await t.test('a hello is laid out as the warden reads it', async t => {
  const bytes = encodeHello({ nonce: Buffer.from('12345678'), uid: 1000, gid: 1001, graceMs: 2000, workdir: '/é' })
  t.same(bytes, Buffer.concat([Buffer.from('12345678'), fields([1000, 4], [1001, 4], [2000, 4], [3, 2]), Buffer.from('/é')]))
})

function result ({ kind, code = 0, cwd = '/w' }: { kind: number, code?: number, cwd?: string }): Buffer {
  return Buffer.concat([
    fields([kind, 1], [code, 1], [0, 1], [1, 1], [1500, 8], [0, 8], [0, 8], [0, 8], [cwd.length, 2]),
    fields([3, 4], [1, 4], [7, 8], [1, 4], [1, 4], [0, 8]),
    Buffer.from(cwd),
    fields([7, 2]), Buffer.from('careful'),
    Buffer.from('oute'),
  ])
}
