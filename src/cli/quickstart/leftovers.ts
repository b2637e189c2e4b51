// Asks the engine itself, not our own books, what of this node is still there.
import { systemClock } from '../../base/clock.ts'
import type { Config } from '../../config.ts'
import { DockerClient } from '../../sandbox/engines/docker/client.ts'

/** Sentences, one per container of the node; the fake engine's sandboxes end with their process. */
export async function findLeftovers ({ engine, dockerHost, node }: Config): Promise<string[]> {
  if (engine !== 'docker') return []
  const client = new DockerClient({ dockerHost, clock: systemClock })
  try {
    const filters = { label: [`assay.node=${node}`] }
    const containers = await client.call('list', async (docker, abortSignal) => {
      return await docker.listContainers({ all: true, filters, abortSignal })
    })
    return containers.map(({ Id, State }) => `container ${Id.slice(0, 12)} (${State}) is left; docker rm -f ${Id.slice(0, 12)} removes it`)
  } finally {
    client.close()
  }
}
