// A sandbox for tests without an engine: the real warden as process 1 of new namespaces of this machine, /tmp its own.
// The machine's other directories are not protected: only commands that the tests wrote may run here.
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { resolve } from 'node:path'
import { Duplex } from 'node:stream'
import { promisify } from 'node:util'
import type { Sandbox } from '../../../../src/sandbox/engine.ts'
import { openWarden } from '../../../../src/sandbox/warden/link.ts'

export const canUnshare: boolean = process.platform === 'linux' && process.getuid?.() === 0

/** Compiles the warden into directory. */
export async function buildWarden (directory: string): Promise<string> {
  const path = resolve(directory, 'warden')
  await promisify(execFile)('make', ['-s', '-C', resolve('docker/warden'), `OUT=${path}`])
  return path
}

export interface Process extends AsyncDisposable {
  readonly stream: Duplex
}

/** Starts the warden; its stream is its stdin and stdout. */
export function startWarden (path: string): Process {
  const script = 'exec 5<"$1"; mount -t tmpfs tmpfs /tmp && cd / && exec /proc/self/fd/5'
  // the namespaces end with this process, however it ends
  const child = spawn('setpriv', [
    '--pdeathsig', 'KILL', 'unshare', '--pid', '--fork', '--kill-child', '--mount', '--mount-proc', '--ipc', '--net', '--uts', 'sh', '-c', script, 'sh', path,
  ], { stdio: ['pipe', 'pipe', 'inherit'], env: { PATH: '/usr/local/bin:/usr/bin:/bin', HOME: '/tmp' } })
  const exited = once(child, 'exit')
  const stream = Duplex.from({ readable: child.stdout, writable: child.stdin })
  stream.on('error', () => {}) // it breaks when the process is killed, which is how each test ends
  return {
    stream,
    async [Symbol.asyncDispose] () {
      child.kill('SIGKILL')
      await exited
    },
  }
}

/** Just enough of a Sandbox for its contract. */
export async function createSandbox (path: string): Promise<Sandbox> {
  const started = startWarden(path)
  const warden = await openWarden(started.stream, { epoch: 1, uid: 0, gid: 0, workdir: '/tmp' })
  return {
    id: 'namespace',
    ref: { ref: 'namespace', sandboxId: 'namespace', node: 'test', boot: 'test' },
    image: { id: 'host', workdir: '/tmp', user: '' },
    lost: new Promise(() => {}),
    run: async (command, options) => await warden.run(command, options),
    put: async (root, entries, options) => await warden.put(root, entries, options),
    get: async (root, paths, options) => await warden.get(root, paths, options),
    manifest: async (root, options) => await warden.manifest(root, options),
    killAll: async options => await warden.killAll(options),
    async [Symbol.asyncDispose] () {
      warden.close()
      await started[Symbol.asyncDispose]()
    },
  }
}
