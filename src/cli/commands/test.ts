// assay test: tap over the tests, on a machine made ready for them, told in short, ending with a line of counts.
import { spawn } from 'node:child_process'
import { stat } from 'node:fs/promises'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { loadConfig } from '../../config.ts'
import type { CommandContext } from '../main.ts'
import { prepareMachine } from '../prepare.ts'

/** args go to tap; a directory stands for the tests in it. Not 0 when anything failed. */
export async function test (args: readonly string[], context: CommandContext): Promise<number> {
  const { output, interrupts: { signal } } = context
  await prepareMachine(loadConfig(), { ...context, install: true })
  const tapArgs = await Promise.all(args.map(expandDirectory))
  const digest = createDigest(line => output.line(line))
  const exitCode = await runTap(tapArgs, { signal, onLine: digest.read })
  signal.throwIfAborted()
  const { passed, failed, skipped } = digest.counts(exitCode)
  output.line(`${passed} passed, ${failed} failed, ${skipped} skipped`)
  return failed > 0 && exitCode === 0 ? 1 : exitCode
}

export interface Counts { passed: number, failed: number, skipped: number }

export interface Digest {
  /** One line of TAP. */
  read (line: string): void
  /** By tap's own summary; without one, or with an exit code that no assertion explains, at least one has failed. */
  counts (exitCode: number): Counts
}

/** Prints the line of each test file and, of what failed, the whole of it; the rest of the TAP only counts. */
export function createDigest (print: (line: string) => void): Digest {
  let summary: string | undefined
  let isInFailure = false
  return {
    read (line) {
      if (line.startsWith('# { total: ')) summary = line
      if (/^\s*not ok \d/.test(line) && !/ # (TODO|SKIP)/i.test(line)) isInFailure = true
      else if (/^\s*(ok|not ok) \d|^\s*# Subtest|^\s*1\.\.\d/.test(line)) isInFailure = false
      if (isInFailure || /^(ok|not ok) \d|^Bail out!/.test(line)) print(line)
    },
    counts (exitCode) {
      const count = (name: string): number => Number(new RegExp(`\\b${name}: (\\d+)`).exec(summary ?? '')?.[1] ?? 0)
      const mustHaveFailed = summary === undefined || exitCode !== 0
      return {
        passed: count('pass'),
        failed: Math.max(count('fail'), mustHaveFailed ? 1 : 0),
        skipped: count('skip') + count('todo'),
      }
    },
  }
}

async function expandDirectory (argument: string): Promise<string> {
  if (argument.startsWith('-')) return argument
  const isDirectory = await stat(argument).then(found => found.isDirectory(), () => false)
  return isDirectory ? `${argument.replace(/\/+$/, '')}/**/*.test.ts` : argument
}

interface TapRun {
  signal: AbortSignal
  onLine: (line: string) => void
}

async function runTap (args: readonly string[], { signal, onLine }: TapRun): Promise<number> {
  const bin = fileURLToPath(import.meta.resolve('tap')).replace(/dist[/\\].*$/, 'dist/esm/run.mjs')
  const child = spawn(process.execPath, [bin, 'run', ...args, '--reporter=tap'], { stdio: ['ignore', 'pipe', 'inherit'] })
  createInterface({ input: child.stdout }).on('line', onLine)
  const onAbort = (): void => { child.kill('SIGINT') }
  signal.addEventListener('abort', onAbort, { once: true })
  try {
    return await new Promise((resolve, reject) => {
      child.once('error', reject)
      child.once('close', code => resolve(code ?? 1))
    })
  } finally {
    signal.removeEventListener('abort', onAbort)
  }
}
