// Pure: what one sandbox is told to dockerd. The only place where capabilities, limits and labels are written down.
import type { ContainerCreateOptions } from 'dockerode'
import { AssayError } from '../../../errors.ts'
import type { Capacity, SandboxRef, SandboxSpec } from '../../engine.ts'

export interface Placement {
  sandboxId: string
  node: string
  boot: string
  /** The warden's absolute path on the daemon's machine. */
  wardenPath: string
  host: Capacity
}

export const LABELS = { node: 'assay.node', boot: 'assay.boot', sandbox: 'assay.sandbox', image: 'assay.image' } as const

/** Options of POST /containers/create. The container is named after the sandbox, so it can be removed even when the answer is lost. */
export function containerOptions (spec: SandboxSpec, placement: Placement): ContainerCreateOptions {
  const { sandboxId, node, boot } = placement
  return {
    name: sandboxId,
    Image: spec.image.id,
    Hostname: 'sandbox',
    User: '0:0',
    WorkingDir: spec.workdir,
    Env: Object.entries(spec.env).map(([name, value]) => `${name}=${value}`),
    Entrypoint: [WARDEN_TARGET],
    Cmd: [],
    Healthcheck: { Test: ['NONE'] },
    OpenStdin: true,
    StdinOnce: false,
    Tty: false,
    AttachStdin: true,
    AttachStdout: true,
    AttachStderr: true,
    Labels: { [LABELS.node]: node, [LABELS.boot]: boot, [LABELS.sandbox]: sandboxId, [LABELS.image]: spec.image.id },
    HostConfig: hostConfig(spec, placement),
  }
}

/** "uid" or "uid:gid" in numbers; the gid is the uid when it is not given. Throws TASK_INVALID. */
export function parseUser (user: string | undefined): { uid: number, gid: number } {
  if (user === undefined) return { uid: 0, gid: 0 }
  const match = /^(\d{1,9})(?::(\d{1,9}))?$/.exec(user)
  if (match === null) throw new AssayError('TASK_INVALID', { message: `user ${JSON.stringify(user)} must be numeric, "uid" or "uid:gid".` })
  return { uid: Number(match[1]), gid: Number(match[2] ?? match[1]) }
}

/** What a container's labels say about it, or undefined when they are not ours. */
export function findRef (ref: string, labels: Record<string, string> | undefined): SandboxRef | undefined {
  const node = labels?.[LABELS.node]
  const boot = labels?.[LABELS.boot]
  const sandboxId = labels?.[LABELS.sandbox]
  if (node === undefined || boot === undefined || sandboxId === undefined) return undefined
  return { ref, sandboxId, node, boot }
}

type HostConfig = NonNullable<ContainerCreateOptions['HostConfig']>

function hostConfig ({ limits }: SandboxSpec, { wardenPath, host }: Placement): HostConfig {
  return {
    Binds: [`${wardenPath}:${WARDEN_TARGET}:ro`],
    NetworkMode: 'none',
    IpcMode: 'private',
    Init: false,
    LogConfig: { Type: 'none', Config: {} },
    CapDrop: ['ALL'],
    CapAdd: [...CAPABILITIES],
    SecurityOpt: ['no-new-privileges'],
    ReadonlyPaths: [...READONLY_PATHS],
    Memory: limits.memoryBytes,
    MemorySwap: limits.memoryBytes,
    NanoCpus: Math.round(Math.min(limits.cpus, host.cpus) * 1e9),
    PidsLimit: limits.pids,
    ShmSize: Math.min(SHM_BYTES, Math.floor(limits.memoryBytes / 4)),
  }
}

const WARDEN_TARGET = '/.assay/warden'

// SETPCAP is the warden's: it lowers its children's bounding set and is not passed on
const CAPABILITIES = [
  'CHOWN', 'DAC_OVERRIDE', 'FOWNER', 'FSETID', 'SETUID', 'SETGID', 'KILL', 'NET_BIND_SERVICE', 'SETPCAP',
] as const

// Docker's own, and the ways to make the kernel prefer the warden when memory runs out
const READONLY_PATHS = [
  '/proc/bus', '/proc/fs', '/proc/irq', '/proc/sys', '/proc/sysrq-trigger',
  '/proc/1/oom_score_adj', '/proc/1/oom_adj', '/proc/1/task/1/oom_score_adj', '/proc/1/task/1/oom_adj',
] as const

const SHM_BYTES = 64 * 1024 * 1024
