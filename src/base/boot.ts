// The name of one start of one process on one machine, such that any process on that machine can tell whether it still runs.
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { hostname } from 'node:os'

export type BootState = 'running' | 'ended' | 'elsewhere'

/** `<machine>-<pid>-<start time of the process>`; safe as a label value. */
export function createBootId (pid = process.pid): string {
  return `${machine()}-${pid}-${startTime(pid) ?? 0}`
}

/** "elsewhere" for another machine's boot and for what is no boot id: nothing here can tell. */
export function findBootState (boot: string): BootState {
  const [where, pid, started, ...rest] = boot.split('-')
  if (where !== machine() || !/^\d+$/.test(pid ?? '') || started === undefined || rest.length > 0) return 'elsewhere'
  return startTime(Number(pid)) === started ? 'running' : 'ended'
}

function machine (): string {
  return createHash('sha256').update(hostname()).digest('hex').slice(0, 12)
}

/** Clock ticks from the kernel's boot to the process's start: field 22 of proc(5) stat; undefined when there is no such process. */
function startTime (pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] // the name before it may hold anything
  } catch {
    return undefined // no such process: that is the answer
  }
}
