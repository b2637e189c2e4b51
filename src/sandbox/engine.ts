// The ports: an engine makes sandboxes, a sandbox runs commands and moves files. Knows nothing of tasks or episodes.
import type { Command, Ran } from './command.ts'
import type { FileEntry, Manifest } from './files.ts'

export type EngineName = 'docker' | 'cells' | 'embedded' | 'fake'
export type Isolation = 'container' | 'cell' | 'none'

export interface WaitOptions {
  signal?: AbortSignal | undefined
}

/** Where an image comes from: a name to find or pull, or a directory with a Dockerfile. */
export type ImageSource =
  | { kind: 'name', name: string }
  | { kind: 'build', directory: string, /** Stage to build; default the last. */ target?: string | undefined }

export interface Image {
  /** The engine's content id, e.g. "sha256:…": the imageDigest of verdicts. */
  readonly id: string
  readonly workdir: string
  /** The image's own user, "" for the default. */
  readonly user: string
}

/** What one sandbox needs; limits are enforced from outside it. */
export interface SandboxSpec {
  image: Image
  /** Numeric "uid" or "uid:gid" that agent commands run as; undefined: uid 0 with few capabilities. */
  user?: string | undefined
  workdir: string
  env: Record<string, string>
  limits: SandboxLimits
}

export interface SandboxLimits {
  memoryBytes: number
  pids: number
  cpus: number
  diskBytes: number
}

export interface SandboxRef {
  /** The engine's own name for it (a container id). */
  readonly ref: string
  /** Our id, given at creation. */
  readonly sandboxId: string
  readonly node: string
  readonly boot: string
}

export interface Capacity {
  memoryBytes: number
  cpus: number
}

export type Health = { ok: true } | { ok: false, reason: string }

export interface EnsureImageOptions extends WaitOptions {
  /** A line a person may read: "building", "pulling 3/7 layers". */
  onProgress?: ((line: string) => void) | undefined
}

export interface Engine {
  readonly name: EngineName
  readonly isolation: Isolation
  /** Finds, pulls or builds the image; concurrent calls for the same content share the work. Throws IMAGE_UNAVAILABLE. */
  ensureImage (source: ImageSource, options?: EnsureImageOptions): Promise<Image>
  /** A started sandbox whose warden has answered. Throws ENGINE_UNAVAILABLE or ENGINE_FAULT; leaves nothing behind when it throws. */
  create (spec: SandboxSpec, options?: WaitOptions): Promise<Sandbox>
  /** Every sandbox with our labels, of any node, running or not. */
  list (options?: WaitOptions): Promise<SandboxRef[]>
  /** Removes a sandbox by force; one that is already gone counts as removed. */
  remove (ref: SandboxRef, options?: WaitOptions): Promise<void>
  capacity (options?: WaitOptions): Promise<Capacity>
  health (): Health
  /** Stops watching; sandboxes still live are removed. */
  close (): Promise<void>
}

/** Why a sandbox ended without being asked to, from evidence outside it. */
export interface SandboxLoss {
  /** engine: the daemon or our connection to it failed · outside: someone removed or killed it · inside: its first process ended although the engine is healthy. */
  kind: 'engine' | 'outside' | 'inside'
  reason: string
}

export interface Sandbox extends AsyncDisposable {
  readonly id: string
  readonly ref: SandboxRef
  readonly image: Image
  /** Resolves once the sandbox is lost; stays pending after a dispose. */
  readonly lost: Promise<SandboxLoss>
  /** Runs one command at a time. Throws SANDBOX_LOST when no result can be had; an aborted signal kills the command and returns what it printed, with cancelled. */
  run (command: Command, options?: RunOptions): Promise<Ran>
  /** Writes entries under root as the agent's user. All or nothing as far as checks go: the rules are applied before the first write. Throws FILE_REFUSED. */
  put (root: string, entries: readonly FileEntry[], options?: WaitOptions): Promise<void>
  /** Reads regular files and symlinks under root; others are left out. Throws FILE_REFUSED when over maxBytes. */
  get (root: string, paths: readonly string[], options: WaitOptions & { maxBytes: number }): Promise<FileEntry[]>
  /** Walks root by lstat and hashes its regular files. Throws FILE_REFUSED when over maxEntries. */
  manifest (root: string, options: WaitOptions & { maxEntries: number }): Promise<Manifest>
  /** Kills every process but the first and reaps them: the freeze before a delta, the wall between two cases. */
  killAll (options?: WaitOptions): Promise<void>
}

export interface RunOptions extends WaitOptions {
  onOutput?: ((chunk: OutputChunk) => void) | undefined
}

export interface OutputChunk {
  stream: 'stdout' | 'stderr'
  offset: number
  bytes: Uint8Array
}
