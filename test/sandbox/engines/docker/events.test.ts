import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { systemClock } from '../../../../src/base/clock.ts'
import { DockerClient } from '../../../../src/sandbox/engines/docker/client.ts'
import { followEvents } from '../../../../src/sandbox/engines/docker/events.ts'
import { silentLogger } from '../../../../src/telemetry/log.ts'

const line = (id: string, action: string, at: number): string => `${JSON.stringify({ Action: action, Actor: { ID: id }, timeNano: at * 1e9 })}\n`

await t.test('events arrive, an interrupted stream is taken up where it ended, and stopping ends it', async t => {
  const directory = await mkdtemp(join(tmpdir(), 'assay-test-'))
  const path = join(directory, 'docker.sock')
  const urls: URL[] = []
  const server = createServer((request, response) => {
    urls.push(new URL(request.url ?? '', 'http://docker'))
    response.flushHeaders()
    server.emit('asked', response)
  })
  await new Promise<void>(resolve => server.listen(path, resolve))
  const client = new DockerClient({ dockerHost: `unix://${path}`, clock: systemClock })
  t.teardown(async () => {
    client.close()
    server.closeAllConnections()
    server.close()
    await rm(directory, { recursive: true })
  })
  const seen: string[] = []
  let heard = (): void => {}
  const onEvent = (id: string, action: string): void => { seen.push(`${id} ${action}`); heard() }
  const next = (): Promise<void> => new Promise(resolve => { heard = resolve })
  {
    await using events = followEvents({ client, node: 'n1', clock: systemClock, log: silentLogger, onEvent })
    t.notOk(events.isConnected())
    const asked = once(server, 'asked') as Promise<[ServerResponse]>
    await events.start()
    t.ok(events.isConnected())
    const [first] = await asked
    const died = next()
    first.write(line('c1', 'exec_start', 99) + line('c1', 'die', 100))
    await died
    const askedAgain = once(server, 'asked') as Promise<[ServerResponse]>
    first.destroy()
    const [second] = await askedAgain
    const killed = next()
    second.write(line('c2', 'kill', 101))
    await killed
  }
  t.same(seen, ['c1 die', 'c2 kill'])
  t.match(urls[0]?.searchParams.get('filters'), /"assay.node=n1"/)
  t.equal(urls[1]?.searchParams.get('since'), '100')
})
