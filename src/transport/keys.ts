// Who may speak to this server: the key file, and constant-time look-up of a key. Never holds or logs a key itself.
import { createHash, timingSafeEqual } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { z } from 'zod'
import type { Clock } from '../base/clock.ts'
import type { Config } from '../config.ts'
import { AssayError } from '../errors.ts'
import { Split, TrafficClass } from '../protocol/index.ts'
import type { Principal } from '../service/service.ts'
import { TokenBucket } from './rate.ts'

export const KeyEntry = z.strictObject({
  name: z.string().min(1).max(64).describe('Who this is, in logs and records'),
  sha256: z.string().regex(/^[0-9a-f]{64}$/, 'expected 64 lower-case hex digits').describe('sha256 of the key'),
  scopes: z.array(z.enum(['train', 'eval', 'admin'])).min(1).describe('What the key may do'),
  classes: z.array(TrafficClass).min(1).describe('Traffic classes that it may use'),
  splits: z.array(Split).min(1).describe('Splits that it sees'),
  maxEpisodes: z.int().min(1).optional().describe('Live episodes at once; default: the setting episodesPerKey'),
  ratePerMinute: z.int().min(1).optional().describe('group.open and reset together, per minute; default: no limit'),
})
export type KeyEntry = z.infer<typeof KeyEntry>

export type KeySettings = Pick<Config, 'host' | 'keysFile' | 'episodesPerKey'>

/** The keys of config.keysFile; without one, everybody is admin, on loopback only. Throws CONFIG_INVALID. */
export async function loadKeyring (config: KeySettings, clock: Clock): Promise<Keyring> {
  if (config.keysFile !== undefined) return new Keyring(await loadKeys(config.keysFile), config, clock)
  if (isLoopback(config.host)) return new Keyring(undefined, config, clock)
  throw new AssayError('CONFIG_INVALID', {
    message: `Without keys everybody is admin, so the server listens on loopback only, and host is "${config.host}": set ASSAY_KEYS_FILE, or ASSAY_HOST=127.0.0.1.`,
  })
}

/** Throws CONFIG_INVALID with a sentence per problem. */
export async function loadKeys (file: string): Promise<KeyEntry[]> {
  const text = await readFile(file, 'utf8').catch((cause: unknown) => {
    throw new AssayError('CONFIG_INVALID', { message: `The key file ${file} cannot be read; create it, or unset ASSAY_KEYS_FILE.`, cause })
  })
  let raw: unknown
  try {
    raw = JSON.parse(text)
  } catch (cause) {
    throw new AssayError('CONFIG_INVALID', { message: `The key file ${file} is not JSON; write an array of keys.`, cause })
  }
  const parsed = KeyFile.safeParse(raw)
  if (parsed.success) return parsed.data
  throw new AssayError('CONFIG_INVALID', { message: `The key file ${file} is not valid:\n${z.prettifyError(parsed.error)}` })
}

export class Keyring {
  /** Everybody is admin. */
  readonly keyless: boolean
  readonly #entries: Array<{ digest: Buffer, principal: Principal }>
  readonly #buckets = new Map<Principal, TokenBucket>()
  readonly #everybody: Principal | undefined

  constructor (entries: readonly KeyEntry[] | undefined, config: Pick<Config, 'episodesPerKey'>, clock: Clock) {
    this.keyless = entries === undefined
    this.#everybody = entries === undefined ? { ...LOOPBACK, maxEpisodes: config.episodesPerKey } : undefined
    this.#entries = (entries ?? []).map(({ name, sha256, scopes, classes, splits, maxEpisodes, ratePerMinute }) => {
      const principal = { name, scopes, classes, splits, maxEpisodes: maxEpisodes ?? config.episodesPerKey }
      if (ratePerMinute !== undefined) this.#buckets.set(principal, new TokenBucket(ratePerMinute, clock))
      return { digest: Buffer.from(sha256, 'hex'), principal }
    })
  }

  /** Compares with every entry, so that the time taken tells nothing of which one matched. */
  find (key: string | undefined): Principal | undefined {
    if (this.#everybody !== undefined) return this.#everybody
    if (key === undefined) return undefined
    const digest = createHash('sha256').update(key).digest()
    let found: Principal | undefined
    for (const entry of this.#entries) if (timingSafeEqual(entry.digest, digest)) found = entry.principal
    return found
  }

  /** Counts one group or episode that a key starts. Throws RATE_LIMITED with retryAfterMs. */
  spend (principal: Principal): void {
    const retryAfterMs = this.#buckets.get(principal)?.take() ?? 0
    if (retryAfterMs > 0) throw new AssayError('RATE_LIMITED', { retryAfterMs })
  }
}

/** 127.0.0.0/8, ::1 or localhost, also as a Host header writes them. */
export function isLoopback (host: string): boolean {
  return /^(localhost|127(\.\d{1,3}){3}|::1|\[::1\])$/i.test(host)
}

const KeyFile = z.array(KeyEntry).superRefine((entries, context) => {
  for (const field of ['name', 'sha256'] as const) {
    entries.forEach((entry, index) => {
      const first = entries.findIndex(other => other[field] === entry[field])
      if (first !== index) context.addIssue({ code: 'custom', path: [index, field], message: `the same as of entry ${first}` })
    })
  }
})

const LOOPBACK = {
  name: 'loopback',
  scopes: ['admin'],
  classes: ['eval', 'train', 'load'],
  splits: ['train', 'val'],
} as const satisfies Partial<Principal>
