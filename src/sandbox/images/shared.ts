// Work that several callers want at once is done once; each caller hears its progress.

export type Say = (line: string) => void

interface Work<T> {
  result: Promise<T>
  listeners: Set<Say>
}

export class SharedWork<T> {
  #running = new Map<string, Work<T>>()

  /** Joins the work under key, or starts it. The work does not end with one caller. */
  async run (key: string, fn: (say: Say) => Promise<T>, onProgress: Say = () => {}): Promise<T> {
    const work = this.#running.get(key) ?? this.#begin(key, fn)
    work.listeners.add(onProgress)
    try {
      return await work.result
    } finally {
      work.listeners.delete(onProgress)
    }
  }

  #begin (key: string, fn: (say: Say) => Promise<T>): Work<T> {
    const listeners = new Set<Say>()
    const say = (line: string): void => { for (const listener of listeners) listener(line) }
    const result = fn(say).finally(() => this.#running.delete(key))
    const work = { result, listeners }
    this.#running.set(key, work)
    return work
  }
}
