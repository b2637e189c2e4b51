// The peer: `docker exec` as dockerode does it, in the very containers that hold the episodes.
import { Agent } from 'node:http'
import { finished } from 'node:stream/promises'
import Docker from 'dockerode'
import { systemClock } from '../src/base/clock.ts'
import { DockerClient } from '../src/sandbox/engines/docker/client.ts'

/** Ids of the containers of one node, running or not. */
export async function listContainers (dockerHost: string, node: string): Promise<string[]> {
  const client = new DockerClient({ dockerHost, clock: systemClock })
  try {
    const filters = { label: [`assay.node=${node}`] }
    const found = await client.call('list', async (docker, abortSignal) => {
      return await docker.listContainers({ all: true, filters, abortSignal })
    })
    return found.map(({ Id }) => Id)
  } finally {
    client.close()
  }
}

export interface DockerExec extends Disposable {
  /** Runs argv in a container and waits for its exit code, which must be 0: create, start, read to the end, inspect. */
  exec (containerId: string, argv: readonly string[]): Promise<void>
}

export function createDockerExec (socketPath: string): DockerExec {
  const agent = new Agent({ keepAlive: true })
  const options: Docker.DockerOptions & { agent: Agent } = { socketPath, agent }
  const docker = new Docker(options)
  return {
    async exec (containerId, argv) {
      const options = { Cmd: [...argv], AttachStdout: true, AttachStderr: true }
      const exec = await docker.getContainer(containerId).exec(options)
      const stream = await exec.start({ hijack: false, stdin: false })
      stream.resume()
      await finished(stream)
      const { ExitCode } = await exec.inspect()
      if (ExitCode !== 0) throw new Error(`docker exec ended with ${ExitCode ?? 'no exit code'}`)
    },
    [Symbol.dispose]: () => agent.destroy(),
  }
}
