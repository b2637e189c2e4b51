// The server under test as a process of its own, as it is deployed: its memory is its own, its event loop too.
import { spawn, type ChildProcess } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

export interface ServerProcess extends AsyncDisposable {
  readonly url: string
  readonly httpUrl: string
  /** Resident memory, bytes. */
  rssBytes (): Promise<number>
  /** One value of /metrics, e.g. readMetric('assay_sandboxes', 'state="used"'); 0 when there is no such line. */
  readMetric (name: string, labels?: string): Promise<number>
  /** Drains and ends the server; rejects when it did not exit with 0. Idempotent. */
  stop (): Promise<void>
}

export interface ServerProcessOptions {
  engine: 'docker' | 'fake'
  /** Node id: the label of its sandboxes. */
  node: string
  /** Milliseconds until it must listen. */
  startMs?: number | undefined
  /** Flags of its Node, e.g. --max-old-space-size=256. */
  nodeFlags?: readonly string[] | undefined
  /** Further settings, ASSAY_* variables. */
  settings?: Record<string, string> | undefined
}

export async function startServerProcess (options: ServerProcessOptions): Promise<ServerProcess> {
  const { engine, node, startMs = 600_000, nodeFlags = [], settings = {} } = options
  const launcher = fileURLToPath(new URL('../src/cli/assay.mjs', import.meta.url))
  const child = spawn(process.execPath, [...nodeFlags, launcher, 'serve', '--engine', engine, '--port', '0'], {
    env: { ...process.env, ASSAY_NODE: node, ASSAY_LOG_LEVEL: 'error', ...settings },
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true, // a Ctrl-C is for the benchmark, which then stops the server in order
  })
  const exited = new Promise<number | null>(resolve => child.once('close', resolve))
  const stop = async (): Promise<void> => {
    if (child.exitCode === null) child.kill('SIGTERM')
    const code = await exited
    if (code !== 0) throw new Error(`the server ended with ${code ?? 'a signal'}`)
  }
  try {
    const { url, httpUrl } = await listening(child, { startMs, exited })
    return {
      url,
      httpUrl,
      rssBytes: async () => await residentBytes(child.pid ?? 0),
      readMetric: async (name, labels) => parseMetric(await (await fetch(`${httpUrl}/metrics`)).text(), name, labels),
      stop,
      [Symbol.asyncDispose]: stop,
    }
  } catch (error) {
    child.kill('SIGTERM')
    await exited
    throw error
  }
}

/** Pure: the value of one line of the Prometheus text format. */
export function parseMetric (text: string, name: string, labels = ''): number {
  const start = labels === '' ? `${name} ` : `${name}{${labels}} `
  const line = text.split('\n').find(line => line.startsWith(start))
  return line === undefined ? 0 : Number(line.slice(start.length))
}

interface Listening { url: string, httpUrl: string }
interface ListenOptions { startMs: number, exited: Promise<unknown> }

async function listening (child: ChildProcess, options: ListenOptions): Promise<Listening> {
  if (child.stdout === null) throw new TypeError('the server has no stdout')
  const lines = createInterface({ input: child.stdout })
  let timer: NodeJS.Timeout | undefined
  try {
    return await new Promise((resolve, reject) => {
      timer = setTimeout(() => reject(new Error(`the server did not listen within ${options.startMs} ms`)), options.startMs)
      lines.on('line', line => {
        const [, url, httpUrl] = /listens on (ws:\S+) and (http:\S+)/.exec(line) ?? []
        if (url !== undefined && httpUrl !== undefined) resolve({ url, httpUrl })
      })
      options.exited.then(() => reject(new Error('the server ended before it listened')), reject)
    })
  } finally {
    clearTimeout(timer)
  }
}

async function residentBytes (pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? NaN) * 1024
}
