// Gathers what the daemon's events say of one container, from before it starts.
import { defer } from '../../../base/defer.ts'
import type { ContainerAction } from './events.ts'
import type { Evidence } from './loss.ts'

export class ContainerWatch {
  readonly evidence: Evidence = { killed: false, died: false, removed: false, oom: false }
  #ended = defer<undefined>()

  /** Resolves when the container has died or is removed; never rejects. */
  get ended (): Promise<undefined> { return this.#ended.promise }

  note (action: ContainerAction): void {
    switch (action) {
      case 'kill': this.evidence.killed = true; break
      case 'oom': this.evidence.oom = true; break
      case 'die': this.evidence.died = true; this.#ended.resolve(undefined); break
      case 'destroy': this.evidence.removed = true; this.#ended.resolve(undefined); break
    }
  }
}
