// SIGINT and SIGTERM as an AbortSignal: the first asks to stop in order, the second to stop at once.

import { setMaxListeners } from 'node:events'

export class Interrupted extends Error {
  override readonly name = 'Interrupted'
  /** 128 + the signal's number, as shells do. */
  readonly exitCode: number

  constructor (signal: 'SIGINT' | 'SIGTERM') {
    super(`stopped by ${signal}`)
    this.exitCode = signal === 'SIGINT' ? 130 : 143
  }
}

export interface Interrupts extends Disposable {
  /** Aborts with Interrupted at the first signal. */
  readonly signal: AbortSignal
  /** Adds what a second signal still does, for at most 10 s, before the process exits, e.g. removing sandboxes. */
  onSecond (clean: () => Promise<unknown>): void
}

export interface InterruptOptions {
  /** Default: process. */
  source?: NodeJS.EventEmitter | undefined
  exit?: ((code: number) => void) | undefined
}

export function listenForInterrupts (options: InterruptOptions = {}): Interrupts {
  const { source = process, exit = code => process.exit(code) } = options
  const controller = new AbortController()
  setMaxListeners(0, controller.signal) // many things of one command wait for it at once
  const cleanings: Array<() => Promise<unknown>> = []
  let isLeaving = false
  const onSignal = (name: 'SIGINT' | 'SIGTERM'): void => {
    const interrupted = new Interrupted(name)
    if (!controller.signal.aborted) return controller.abort(interrupted)
    if (isLeaving) return
    isLeaving = true
    const leave = (): void => exit(interrupted.exitCode)
    setTimeout(leave, SECOND_MS).unref()
    Promise.allSettled(cleanings.map(async clean => await clean())).then(leave, leave)
  }
  source.on('SIGINT', onSignal)
  source.on('SIGTERM', onSignal)
  return {
    signal: controller.signal,
    onSecond: clean => { cleanings.push(clean) },
    [Symbol.dispose] () {
      source.off('SIGINT', onSignal)
      source.off('SIGTERM', onSignal)
    },
  }
}

const SECOND_MS = 10_000
