// The trajectory of each episode as append-only JSON lines. (Port first; the file sink follows in this file.)

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
