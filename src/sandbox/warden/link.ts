// A sandbox's warden as the server sees it: run commands, move files, kill everything. One thing at a time.
import { randomBytes } from 'node:crypto'
import type { Duplex } from 'node:stream'
import { Semaphore } from '../../base/semaphore.ts'
import { AssayError } from '../../errors.ts'
import type { Command, Ran } from '../command.ts'
import type { RunOptions, Sandbox, WaitOptions } from '../engine.ts'
import type { FileEntry, Manifest } from '../files.ts'
import { TYPES } from './frame.ts'
import { Conversation, lost, type Call, type Refusal } from './conversation.ts'
import { MAX_OUTPUT_BYTES, decodeReady, decodeResult, encodeHello, encodeRun } from './messages.ts'
import { checkEnd, decodeFiles, decodeManifest, encodeEntries, encodeFileRequest, encodePaths } from './records.ts'

/** Milliseconds; bytes. */
const GRACE_MS = 2_000
const SLACK_MS = 5_000
const READY_MS = 10_000
const FILES_MS = 60_000
const KILL_ALL_MS = 5_000
const PUT_BYTES = 80 << 20
const HASHED_BYTES = 8 * 1024 ** 3

export interface WardenOptions extends WaitOptions {
  /** Higher than that of every earlier attachment to this sandbox: the older ones are refused from then on. */
  epoch: number
  uid: number
  gid: number
  workdir: string
}

/** The verbs of the Sandbox port, by the same rules. */
export interface Warden extends Pick<Sandbox, 'run' | 'put' | 'get' | 'manifest' | 'killAll'> {
  /** Resolves when the stream ended or the protocol broke; what waited then rejects with SANDBOX_LOST or WARDEN_FAULT. */
  readonly closed: Promise<void>
  close (): void
}

/** Greets the warden at the other end of stream and takes the sandbox over. Throws SANDBOX_LOST, WARDEN_FAULT, or the signal's reason. */
export async function openWarden (stream: Duplex, options: WardenOptions): Promise<Warden> {
  const { epoch, uid, gid, workdir, signal } = options
  const nonce = randomBytes(8)
  const link = new Conversation(stream, { nonce, epoch })
  const abandon = (): void => link.fail(lost('the attempt to greet its warden was given up'))
  signal?.addEventListener('abort', abandon, { once: true })
  try {
    signal?.throwIfAborted()
    const hello = encodeHello({ nonce, uid, gid, graceMs: GRACE_MS, workdir })
    const reply = await link.request({
      type: TYPES.hello,
      pieces: [hello],
      reply: TYPES.ready,
      replyBytes: 1024,
      watchdogMs: READY_MS,
    })
    if (!Buffer.isBuffer(reply)) throw new AssayError('WARDEN_FAULT', { message: reply.sentence })
    link.continueAfter(decodeReady(reply).lastSeq)
  } catch (error) {
    link.fail(lost('its warden could not be greeted'))
    signal?.throwIfAborted()
    throw error
  } finally {
    signal?.removeEventListener('abort', abandon)
  }
  return new LinkedWarden(link)
}

type GetOptions = Parameters<Sandbox['get']>[2]

class LinkedWarden implements Warden {
  readonly #link: Conversation
  readonly #turn = new Semaphore(1)

  constructor (link: Conversation) {
    this.#link = link
  }

  get closed (): Promise<void> { return this.#link.closed }

  async run (command: Command, { signal, onOutput }: RunOptions = {}): Promise<Ran> {
    const { pieces, warnings } = encodeRun(command, { stream: onOutput !== undefined })
    const reply = await this.#request({
      type: TYPES.run,
      pieces,
      reply: TYPES.result,
      replyBytes: 2 * Math.min(command.outputBytes, MAX_OUTPUT_BYTES) + (64 << 10),
      watchdogMs: command.timeoutMs + GRACE_MS + SLACK_MS,
      turn: signal,
      signal,
      onOutput,
    })
    if (!Buffer.isBuffer(reply)) throw this.#refused(reply.sentence, reply.code === 'epoch' || reply.code === 'failed')
    const ran = this.#decoded(() => decodeResult(reply, command))
    return warnings.length === 0 ? ran : { ...ran, warnings: [...warnings, ...ran.warnings] }
  }

  async put (root: string, entries: readonly FileEntry[], { signal }: WaitOptions = {}): Promise<void> {
    const head = encodeFileRequest({ root, timeoutMs: FILES_MS })
    const pieces = [head, ...encodeEntries(entries, { maxBytes: PUT_BYTES })]
    const reply = await this.#files({ type: TYPES.put, pieces, replyBytes: 4096, signal })
    this.#decoded(() => checkEnd(reply))
  }

  async get (root: string, paths: readonly string[], { maxBytes, signal }: GetOptions): Promise<FileEntry[]> {
    const names = encodePaths(paths)
    const nameBytes = names.reduce((sum, name) => sum + name.length, 0)
    // each path has a header, a target or its contents, which come in parts with a header each
    const replyBytes = maxBytes + maxBytes / 64 + nameBytes + paths.length * (64 + 4096) + 4096
    const pieces = [encodeFileRequest({ root, timeoutMs: FILES_MS, maxBytes }), ...names]
    const reply = await this.#files({ type: TYPES.get, pieces, replyBytes, signal })
    return this.#decoded(() => decodeFiles(reply, { asked: paths, maxBytes }))
  }

  async manifest (root: string, { maxEntries, signal }: WaitOptions & { maxEntries: number }): Promise<Manifest> {
    const pieces = [encodeFileRequest({ root, timeoutMs: FILES_MS, maxEntries, maxBytes: HASHED_BYTES })]
    const reply = await this.#files({ type: TYPES.manifest, pieces, replyBytes: 4096 + maxEntries * 8448, signal })
    return this.#decoded(() => decodeManifest(reply, { maxEntries }))
  }

  async killAll ({ signal }: WaitOptions = {}): Promise<void> {
    const reply = await this.#request({
      type: TYPES.killAll,
      pieces: [],
      reply: TYPES.killed,
      replyBytes: 0,
      watchdogMs: KILL_ALL_MS + SLACK_MS,
      turn: signal,
    })
    if (!Buffer.isBuffer(reply)) throw this.#refused(reply.sentence, true)
  }

  close (): void {
    this.#link.fail(lost('the server has closed it'))
  }

  /** Waits for its turn, which a signal can end, then for the reply. */
  async #request ({ turn, ...call }: Call & { turn: AbortSignal | undefined }): Promise<Buffer | Refusal> {
    const permit = await this.#turn.take(1, { signal: turn })
    try {
      return await this.#link.request(call)
    } finally {
      permit[Symbol.dispose]()
    }
  }

  async #files (call: Pick<Call, 'type' | 'pieces' | 'replyBytes' | 'signal'>): Promise<Buffer> {
    const { signal } = call
    const reply = await this.#request({ ...call, reply: TYPES.records, watchdogMs: FILES_MS + SLACK_MS, turn: signal })
    if (Buffer.isBuffer(reply)) return reply
    if (reply.code === 'cancelled') signal?.throwIfAborted()
    if (reply.code === 'failed') throw new AssayError('ENGINE_FAULT', { message: reply.sentence }) // slow or out of means: no rule was broken
    throw this.#refused(reply.sentence, reply.code === 'epoch')
  }

  /** What cannot be decoded breaks the conversation; a broken rule does not. */
  #decoded<T> (decode: () => T): T {
    try {
      return decode()
    } catch (error) {
      if (error instanceof AssayError && error.code === 'WARDEN_FAULT') this.#link.fail(error)
      throw error
    }
  }

  #refused (sentence: string, isLost: boolean): AssayError {
    const error = new AssayError(isLost ? 'SANDBOX_LOST' : 'WARDEN_FAULT', { message: sentence })
    this.#link.fail(error)
    return error
  }
}
