// What every benchmark shares: a closed loop with warm-up, rows of percentiles, machine facts, a table and a JSON file.
import { mkdir, writeFile } from 'node:fs/promises'
import { availableParallelism, cpus, release, totalmem } from 'node:os'
import { fileURLToPath } from 'node:url'
import { createLatency } from '../src/cli/latency.ts'
import { table, type Output } from '../src/cli/output.ts'

export interface Row {
  /** "assay" or the name of a peer. */
  subject: string
  concurrency: number
  /** Calls measured. */
  n: number
  p50Ms: number
  p95Ms: number
  p99Ms: number
  perSecond: number
  errors: number
}

export interface Report {
  name: string
  machine: MachineFacts
  rows: Row[]
  /** By how many times assay is better; above 1 is better, whatever the unit. */
  ratios: Record<string, number>
  memory: { serverRssBytes: number }
}

export interface MachineFacts {
  at: string
  cpuModel: string
  cpus: number
  memoryBytes: number
  kernel: string
  node: string
}

export interface Load {
  subject: string
  /** Workers; each has one call in flight. */
  concurrency: number
  /** Calls measured, over all workers. */
  n: number
  /** Calls before, which count for nothing. */
  warmUp: number
  /** One call of one worker, 0 .. concurrency - 1. Throws when it failed; failed calls are in the percentiles. */
  call (worker: number): Promise<unknown>
}

/** Runs the load to its end; workers take calls from one counter, so a slow one does not hold the others up. */
export async function measure ({ subject, concurrency, n, warmUp, call }: Load): Promise<Row> {
  await closedLoop(concurrency, warmUp, call)
  const latency = createLatency()
  let errors = 0
  const startedAt = performance.now()
  await closedLoop(concurrency, n, async worker => {
    try {
      await latency.time(async () => await call(worker))
    } catch {
      errors++ // counted and shown; the load goes on, as a trainer would
    }
  })
  const perSecond = n / ((performance.now() - startedAt) / 1000)
  const at = (percent: number): number => round(latency.percentileMs(percent))
  return { subject, concurrency, n, p50Ms: at(50), p95Ms: at(95), p99Ms: at(99), perSecond: round(perSecond), errors }
}

export function machineFacts (): MachineFacts {
  return {
    at: new Date().toISOString(),
    cpuModel: cpus()[0]?.model ?? 'unknown',
    cpus: availableParallelism(),
    memoryBytes: totalmem(),
    kernel: release(),
    node: process.versions.node,
  }
}

/** The row of a subject at a concurrency. Throws RangeError when it was not measured. */
export function getRow (rows: readonly Row[], subject: string, concurrency: number): Row {
  const row = rows.find(row => row.subject === subject && row.concurrency === concurrency)
  if (row === undefined) throw new RangeError(`${subject} was not measured at ${concurrency}`)
  return row
}

/** Prints the report, as a table or as JSON, and writes it to benchmarks/results/NAME.json. */
export async function publish (report: Report, { output, asJson }: { output: Output, asJson: boolean }): Promise<void> {
  const directory = fileURLToPath(new URL('./results/', import.meta.url))
  const text = JSON.stringify(report, undefined, 2)
  await mkdir(directory, { recursive: true })
  await writeFile(`${directory}${report.name}.json`, `${text}\n`)
  for (const line of asJson ? [text] : reportLines(report)) output.line(line)
}

export function reportLines ({ name, machine, rows, ratios, memory }: Report): string[] {
  const cells = rows.map(row => [
    row.subject, row.concurrency, row.n, row.p50Ms, row.p95Ms, row.p99Ms, row.perSecond, row.errors,
  ].map(String))
  return [
    `${name}: ${machine.cpus} x ${machine.cpuModel}, Linux ${machine.kernel}, Node ${machine.node}`,
    ...table([HEADER, ...cells], { right: [1, 2, 3, 4, 5, 6, 7] }),
    ...Object.entries(ratios).map(([ratio, value]) => `  ${ratio}: ${value.toFixed(2)}x`),
    `  server memory: ${(memory.serverRssBytes / 2 ** 20).toFixed(0)} MiB resident`,
  ]
}

async function closedLoop (concurrency: number, n: number, call: (worker: number) => Promise<unknown>): Promise<void> {
  let left = n
  await Promise.all(Array.from({ length: concurrency }, async (_, worker) => {
    while (left-- > 0) await call(worker)
  }))
}

function round (value: number): number {
  return Math.round(value * 1000) / 1000
}

const HEADER = ['subject', 'at once', 'n', 'p50 ms', 'p95 ms', 'p99 ms', 'per s', 'errors'] as const
