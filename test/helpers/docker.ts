// A Docker engine of its own for one test: compiled warden, base image, own node id, and proof that nothing is left.
import { randomBytes } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import type { Test } from 'tap'
import { ensureBaseImages } from '../../src/cli/setup/base-images.ts'
import { ensureWarden } from '../../src/cli/setup/warden.ts'
import { systemClock } from '../../src/base/clock.ts'
import { createDockerEngine, type DockerEngineOptions } from '../../src/sandbox/engines/docker.ts'
import { DockerClient } from '../../src/sandbox/engines/docker/client.ts'
import { LABELS } from '../../src/sandbox/engines/docker/spec.ts'
import type { Engine, Image, SandboxSpec } from '../../src/sandbox/engine.ts'
import { silentLogger } from '../../src/telemetry/log.ts'

export const DOCKER_HOST = 'unix:///var/run/docker.sock'
export const BASE_IMAGE = 'python:3.11-slim-bookworm'

export interface TestEngine {
  engine: Engine
  image: Image
  node: string
}

/** Closed at the end of the test, which fails when a container is left. */
export async function dockerEngine (t: Test, overrides: Partial<DockerEngineOptions> = {}): Promise<TestEngine> {
  const options = { ...await engineOptions(), ...overrides }
  await ensureBaseImages({ dockerHost: DOCKER_HOST, say: line => t.comment(line) })
  const engine = createDockerEngine(options)
  t.teardown(async () => {
    await engine.close()
    const left = await containersOf(options.node)
    if (left.length > 0) throw new Error(`containers left behind: ${left.join(', ')}`)
  })
  return { engine, image: await engine.ensureImage({ kind: 'name', name: BASE_IMAGE }), node: options.node }
}

export async function engineOptions (): Promise<DockerEngineOptions> {
  const wardenPath = await ensureWarden({ dataDir: DATA_DIR, say: () => {} })
  const node = `t${randomBytes(6).toString('hex')}`
  return { dockerHost: DOCKER_HOST, node, boot: 'b1', wardenPath, imageAliases: new Map(), log: silentLogger, clock: systemClock }
}

/** A small sandbox of the image. */
export function smallSpec (image: Image, overrides: Partial<SandboxSpec> = {}): SandboxSpec {
  const limits = { memoryBytes: 256 * 1024 * 1024, pids: 128, cpus: 1, diskBytes: 1024 ** 3 }
  return { image, workdir: '/root', env: {}, limits, ...overrides }
}

/** Ids of the containers with a node's label, asked of the daemon itself. */
export async function containersOf (node: string): Promise<string[]> {
  return await withClient(async client => {
    const filters = { label: [`${LABELS.node}=${node}`] }
    const containers = await client.call('list', docker => docker.listContainers({ all: true, filters }))
    return containers.map(({ Id }) => Id)
  })
}

/** The daemon as a stranger to the engine sees it. */
export async function withClient<T> (fn: (client: DockerClient) => Promise<T>): Promise<T> {
  const client = new DockerClient({ dockerHost: DOCKER_HOST, clock: systemClock })
  try {
    return await fn(client)
  } finally {
    client.close()
  }
}

const DATA_DIR = fileURLToPath(new URL('../../.assay', import.meta.url))
