// What `assay doctor` reports: each thing the server needs, what was found, and how to get it. Changes nothing.
import { statfs } from 'node:fs/promises'
import { z } from 'zod'
import { systemClock } from '../../base/clock.ts'
import { isAssayError } from '../../errors.ts'
import { DockerClient } from '../../sandbox/engines/docker/client.ts'
import { hasProgram, runProcess } from './process.ts'

export interface Check {
  name: string
  ok: boolean
  /** What is there now, for people. */
  found: string
  /** How to get it; also given when it is there. */
  how: string
}

export interface CheckOptions {
  dockerHost: string
  signal?: AbortSignal | undefined
}

export async function checkMachine ({ dockerHost, signal }: CheckOptions): Promise<Check[]> {
  const programs = await Promise.all(Object.entries(PROGRAMS).map(async ([name, how]): Promise<Check> => {
    const ok = await hasProgram(name, signal)
    return { name, ok, found: ok ? 'on the PATH' : 'missing', how }
  }))
  const docker = await checkDocker(dockerHost, signal)
  return [checkNode(process.versions.node), ...programs, ...docker, await checkFiles(signal)]
}

/** Pure: Node 20.11 or newer. */
export function checkNode (version: string): Check {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  return { name: 'node', ok: major > 20 || (major === 20 && minor >= 11), found: version, how: 'install Node 20.11 or newer' }
}

async function checkDocker (dockerHost: string, signal: AbortSignal | undefined): Promise<Check[]> {
  const client = new DockerClient({ dockerHost, clock: systemClock })
  try {
    const info = await client.call('info', async docker => Info.parse(await docker.info()), { timeoutMs: 5_000, signal })
    return [
      { name: 'docker', ok: true, found: `${info.ServerVersion} at ${dockerHost}`, how: HOW_DOCKER },
      {
        name: 'live-restore',
        ok: info.LiveRestoreEnabled,
        found: info.LiveRestoreEnabled ? 'on' : 'off: a restart of dockerd ends all sandboxes',
        how: 'start dockerd with --live-restore, or set "live-restore": true in daemon.json',
      },
      await checkDisk(info.DockerRootDir),
    ]
  } catch (error) {
    signal?.throwIfAborted()
    if (!isAssayError(error)) throw error
    return [{ name: 'docker', ok: false, found: error.message, how: HOW_DOCKER }]
  } finally {
    client.close()
  }
}

async function checkDisk (directory: string): Promise<Check> {
  const how = `free space under ${directory}, e.g. docker system prune`
  try {
    const { bavail, bsize } = await statfs(directory)
    const freeBytes = bavail * bsize
    return { name: 'disk', ok: freeBytes >= MIN_DISK_BYTES, found: `${(freeBytes / 1e9).toFixed(1)} GB free in ${directory}`, how }
  } catch {
    // the daemon is elsewhere or the directory is closed to us: not a fault, only unknown
    return { name: 'disk', ok: true, found: `${directory} cannot be looked at from here`, how }
  }
}

async function checkFiles (signal: AbortSignal | undefined): Promise<Check> {
  const limit = (await runProcess('sh', ['-c', 'ulimit -n'], { timeoutMs: 5_000, signal })).trim()
  const ok = limit === 'unlimited' || Number(limit) >= MIN_FILES
  return { name: 'open files', ok, found: limit, how: `ulimit -n ${MIN_FILES} before starting the server` }
}

const Info = z.object({ ServerVersion: z.string(), LiveRestoreEnabled: z.boolean(), DockerRootDir: z.string() })

const HOW_DOCKER = 'apt-get install docker.io iptables, then dockerd --live-restore; as root, npm run quickstart does it'
const PROGRAMS: Readonly<Record<string, string>> = {
  gcc: 'apt-get install gcc libc6-dev',
  make: 'apt-get install make',
  iptables: 'apt-get install iptables; dockerd needs it unless it runs with --iptables=false',
  mmdebstrap: 'apt-get install mmdebstrap; only needed where no registry can be reached',
}
const MIN_DISK_BYTES = 10e9
const MIN_FILES = 4096
