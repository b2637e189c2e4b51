import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type RequestListener } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { GetEventsOptions } from 'dockerode'
import t, { type Test } from 'tap'
import { systemClock } from '../../../../src/base/clock.ts'
import { DockerClient, statusOf } from '../../../../src/sandbox/engines/docker/client.ts'

/** A daemon that answers as the test says, on a socket of its own. */
interface Daemon { client: DockerClient, listen: () => Promise<void> }

async function daemon (t: Test, answer: RequestListener): Promise<Daemon> {
  const directory = await mkdtemp(join(tmpdir(), 'assay-test-'))
  const path = join(directory, 'docker.sock')
  const server = createServer(answer)
  const client = new DockerClient({ dockerHost: `unix://${path}`, clock: systemClock })
  t.teardown(async () => {
    client.close()
    server.closeAllConnections()
    await new Promise(resolve => server.close(resolve))
    await rm(directory, { recursive: true })
  })
  return { client, listen: () => new Promise(resolve => server.listen(path, resolve)) }
}

const info = { timeoutMs: 200 }

await t.test('a daemon that hangs is unavailable after the deadline, and unhealthy until it answers', async t => {
  let hang = true
  const { client, listen } = await daemon(t, (_request, response) => { if (!hang) response.end('{}') })
  await listen()
  const calling = client.call('info', (docker, abortSignal) => docker.listContainers({ abortSignal }), info)
  await t.rejects(calling, { code: 'ENGINE_UNAVAILABLE', message: /info took longer/ })
  t.match(client.health(), { ok: false, reason: /info took longer/ })
  hang = false
  await client.call('info', docker => docker.info(), info)
  t.same(client.health(), { ok: true })
})

await t.test('a daemon that dies inside an answer does not hang the call', async t => {
  const { client, listen } = await daemon(t, (_request, response) => {
    response.writeHead(200, { 'content-length': '1000' })
    response.write('{"half":', () => response.destroy())
  })
  await listen()
  await t.rejects(client.call('info', docker => docker.info(), info), { code: 'ENGINE_UNAVAILABLE' })
})

await t.test('a refusal is a fault of the engine with its status; it is an answer, so the engine is healthy', async t => {
  const { client, listen } = await daemon(t, (_request, response) => {
    response.writeHead(500, { 'content-type': 'application/json' })
    response.end('{"message":"no space left on device"}')
  })
  await listen()
  const error: unknown = await client.call('info', docker => docker.info(), info).then(() => t.fail(), (error: unknown) => error)
  t.match(error, { code: 'ENGINE_FAULT', message: /no space left on device/ })
  t.equal(statusOf(error), 500)
  t.same(client.health(), { ok: true })
})

await t.test('a socket that nobody listens on is unavailable', async t => {
  const { client } = await daemon(t, () => {})
  await t.rejects(client.call('info', docker => docker.info()), { code: 'ENGINE_UNAVAILABLE', message: /ENOENT/ })
  t.equal(statusOf(new Error('x')), undefined)
})

await t.test('a connection that was refused is made again, a request that was sent is not sent again', async t => {
  const refused = Object.assign(new Error('connect EAGAIN'), { code: 'EAGAIN', syscall: 'connect' })
  const reset = Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET', syscall: 'read' })
  const { client } = await daemon(t, () => {})
  let calls = 0
  t.equal(await client.call('x', async () => { if (++calls < 3) throw refused; return 'done' }), 'done')
  t.equal(calls, 3)
  await t.rejects(client.call('x', async () => { calls++; throw reset }), { code: 'ENGINE_UNAVAILABLE' })
  t.equal(calls, 4)
})

await t.test('the caller that aborts gets its own reason', async t => {
  const { client, listen } = await daemon(t, () => {})
  await listen()
  const controller = new AbortController()
  const calling = client.call('info', (docker, abortSignal) => docker.listContainers({ abortSignal }), { signal: controller.signal })
  controller.abort(new Error('not needed any more'))
  await t.rejects(calling, { message: 'not needed any more' })
})

await t.test('a long answer ends with the signal of whoever opened it', async t => {
  const { client, listen } = await daemon(t, (_request, response) => { response.write('{"status":"begun"}\n') })
  await listen()
  const controller = new AbortController()
  const { signal } = controller
  const stream = await client.open('events', (docker, abortSignal) => {
    return docker.getEvents({ abortSignal } as GetEventsOptions)
  }, { signal })
  const reading = (async () => { for await (const chunk of stream) t.match(String(chunk), /begun/) })()
  controller.abort(new Error('enough'))
  await t.rejects(reading)
})

await t.test('only addresses that can be are taken', t => {
  for (const dockerHost of ['', 'docker', 'tcp://host', 'ssh://host:22', 'unix:/x']) {
    t.throws(() => new DockerClient({ dockerHost, clock: systemClock }), { code: 'CONFIG_INVALID' }, dockerHost)
  }
  new DockerClient({ dockerHost: 'tcp://127.0.0.1:2375', clock: systemClock }).close()
  t.end()
})

await t.test('an abort that falls between the end of an answer and the reuse of its socket is not fatal', async t => {
  const { client, listen } = await daemon(t, (_request, response) => { response.end('{"error":"no"}\n') })
  await listen()
  for (let i = 0; i < 50; i++) {
    const controller = new AbortController()
    const { signal } = controller
    const stream = await client.open('build', (docker, abortSignal) => docker.getEvents({ abortSignal } as GetEventsOptions), { signal })
    const { value } = await stream[Symbol.asyncIterator]().next()
    t.match(String(value), /no/)
    controller.abort(new Error('seen enough'))
    await new Promise(resolve => setImmediate(resolve))
  }
})
