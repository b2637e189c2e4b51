// The two budgets that run by the clock: wall time, paused while nobody is connected, and the ceiling, never paused.
import type { Clock } from '../../base/clock.ts'
import type { BudgetReason } from '../../protocol/index.ts'

export interface TimeBudgetOptions {
  clock: Clock
  /** undefined: no wall budget. */
  wallMs: number | undefined
  ceilingMs: number
  onExhausted: (reason: Extract<BudgetReason, 'budget_wall' | 'budget_ceiling'>) => void
}

/** Counts from start; calls onExhausted once at most. */
export class TimeBudget {
  readonly #options: TimeBudgetOptions
  #spentMs = 0
  #since: number | undefined
  #isStarted = false
  #isPaused = false
  #cancelCeiling: (() => void) | undefined
  #cancelWall: (() => void) | undefined

  constructor (options: TimeBudgetOptions) {
    this.#options = options
  }

  /** Wall milliseconds that count. */
  get wallMs (): number {
    return this.#spentMs + (this.#since === undefined ? 0 : this.#options.clock.monotonic() - this.#since)
  }

  start (): void {
    this.#isStarted = true
    this.#cancelCeiling = this.#options.clock.after(this.#options.ceilingMs, () => this.#exhaust('budget_ceiling'))
    if (!this.#isPaused) this.#run()
  }

  /** Nobody is connected: wall time stands still. */
  pause (): void {
    this.#isPaused = true
    this.#halt()
  }

  resume (): void {
    this.#isPaused = false
    if (this.#isStarted && this.#since === undefined) this.#run()
  }

  stop (): void {
    this.#isStarted = false
    this.#halt()
    this.#cancelCeiling?.()
    this.#cancelCeiling = undefined
  }

  #run (): void {
    const { clock, wallMs } = this.#options
    this.#since = clock.monotonic()
    if (wallMs !== undefined) this.#cancelWall = clock.after(Math.max(0, wallMs - this.#spentMs), () => this.#exhaust('budget_wall'))
  }

  #halt (): void {
    this.#spentMs = this.wallMs
    this.#since = undefined
    this.#cancelWall?.()
    this.#cancelWall = undefined
  }

  #exhaust (reason: 'budget_wall' | 'budget_ceiling'): void {
    this.stop()
    this.#options.onExhausted(reason)
  }
}
