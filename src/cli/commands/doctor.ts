// assay doctor: what this machine has and lacks, and how to get it. Changes nothing.
import { loadConfig } from '../../config.ts'
import type { CommandContext } from '../main.ts'
import { table, WIDTH } from '../output.ts'
import { checkMachine, type Check } from '../setup/check.ts'

/** 1 when something that is needed is missing. */
export async function doctor ({ output, interrupts }: CommandContext): Promise<number> {
  const checks = await checkMachine({ dockerHost: loadConfig().dockerHost, signal: interrupts.signal })
  for (const line of doctorLines(checks)) output.line(line)
  return checks.every(check => check.ok || isAdvice(check)) ? 0 : 1
}

/** Pure: a table, then how to get what is missing. */
export function doctorLines (checks: readonly Check[]): string[] {
  const missing = checks.filter(({ ok }) => !ok)
  const nameWidth = Math.max(0, ...checks.map(({ name }) => name.length))
  const room = WIDTH - nameWidth - 13
  const rows = checks.map(check => [check.name, stateOf(check), shorten(check.found, room)])
  return [
    ...table([['check', 'state', 'found'], ...rows]),
    '',
    ...(missing.length === 0
      ? ['Nothing is missing: npm run quickstart']
      : missing.flatMap(({ name, how }) => [`${name}: ${how}`])),
  ]
}

function stateOf (check: Check): string {
  return check.ok ? 'ok' : isAdvice(check) ? 'advice' : 'missing'
}

// Good to have: without it Assay serves, but worse, or only where a registry answers.
function isAdvice ({ name }: Check): boolean {
  return ['live-restore', 'iptables', 'mmdebstrap'].includes(name)
}

function shorten (text: string, width: number): string {
  return text.length > width ? `${text.slice(0, width - 1)}…` : text
}
