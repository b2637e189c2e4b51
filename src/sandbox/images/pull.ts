// Finds an image on the engine, or pulls it.
import type { ImageInspectInfo, ImageInspectOptions } from 'dockerode'
import { isAssayError } from '../../errors.ts'
import { statusOf, type CallOptions, type DockerClient } from '../engines/docker/client.ts'
import type { Image } from '../engine.ts'
import { follow } from './follow.ts'

/** The image if the engine has it. Errors as DockerClient.call. */
export async function findImage (client: DockerClient, name: string, options?: CallOptions): Found {
  try {
    const info = await client.call(`the inspection of image ${name}`, (docker, abortSignal) => {
      return docker.getImage(name).inspect({ abortSignal } as ImageInspectOptions) // their types leave the signal out
    }, options)
    return toImage(info)
  } catch (error) {
    if (isAssayError(error, 'ENGINE_FAULT') && statusOf(error) === 404) return undefined
    throw error
  }
}

type Found = Promise<Image | undefined>

export interface PullOptions {
  signal?: AbortSignal | undefined
  /** Milliseconds until a registry has begun to answer; default 20,000. */
  firstMs?: number | undefined
  onLine?: ((line: string) => void) | undefined
}

/** Throws ENGINE_FAULT or IMAGE_UNAVAILABLE when no registry has it, ENGINE_UNAVAILABLE when none answers in time. */
export async function pullImage (client: DockerClient, name: string, options: PullOptions = {}): Promise<void> {
  const { signal, firstMs = 20_000, onLine } = options
  await follow(client, `the pull of ${name}`, {
    open: (docker, abortSignal) => docker.pull(name, { abortSignal }),
    signal,
    firstMs,
    idleMs: 120_000,
    onLine,
  })
}

/** Where a home-made image stands in for a public one: found by its name alone, so nothing else has to be remembered. */
export function standInName (name: string): string {
  return `assay/base/${name}`
}

function toImage (info: ImageInspectInfo): Image {
  const { WorkingDir: workdir, User: user } = info.Config
  return { id: info.Id, workdir: workdir === '' ? '/' : workdir, user }
}
