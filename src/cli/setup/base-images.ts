// The base images that the sample tasks start from: local, pulled, or made here from Debian packages.
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemClock } from '../../base/clock.ts'
import { AssayError, isAssayError } from '../../errors.ts'
import { DockerClient } from '../../sandbox/engines/docker/client.ts'
import { follow } from '../../sandbox/images/follow.ts'
import { findImage, pullImage, standInName } from '../../sandbox/images/pull.ts'
import { installPackages } from './apt.ts'
import { hasProgram, runProcess } from './process.ts'

export interface BaseImagesOptions {
  dockerHost: string
  say: (line: string) => void
  signal?: AbortSignal | undefined
}

/** Makes sure that every name in BASE_IMAGES can be built from. Throws IMAGE_UNAVAILABLE or ENGINE_UNAVAILABLE. */
export async function ensureBaseImages ({ dockerHost, say, signal }: BaseImagesOptions): Promise<void> {
  const client = new DockerClient({ dockerHost, clock: systemClock })
  try {
    for (const [name, recipe] of Object.entries(BASE_IMAGES)) await ensureBase(client, { name, recipe, say, signal })
  } finally {
    client.close()
  }
}

export interface Recipe {
  /** Debian release. */
  suite: string
  packages: readonly string[]
  /** Shell text run at the end with the tree's root as $1. */
  finish: string
  env: Readonly<Record<string, string>>
  command: readonly string[]
}

/** Public name → how to make a stand-in for it. */
export const BASE_IMAGES: Readonly<Record<string, Recipe>> = {
  'python:3.11-slim-bookworm': {
    suite: 'bookworm',
    packages: ['python3', 'python3-pip', 'python3-venv', 'ca-certificates', 'tzdata'],
    // the public image's python is not managed by the distribution: pip install works and python is a name
    finish: 'rm -f "$1"/usr/lib/python3*/EXTERNALLY-MANAGED; ln -sf /usr/bin/python3 "$1/usr/local/bin/python"',
    env: { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', LANG: 'C.UTF-8' },
    command: ['python3'],
  },
}

interface Base {
  name: string
  recipe: Recipe
  say: (line: string) => void
  signal: AbortSignal | undefined
}

async function ensureBase (client: DockerClient, { name, recipe, say, signal }: Base): Promise<void> {
  for (const local of [name, standInName(name)]) {
    if (await findImage(client, local, { signal }) !== undefined) return say(`${name}: ready (${local})`)
  }
  say(`${name}: asking the registry`)
  try {
    await pullImage(client, name, { signal, firstMs: REGISTRY_MS })
    return say(`${name}: pulled`)
  } catch (error) {
    signal?.throwIfAborted()
    if (!isAssayError(error)) throw error
  }
  say(`${name}: no registry has it, making a stand-in from Debian packages (about a minute)`)
  await makeStandIn(client, { name, recipe, say, signal })
  say(`${name}: made`)
}

async function makeStandIn (client: DockerClient, { name, recipe, say, signal }: Base): Promise<void> {
  if (!await hasProgram('mmdebstrap', signal)) await installPackages({ packages: ['mmdebstrap'], what: 'mmdebstrap', say, signal })
  const directory = await mkdtemp(join(tmpdir(), 'assay-base-'))
  try {
    const tar = join(directory, 'root.tar')
    // its temporary tree goes into our directory, so that it goes with it whatever happens
    await runProcess('mmdebstrap', [...mmdebstrapArgs(recipe), recipe.suite, tar], {
      timeoutMs: 900_000, signal, env: { TMPDIR: directory }, code: 'IMAGE_UNAVAILABLE',
    })
    await importTar(client, { tar, repo: standInName(name), recipe, signal })
  } finally {
    // never through a mount that a killed mmdebstrap left behind
    const mounts = await readFile('/proc/self/mountinfo', 'utf8')
    if (mounts.includes(directory)) say(`${directory} is left behind: something is still mounted in it`)
    else await rm(directory, { recursive: true, force: true, maxRetries: 3 })
  }
}

function mmdebstrapArgs ({ packages, finish }: Recipe): string[] {
  return [
    '--variant=minbase',
    `--include=${packages.join(',')}`,
    '--aptopt=APT::Install-Recommends "false"',
    '--aptopt=Acquire::Languages "none"',
    ...['doc', 'man', 'info', 'locale'].map(name => `--dpkgopt=path-exclude=/usr/share/${name}/*`),
    `--customize-hook=${finish}`,
  ]
}

interface Import {
  tar: string
  repo: string
  recipe: Recipe
  signal: AbortSignal | undefined
}

async function importTar (client: DockerClient, { tar, repo, recipe, signal }: Import): Promise<void> {
  const at = repo.lastIndexOf(':')
  if (at === -1) throw new AssayError('IMAGE_UNAVAILABLE', { message: `${repo} needs a tag` })
  const env = Object.entries(recipe.env).map(([name, value]) => `ENV ${name}=${value}`)
  const changes = [...env, `CMD ${JSON.stringify(recipe.command)}`]
  const query = { repo: repo.slice(0, at), tag: repo.slice(at + 1), changes }
  await follow(client, `the import of ${repo}`, {
    open: (docker, abortSignal) => docker.importImage(tar, { ...query, abortSignal }),
    signal,
    firstMs: 300_000,
    idleMs: 300_000,
  })
}

const REGISTRY_MS = 5_000
