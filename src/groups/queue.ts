// Which waiting requests get their places now. Pure: first come first served, smaller ones behind a young head may pass.

export interface Waiting {
  readonly places: number
  readonly memoryBytes: number
  /** Monotonic milliseconds. */
  readonly since: number
}

export interface Free {
  /** Infinity when only memory bounds. */
  readonly places: number
  readonly memoryBytes: number
}

export interface Ageing {
  /** Monotonic milliseconds. */
  nowMs: number
  ageLimitMs: number
}

/** Indexes to grant, ascending. A head that has waited ageLimitMs is passed by nobody: what is freed adds up for it. */
export function chooseGrants (waiting: readonly Waiting[], free: Free, { nowMs, ageLimitMs }: Ageing): number[] {
  const granted: number[] = []
  let head: Waiting | undefined
  let left = free
  for (const [index, request] of waiting.entries()) {
    const passes = head === undefined || (nowMs - head.since < ageLimitMs && request.memoryBytes < head.memoryBytes)
    if (passes && fits(request, left)) {
      granted.push(index)
      left = { places: left.places - request.places, memoryBytes: left.memoryBytes - request.memoryBytes }
    } else {
      head ??= request
    }
  }
  return granted
}

export function fits (request: Pick<Waiting, 'places' | 'memoryBytes'>, free: Free): boolean {
  return request.places <= free.places && request.memoryBytes <= free.memoryBytes
}
