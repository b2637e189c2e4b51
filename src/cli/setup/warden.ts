// Compiles the warden into the data directory, once per content of its sources.
import { createHash } from 'node:crypto'
import { access, mkdir, mkdtemp, readdir, readFile, rename, rm } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { installPackages } from './apt.ts'
import { hasProgram, runProcess } from './process.ts'

export interface WardenOptions {
  dataDir: string
  say: (line: string) => void
  signal?: AbortSignal | undefined
}

/** Returns its absolute path. Throws ENGINE_UNAVAILABLE with what to type when there is no compiler and none can be installed. */
export async function ensureWarden ({ dataDir, say, signal }: WardenOptions): Promise<string> {
  const path = resolve(dataDir, `warden-${await hashSources(SOURCES)}`, 'warden')
  if (await exists(path)) return path
  const compiles = await Promise.all(['gcc', 'make'].map(name => hasProgram(name, signal)))
  if (compiles.includes(false)) {
    await installPackages({ packages: ['gcc', 'make', 'libc6-dev'], what: 'A C compiler', say, signal })
  }
  say('compiling the warden')
  await mkdir(dirname(path), { recursive: true })
  // somewhere else and then renamed: others may be doing this at the same time
  const directory = await mkdtemp(join(dirname(path), 'build-'))
  try {
    await runProcess('make', ['-s', '-C', SOURCES, `OUT=${join(directory, 'warden')}`], { timeoutMs: 180_000, signal })
    await rename(join(directory, 'warden'), path)
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
  return path
}

async function hashSources (directory: string): Promise<string> {
  const hash = createHash('sha256').update(process.arch)
  const files = (await readdir(directory, { recursive: true, withFileTypes: true }))
    .filter(entry => entry.isFile() && /(\.[ch]|Makefile)$/.test(entry.name))
    .map(entry => join(entry.parentPath, entry.name))
  for (const file of files.sort()) hash.update(`\0${file.slice(directory.length)}\0`).update(await readFile(file))
  return hash.digest('hex').slice(0, 16)
}

async function exists (path: string): Promise<boolean> {
  try {
    await access(path)
    return true
  } catch {
    return false // whatever the reason, compiling will say it better
  }
}

const SOURCES = fileURLToPath(new URL('../../../docker/warden', import.meta.url))
