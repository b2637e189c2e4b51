// What only the compiled warden itself can show: who owns it, torn streams, results sent again, its refusal to run elsewhere.
import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import type { Duplex } from 'node:stream'
import t from 'tap'
import type { Command } from '../../../src/sandbox/command.ts'
import { FrameDecoder, HELLO_MARKER, TYPES, encodeFrame, type Frame } from '../../../src/sandbox/warden/frame.ts'
import { openWarden } from '../../../src/sandbox/warden/link.ts'
import { decodeReady, decodeRefusal, decodeResult, encodeHello, encodeRun } from '../../../src/sandbox/warden/messages.ts'
import { buildWarden, canUnshare, startWarden } from './support/namespace.ts'

const COMMAND: Command = { script: 'echo $((++n)) >>/tmp/runs; wc -l </tmp/runs', timeoutMs: 5000, outputBytes: 1000 }
const skip = canUnshare ? false : 'making namespaces needs root'
const BASE = { more: false, offset: 0 }
const RUN = Buffer.concat(encodeRun(COMMAND, { stream: false }).pieces)
const path = await buildWarden(t.testdir())

await t.test('it refuses to be any process but the first', async t => {
  const ran = spawnSync(path, { encoding: 'utf8' })
  t.same([ran.status, ran.stdout], [2, ''])
  t.match(ran.stderr, /process 1/)
})

await t.test('a seq that has a result is answered and not run again, also to a new owner', { skip }, async t => {
  await using started = startWarden(path)
  const first = owner(started.stream, 1)
  await first.greet()
  t.equal(await first.run(5), '1\n')
  t.equal(await first.run(5), '1\n')
  const second = owner(started.stream, 2)
  t.match(decodeReady((await second.greet()).payload), { lastSeq: 5, runningSeq: 0 })
  t.equal(await second.run(5), '1\n')
  t.equal(await second.run(6), '2\n')
  const old = await second.ask({ type: TYPES.run, seq: 5, payload: RUN })
  t.equal(decodeRefusal(old.payload).code, 'old')
})

await t.test('a stale owner is refused and cannot disturb the newer one', { skip }, async t => {
  await using started = startWarden(path)
  const newer = owner(started.stream, 7)
  await newer.greet()
  const stale = owner(started.stream, 7)
  t.equal(decodeRefusal((await stale.greet()).payload).code, 'epoch')
  stale.send({ type: TYPES.run, seq: 1, payload: RUN })
  stale.send({ type: TYPES.killAll, seq: 2, payload: Buffer.alloc(0) })
  t.equal(await newer.run(3), '1\n', 'nothing of it was run')
})

await t.test('a new owner gets through although the former died in the middle of a frame', { skip }, async t => {
  await using started = startWarden(path)
  const first = owner(started.stream, 1)
  await first.greet()
  const torn = encodeFrame(first.nonce, { ...BASE, epoch: 1, type: TYPES.run, seq: 1, payload: Buffer.alloc(900_000) })
  started.stream.write(torn.subarray(0, 1000))
  const second = owner(started.stream, 2)
  t.equal((await second.greet()).type, TYPES.ready)
  t.equal(await second.run(1), '1\n')
})

await t.test('noise and damaged frames are skipped', { skip }, async t => {
  await using started = startWarden(path)
  const only = owner(started.stream, 1)
  await only.greet()
  started.stream.write(Buffer.concat([Buffer.alloc(5000, 0x9e), only.nonce, HELLO_MARKER.subarray(0, 5)]))
  const damaged = encodeFrame(only.nonce, { ...BASE, epoch: 1, type: TYPES.run, seq: 1, payload: RUN })
  damaged[60] = (damaged[60] ?? 0) ^ 1
  started.stream.write(damaged)
  t.equal(await only.run(2), '1\n')
  const malformed = await only.ask({ type: TYPES.run, seq: 3, payload: Buffer.from('what?') })
  t.equal(decodeRefusal(malformed.payload).code, 'bad')
  const unknown = await only.ask({ type: 50, seq: 4, payload: Buffer.alloc(0) })
  t.equal(decodeRefusal(unknown.payload).code, 'bad')
  const pong = await only.ask({ type: TYPES.ping, seq: 5, payload: Buffer.alloc(0) })
  t.equal(pong.type, TYPES.pong)
})

await t.test('one command at a time: another is refused, the same is joined', { skip }, async t => {
  await using started = startWarden(path)
  const only = owner(started.stream, 1)
  await only.greet()
  const long = Buffer.concat(encodeRun({ ...COMMAND, script: 'sleep 0.3; echo done' }, { stream: false }).pieces)
  const running = only.ask({ type: TYPES.run, seq: 1, payload: long })
  only.send({ type: TYPES.run, seq: 1, payload: long })
  const other = await only.ask({ type: TYPES.run, seq: 2, payload: RUN })
  t.equal(decodeRefusal(other.payload).code, 'busy')
  t.equal(Buffer.from(decodeResult((await running).payload, COMMAND).stdout.bytes).toString(), 'done\n')
})

await t.test('commands of another user have no capability and cannot gain one', { skip }, async t => {
  await using started = startWarden(path)
  const warden = await openWarden(started.stream, { epoch: 1, uid: 12345, gid: 12345, workdir: '/tmp' })
  const script = 'id -u; grep -E "^(CapPrm|CapEff|CapBnd|NoNewPrivs)" /proc/self/status | cut -f2 | tr "\\n" " "; cat /proc/self/oom_score_adj'
  const ran = await warden.run({ ...COMMAND, script })
  t.equal(Buffer.from(ran.stdout.bytes).toString(), `12345\n${'0000000000000000 '.repeat(3)}1 1000\n`)
  await warden.put('/tmp/own', [{ type: 'file', path: 'f', mode: 0o644, content: Buffer.from('x') }])
  t.equal(Buffer.from((await warden.run({ ...COMMAND, script: 'stat -c %u /tmp/own/f' })).stdout.bytes).toString(), '12345\n')
  await t.rejects(warden.put('/proc', [{ type: 'absent', path: 'version' }]), { code: 'FILE_REFUSED' })
  await t.rejects(warden.put('/root/not-mine', [{ type: 'file', path: 'f', mode: 0o644, content: Buffer.from('x') }]), { code: 'FILE_REFUSED' })
})

await t.test('commands of uid 0 keep a short list of capabilities', { skip }, async t => {
  await using started = startWarden(path)
  const warden = await openWarden(started.stream, { epoch: 1, uid: 0, gid: 0, workdir: '/tmp' })
  const ran = await warden.run({ ...COMMAND, script: 'grep -E "^Cap(Prm|Bnd)" /proc/self/status | cut -f2' })
  // CHOWN DAC_OVERRIDE FOWNER FSETID KILL SETGID SETUID NET_BIND_SERVICE
  t.equal(Buffer.from(ran.stdout.bytes).toString(), '00000000000004fb\n00000000000004fb\n')
})

interface Ask { type: number, seq: number, payload: Uint8Array }

interface Owner {
  readonly nonce: Buffer
  greet (): Promise<Frame>
  send (frame: Ask): void
  /** Sends and waits for a frame with the same seq. */
  ask (frame: Ask): Promise<Frame>
  /** Runs COMMAND and returns what it printed. */
  run (seq: number): Promise<string>
}

/** Speaks frames over a stream that others may use too. */
function owner (stream: Duplex, epoch: number): Owner {
  const nonce = Buffer.from(`nonce-${epoch}${'abcdefghij'[stream.listenerCount('data')] ?? 'z'}`)
  const decoder = new FrameDecoder(nonce)
  const frames: Frame[] = []
  stream.on('data', (chunk: Buffer) => frames.push(...decoder.push(chunk)))
  const send = (frame: Ask): void => {
    stream.write(encodeFrame(frame.type === TYPES.hello ? HELLO_MARKER : nonce, { ...BASE, epoch, ...frame }))
  }
  const ask = async (frame: Ask): Promise<Frame> => {
    send(frame)
    const signal = AbortSignal.timeout(10_000)
    for (;;) {
      const at = frames.findIndex(({ seq }) => seq === frame.seq)
      const [found] = at === -1 ? [] : frames.splice(at, 1)
      if (found !== undefined) return found
      await once(stream, 'data', { signal })
    }
  }
  return {
    nonce,
    send,
    ask,
    greet: async () => {
      const hello = encodeHello({ nonce, uid: 0, gid: 0, graceMs: 500, workdir: '/tmp' })
      return await ask({ type: TYPES.hello, seq: 900, payload: hello })
    },
    run: async seq => {
      const { payload } = await ask({ type: TYPES.run, seq, payload: RUN })
      return Buffer.from(decodeResult(payload, COMMAND).stdout.bytes).toString()
    },
  }
}
