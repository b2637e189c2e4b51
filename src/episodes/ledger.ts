// The exactly-once book of one episode: what is committed, what runs, which results are still held. Knows no sandbox.
import { defer } from '../base/defer.ts'
import { decideSeq, type SeqDecision, type SeqEntry, type SeqRequest } from './seq.ts'

export interface LedgerOptions {
  onBusy: () => void
  onIdle: () => void
}

/** Begun work commits by calling commit, once; when it throws before that, nothing is committed. */
export type Work<T> = (commit: (outcome: T) => void) => Promise<T>

interface Running<T> extends SeqEntry { readonly done: Promise<T> }
interface Held<T> extends SeqEntry { readonly outcome: T }

export type Route<T> =
  | Extract<SeqDecision, { do: 'run' | 'refuse' }>
  | { do: 'join', done: Promise<T> }
  | { do: 'replay', outcome: T }

export class SeqLedger<T> {
  readonly #options: LedgerOptions
  #committed = 0
  #running: Running<T> | undefined
  #held: Held<T>[] = []

  constructor (options: LedgerOptions) {
    this.#options = options
  }

  get committed (): number { return this.#committed }
  get running (): SeqEntry | undefined { return this.#running }
  /** The outcome of the committed seq, if it is still held. */
  get last (): { seq: number, outcome: T } | undefined { return this.#held.find(({ seq }) => seq === this.#committed) }

  route (seq: number, request: SeqRequest): Route<T> {
    const decision = decideSeq({ committed: this.#committed, running: this.#running, held: this.#held }, seq, request)
    switch (decision.do) {
      case 'replay': {
        const held = this.#held.find(entry => entry.seq === seq)
        return held === undefined ? { do: 'refuse', code: 'SEQ_EXPIRED' } : { do: 'replay', outcome: held.outcome }
      }
      case 'join': return this.#running === undefined ? { do: 'refuse', code: 'SEQ_GAP' } : { do: 'join', done: this.#running.done }
      case 'run':
      case 'refuse': return decision
    }
  }

  /** Starts work under the next seq. It goes on when nobody waits; a client's own request lets older results go. */
  begin (request: SeqRequest, work: Work<T>): Promise<T> {
    const seq = this.#committed + 1
    const done = defer<T>()
    done.promise.catch(() => {}) // whoever waits has it; a caller that left can repeat the seq
    const running: Running<T> = { seq, request, done: done.promise }
    this.#running = running
    if (request.type !== 'autoSubmit') this.#held = []
    this.#options.onBusy()
    work(outcome => {
      this.#committed = seq
      this.#held.push({ seq, request, outcome })
      this.#idle(running)
    }).then(done.resolve, error => {
      this.#idle(running)
      done.reject(error)
    })
    return done.promise
  }

  /** Lets every held result go. */
  forget (): void { this.#held = [] }

  #idle (running: Running<T>): void {
    if (this.#running !== running) return
    this.#running = undefined
    this.#options.onIdle()
  }
}
