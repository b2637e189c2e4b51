// The one schema of settings and the only reader of the environment. Every knob: default, unit, sentence.
import { z } from 'zod'
import { isNodeId } from './base/ids.ts'
import { AssayError } from './errors.ts'

const count = (fallback: number) => z.coerce.number().int().min(1).default(fallback)

export const Config = z.strictObject({
  node: z.string().refine(isNodeId, '1 to 24 lower-case letters or digits').default('n1').describe('Name of this node; part of every id'),
  host: z.string().default('127.0.0.1').describe('Address to listen on; without keys it must be loopback'),
  port: z.coerce.number().int().min(0).max(65535).default(7480).describe('TCP port; 0 takes a free one'),
  dataDir: z.string().default('.assay').describe('Journal, caches and built programs'),
  tasksDir: z.string().default('tasks').describe('Directory of task directories'),
  keysFile: z.string().optional().describe('JSON array of keys; without it everyone on loopback is admin'),
  logLevel: z.enum(['debug', 'info', 'warn', 'error', 'silent']).default('info').describe('Least severe level that is logged'),
  engine: z.enum(['docker', 'fake']).default('docker').describe('What makes sandboxes'),
  dockerHost: z.string().default('unix:///var/run/docker.sock').describe('Where the Docker engine answers'),
  imageAliases: z.string().default('').transform(parseAliases).describe('Local names for images, "ubuntu:24.04=mirror/ubuntu:24.04,…", for sites without a registry'),
  caBundle: z.string().optional().describe('CA certificates (PEM file) for image builds behind a proxy that inspects TLS; default: $SSL_CERT_FILE'),
  placeOvercommit: z.coerce.number().min(0.1).max(64).default(4).describe('Sandboxes admitted per memory that they may use at most'),
  maxPlaces: z.coerce.number().int().min(0).default(0).describe('Upper bound of places; 0 means by memory alone'),
  verifierPlaces: count(4).describe('Sandboxes reserved for verifiers'),
  verifierStopsAtFailure: z.stringbool().or(z.boolean()).default(true).describe('Whether the first failing case ends a verification; false runs every case, for diagnosis'),
  warmSandboxes: z.coerce.number().int().min(0).default(0).describe('Ready sandboxes kept per image that was used lately, beyond those staged for groups'),
  queueLength: count(1024).describe('Groups and episodes that may wait for places'),
  episodesPerKey: count(4096).describe('Live episodes per key without a limit of its own'),
  frameBytes: count(8 * 1024 * 1024).describe('Largest message, bytes'),
  inFlightPerSocket: count(4096).describe('Unanswered requests per socket'),
  sendBufferBytes: count(16 * 1024 * 1024).describe('Unsent bytes of a socket past which its new requests are refused'),
  outputBytes: count(256 * 1024).describe('Bytes kept of each stream of one command'),
  leaseIdleMs: count(600_000).describe('Milliseconds without a live socket or running command after which a lease expires'),
  ceilingMs: count(7_200_000).describe('Longest life of an episode, milliseconds'),
  stepTimeoutMs: count(120_000).describe('Limit of a command for which neither action nor task sets one, milliseconds'),
  drainMs: count(30_000).describe('Time for live episodes to end when the server stops, milliseconds'),
  pingMs: count(20_000).describe('Between pings to a socket, milliseconds; two unanswered end it'),
})
export type Config = Readonly<z.infer<typeof Config>>

/** What loadConfig may be given: any settings, as text or parsed. */
export type ConfigInput = Partial<z.input<typeof Config>>

/** Reads ASSAY_* (ASSAY_TASKS_DIR is tasksDir), then overrides; all problems are reported together. Throws CONFIG_INVALID. */
export function loadConfig (overrides: ConfigInput = {}, env: NodeJS.ProcessEnv = process.env): Config {
  const fromEnv: Record<string, string> = {}
  if (env['SSL_CERT_FILE'] !== undefined) fromEnv['caBundle'] = env['SSL_CERT_FILE']
  const known = new Map(Object.keys(Config.shape).map(key => [environmentName(key), key]))
  for (const [name, value] of Object.entries(env)) {
    const key = known.get(name)
    if (key !== undefined && value !== undefined) fromEnv[key] = value
    else if (name.startsWith('ASSAY_') && !OTHER_NAMES.has(name)) fromEnv[name] = value ?? ''
  }
  const given = Object.fromEntries(Object.entries(overrides).filter(([, value]) => value !== undefined))
  const parsed = Config.safeParse({ ...fromEnv, ...given })
  if (!parsed.success) throw new AssayError('CONFIG_INVALID', { message: `The settings are not valid:\n${z.prettifyError(parsed.error)}` })
  return Object.freeze(parsed.data)
}

export function environmentName (key: string): string {
  return `ASSAY_${key.replace(/[A-Z]/g, letter => `_${letter}`).toUpperCase()}`
}

function parseAliases (text: string, context: z.RefinementCtx): ReadonlyMap<string, string> {
  const pairs = text.split(',').map(pair => pair.trim()).filter(pair => pair !== '').map(pair => pair.split('='))
  for (const [name, local, ...rest] of pairs) {
    if (name === '' || local === undefined || local === '' || rest.length > 0) {
      context.addIssue({ code: 'custom', message: 'expected "name=local,name=local"' })
    }
  }
  return new Map(pairs.map(([name = '', local = '']) => [name, local]))
}

// of clients and tools; not settings of the server
const OTHER_NAMES = new Set<string>(['ASSAY_URL', 'ASSAY_KEY'])
