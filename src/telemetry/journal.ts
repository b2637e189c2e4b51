// The trajectory of each episode as append-only JSON lines: the port, and its files. Knows records, not what they mean.
import { appendFile, mkdir } from 'node:fs/promises'
import path from 'node:path'
import type { Clock } from '../base/clock.ts'
import type { Logger } from './log.ts'
import type { Metrics } from './metrics.ts'

export type JournalRecord = {
  type: 'reset' | 'action' | 'observation' | 'submit' | 'verdict' | 'state'
  /** Milliseconds since the epoch. */
  at: number
  seq?: number | undefined
} & Record<string, unknown>

export interface Journal extends AsyncDisposable {
  /** Appends one record to the episode's file. Never throws: a failing disk is logged and counted. */
  append (episodeId: string, record: JournalRecord): void
  /** No more records of this episode; its file is flushed and closed. */
  end (episodeId: string): Promise<void>
}

export const noJournal: Journal = {
  append () {},
  async end () {},
  async [Symbol.asyncDispose] () {},
}

export interface FileJournalOptions {
  /** Files are directory/YYYY-MM-DD/<episode>.jsonl, by the day of the first record. */
  directory: string
  clock: Clock
  log: Logger
  metrics: Pick<Metrics, 'journalFailures'>
  /** Bytes that wait to be written at most; records beyond are counted as failures and left out. */
  bufferBytes?: number
}

export function createFileJournal (options: FileJournalOptions): Journal {
  return new FileJournal(options)
}

interface Pending { lines: string[], bytes: number }

class FileJournal implements Journal {
  readonly #options: FileJournalOptions
  readonly #bufferBytes: number
  /** As many as there are episodes that have not ended. */
  readonly #files = new Map<string, string>()
  readonly #pending = new Map<string, Pending>()
  readonly #madeDays = new Set<string>()
  #bytes = 0
  #flushing: Promise<void> | undefined
  #cancelFlush: (() => void) | undefined

  constructor (options: FileJournalOptions) {
    this.#options = options
    this.#bufferBytes = options.bufferBytes ?? BUFFER_BYTES
  }

  append (episodeId: string, record: JournalRecord): void {
    let line: string
    try {
      line = `${JSON.stringify(record)}\n`
    } catch (error) {
      return this.#fail(1, error)
    }
    if (this.#bytes + line.length > this.#bufferBytes) return this.#fail(1, new Error('the journal buffer is full'))
    if (!this.#files.has(episodeId)) this.#files.set(episodeId, this.#fileOf(episodeId, record.at))
    const pending = this.#pending.get(episodeId) ?? { lines: [], bytes: 0 }
    pending.lines.push(line)
    pending.bytes += line.length
    this.#bytes += line.length
    this.#pending.set(episodeId, pending)
    this.#cancelFlush ??= this.#options.clock.after(FLUSH_MS, () => {
      this.#cancelFlush = undefined
      this.#flush().catch(() => {}) // it never rejects: failures are counted where they happen
    })
  }

  async end (episodeId: string): Promise<void> {
    await this.#flush()
    if (!this.#pending.has(episodeId)) this.#files.delete(episodeId)
  }

  async [Symbol.asyncDispose] (): Promise<void> {
    this.#cancelFlush?.()
    this.#cancelFlush = undefined
    await this.#flush()
    this.#files.clear()
  }

  /** Resolves once everything that waits now is written or has failed. Never rejects. */
  async #flush (): Promise<void> {
    await this.#flushing // what it has not taken yet, the next one takes
    this.#flushing ??= this.#writeAll().finally(() => { this.#flushing = undefined })
    await this.#flushing
  }

  async #writeAll (): Promise<void> {
    const batches = [...this.#pending]
    this.#pending.clear()
    for (let next = 0; next < batches.length; next += OPEN_FILES) {
      await Promise.all(batches.slice(next, next + OPEN_FILES).map(([id, pending]) => this.#write(id, pending)))
    }
  }

  async #write (episodeId: string, { lines, bytes }: Pending): Promise<void> {
    try {
      const file = this.#files.get(episodeId) ?? this.#fileOf(episodeId, this.#options.clock.now())
      const day = path.dirname(file)
      if (!this.#madeDays.has(day)) {
        await mkdir(day, { recursive: true, mode: 0o700 })
        this.#madeDays.clear() // the days before are over
        this.#madeDays.add(day)
      }
      await appendFile(file, lines.join(''), { mode: 0o600 }) // actions may carry secrets in env and stdin
    } catch (error) {
      this.#madeDays.clear() // the directory may be gone
      this.#fail(lines.length, error)
    } finally {
      this.#bytes -= bytes
    }
  }

  #fileOf (episodeId: string, at: number): string {
    return path.join(this.#options.directory, new Date(at).toISOString().slice(0, 10), `${episodeId}.jsonl`)
  }

  #fail (count: number, error: unknown): void {
    this.#options.metrics.journalFailures.inc(count)
    this.#options.log.error({ error: String(error), records: count }, 'journal records lost')
  }
}

const BUFFER_BYTES = 64 * 1024 * 1024
const FLUSH_MS = 50
const OPEN_FILES = 8
