// What every command that serves or tests needs of the machine, each behind one progress line.
import type { Config } from '../config.ts'
import type { CommandContext } from './main.ts'
import { ensureBaseImages } from './setup/base-images.ts'
import { ensureDocker } from './setup/docker.ts'
import { ensureWarden } from './setup/warden.ts'

export interface PrepareOptions extends CommandContext {
  /** Whether a missing Docker engine may be installed and started; else the error lists the commands to type. */
  install: boolean
}

/** Docker engine, warden and base images; other engines need nothing. Throws AssayError with what to type where it cannot help. */
export async function prepareMachine (config: Config, { install, output, interrupts }: PrepareOptions): Promise<void> {
  if (config.engine !== 'docker') return
  const { dockerHost, dataDir } = config
  const { signal } = interrupts
  await output.step('Docker engine', async say => {
    return await ensureDocker({ dockerHost, dataDir, install, say, signal })
  }, ({ started }) => started ? `started at ${dockerHost}; it stays when Assay ends` : `answers at ${dockerHost}`)
  await output.step('warden', async say => await ensureWarden({ dataDir, say, signal }), () => 'compiled')
  let last = ''
  await output.step('base images', async say => {
    await ensureBaseImages({ dockerHost, say: line => say(last = line), signal })
  }, () => last === '' ? 'ready' : last.replace(/ \(.*\)$/, ''))
}
