// Runs the command line as a process of its own, from the launcher on, and reads what it prints.
import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'

export interface Ended { exitCode: number | null, stdout: string, stderr: string }

export interface Launched extends AsyncDisposable {
  /** Resolves with the match once stdout has it; rejects when the process ends before. */
  until (pattern: RegExp): Promise<RegExpExecArray>
  kill (signal: NodeJS.Signals): void
  readonly ended: Promise<Ended>
}

/** The environment holds PATH and what is given, so that settings of the machine do not matter. */
export function launch (args: readonly string[], env: Record<string, string> = {}): Launched {
  const child = spawn(process.execPath, [LAUNCHER, ...args], { env: { PATH: process.env['PATH'] ?? '', ...env } })
  const read = { stdout: '', stderr: '' }
  const ended = new Promise<Ended>(resolve => child.once('close', exitCode => resolve({ exitCode, ...read })))
  child.stderr.on('data', chunk => { read.stderr += String(chunk) })
  child.stdout.on('data', chunk => { read.stdout += String(chunk) })
  return {
    ended,
    kill: signal => { child.kill(signal) },
    async until (pattern) {
      const found = new Promise<RegExpExecArray>(resolve => {
        const look = (): void => {
          const match = pattern.exec(read.stdout)
          if (match === null) return
          child.stdout.off('data', look)
          resolve(match)
        }
        child.stdout.on('data', look)
        look()
      })
      const tooEarly = ended.then(({ exitCode, stdout, stderr }) => {
        throw new Error(`ended with ${exitCode} before ${pattern}:\n${stdout}${stderr}`)
      })
      return await Promise.race([found, tooEarly])
    },
    async [Symbol.asyncDispose] () {
      child.kill('SIGKILL')
      await ended
    },
  }
}

const LAUNCHER = fileURLToPath(new URL('../../src/cli/assay.mjs', import.meta.url))
