// Installs Debian packages when we may; otherwise says which commands do it.
import { AssayError } from '../../errors.ts'
import { hasProgram, runProcess } from './process.ts'

export interface AptOptions {
  packages: readonly string[]
  /** What they are for, e.g. "the Docker engine". */
  what: string
  say: (line: string) => void
  signal?: AbortSignal | undefined
}

/** Throws ENGINE_UNAVAILABLE with the commands to type when this user cannot install packages. */
export async function installPackages ({ packages, what, say, signal }: AptOptions): Promise<void> {
  if (process.getuid?.() !== 0 || !await hasProgram('apt-get', signal)) {
    throw new AssayError('ENGINE_UNAVAILABLE', { message: `${what} is missing. Install it and run this again:\n${aptCommands(packages).join('\n')}` })
  }
  say(`installing ${packages.join(', ')}`)
  const env = { DEBIAN_FRONTEND: 'noninteractive' }
  await runProcess('apt-get', ['update', '-q'], { timeoutMs: 180_000, env, signal })
  await runProcess('apt-get', ['install', '-y', '-q', '--no-install-recommends', ...packages], { timeoutMs: 600_000, env, signal })
}

export function aptCommands (packages: readonly string[]): string[] {
  return ['  sudo apt-get update', `  sudo apt-get install -y ${packages.join(' ')}`]
}
