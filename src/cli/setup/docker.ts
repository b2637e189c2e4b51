// A Docker engine that answers: found, or installed and started when we may.
import { spawn } from 'node:child_process'
import { mkdir, open } from 'node:fs/promises'
import { join } from 'node:path'
import { systemClock } from '../../base/clock.ts'
import { deadline, orAbort } from '../../base/deadline.ts'
import { AssayError, isAssayError } from '../../errors.ts'
import { DockerClient } from '../../sandbox/engines/docker/client.ts'
import { aptCommands, installPackages } from './apt.ts'
import { hasProgram } from './process.ts'

export interface DockerSetupOptions {
  dockerHost: string
  dataDir: string
  /** Whether packages may be installed and a daemon started. */
  install: boolean
  say: (line: string) => void
  signal?: AbortSignal | undefined
}

/** A daemon that we started goes on when we end; pid is for whoever wants to stop it. */
export type DockerSetup = { started: false } | { started: true, pid: number }

/** Throws ENGINE_UNAVAILABLE whose message lists what to type. */
export async function ensureDocker (options: DockerSetupOptions): Promise<DockerSetup> {
  const { dockerHost, dataDir, install, say, signal } = options
  const found = await pingDocker(dockerHost, signal)
  if (found.ok) return { started: false }
  if (!install || process.getuid?.() !== 0 || !dockerHost.startsWith('unix://')) {
    const message = `No Docker engine answers at ${dockerHost} (${found.reason}). Start one and run this again:`
    throw new AssayError('ENGINE_UNAVAILABLE', { message: [message, ...COMMANDS].join('\n') })
  }
  if (!await hasProgram('dockerd', signal)) {
    await installPackages({ packages: PACKAGES, what: 'The Docker engine', say, signal })
  }
  // installing it may have started it
  if ((await pingDocker(dockerHost, signal)).ok) return { started: false }
  return await startDockerd({ dockerHost, dataDir, say, signal })
}

export type Ping = { ok: true } | { ok: false, reason: string }

/** Whether a daemon answers within three seconds. */
export async function pingDocker (dockerHost: string, signal?: AbortSignal): Promise<Ping> {
  const client = new DockerClient({ dockerHost, clock: systemClock })
  try {
    await client.call('ping', docker => docker.ping(), { timeoutMs: 3_000, signal })
    return { ok: true }
  } catch (error) {
    signal?.throwIfAborted()
    if (!isAssayError(error)) throw error
    return { ok: false, reason: error.message }
  } finally {
    client.close()
  }
}

type StartOptions = Omit<DockerSetupOptions, 'install'>

async function startDockerd ({ dockerHost, dataDir, say, signal }: StartOptions): Promise<DockerSetup> {
  await mkdir(dataDir, { recursive: true })
  const logPath = join(dataDir, 'dockerd.log')
  say(`starting dockerd, log in ${logPath}`)
  await using log = await open(logPath, 'a')
  const args = ['--live-restore', '--host', dockerHost]
  const child = spawn('dockerd', args, { detached: true, stdio: ['ignore', log.fd, log.fd] })
  child.on('error', () => {}) // exitCode and pid below tell
  child.unref()
  const what = `the start of dockerd (its log is ${logPath})`
  using limit = deadline(START_MS, { parent: signal, code: 'ENGINE_UNAVAILABLE', what })
  for (;;) {
    const { ok } = await pingDocker(dockerHost, limit.signal)
    if (ok && child.pid !== undefined) return { started: true, pid: child.pid }
    if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) {
      throw new AssayError('ENGINE_UNAVAILABLE', { message: `dockerd ended (${child.exitCode ?? child.signalCode ?? 'not started'}); its log is ${logPath}` })
    }
    await orAbort(new Promise(resolve => { systemClock.after(POLL_MS, () => resolve(undefined)) }), limit.signal)
  }
}

const PACKAGES = ['docker.io', 'iptables']
const COMMANDS = [...aptCommands(PACKAGES), '  sudo sh -c "setsid dockerd --live-restore >/var/log/dockerd.log 2>&1 &"']
const START_MS = 60_000
const POLL_MS = 200
