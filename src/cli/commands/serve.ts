// assay serve: the server until a signal; the first drains it, a second removes its sandboxes and ends it at once.
import { loadConfig, type ConfigInput } from '../../config.ts'
import { startServer } from '../../server.ts'
import type { CommandContext } from '../main.ts'
import { prepareMachine } from '../prepare.ts'

export type ServeOptions = Pick<ConfigInput, 'engine' | 'host' | 'port' | 'tasksDir' | 'keysFile' | 'dataDir'>

/** Resolves with 0 once a signal has come and everything is drained. */
export async function serve (options: ServeOptions, context: CommandContext): Promise<number> {
  const { interrupts, output } = context
  const config = loadConfig(options)
  await prepareMachine(config, { ...context, install: false })
  await using server = await startServer(config)
  interrupts.onSecond(async () => await server.engine.close())
  output.line(`Assay listens on ${server.url} and ${server.httpUrl} (node ${config.node}, engine ${config.engine})`)
  if (config.keysFile === undefined) {
    output.line('There is no keys file: only clients on this machine (loopback) are served, each as admin.')
  }
  await aborted(interrupts.signal)
  output.line(`draining, at most ${config.drainMs / 1000} s; a second signal ends it at once`)
  await server.close()
  return 0
}

async function aborted (signal: AbortSignal): Promise<void> {
  if (signal.aborted) return
  const keepAlive = setInterval(() => {}, 2 ** 30) // the promise alone would not keep the process
  await new Promise(resolve => signal.addEventListener('abort', resolve, { once: true }))
  clearInterval(keepAlive)
}
