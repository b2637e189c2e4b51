import t from 'tap'
import { deadline, orAbort } from '../../../src/base/deadline.ts'
import type { Command } from '../../../src/sandbox/command.ts'
import type { Sandbox, SandboxLoss } from '../../../src/sandbox/engine.ts'
import { createDockerEngine } from '../../../src/sandbox/engines/docker.ts'
import { containersOf, dockerEngine, engineOptions, smallSpec, withClient } from '../../helpers/docker.ts'

const command = (script: string): Command => ({ script, timeoutMs: 10_000, outputBytes: 64 * 1024 })
const stdout = async (sandbox: Sandbox, script: string): Promise<string> => {
  return Buffer.from((await sandbox.run(command(script))).stdout.bytes).toString('utf8')
}
const loss = async (sandbox: Sandbox): Promise<SandboxLoss> => {
  using limit = deadline(5_000)
  return await orAbort(sandbox.lost, limit.signal)
}

await t.test('a sandbox runs commands in its own container and is gone after its disposal', async t => {
  const { engine, image, node } = await dockerEngine(t)
  {
    await using sandbox = await engine.create(smallSpec(image, { env: { GREETING: 'hello' }, workdir: '/desk' }))
    t.equal(await stdout(sandbox, 'echo $GREETING; pwd; id -u; hostname'), 'hello\n/desk\n0\nsandbox\n')
    t.same((await engine.list()).filter(ref => ref.node === node), [sandbox.ref])
    t.equal(sandbox.ref.sandboxId, sandbox.id)
  }
  t.same(await containersOf(node), [])
})

await t.test('a command cannot reach a network, raise its rights, change the warden or make it the first to die', async t => {
  const { engine, image } = await dockerEngine(t)
  await using sandbox = await engine.create(smallSpec(image))
  t.equal(await stdout(sandbox, 'ls /sys/class/net'), 'lo\n')
  t.match(await stdout(sandbox, 'grep NoNewPrivs /proc/self/status'), /NoNewPrivs:\s+1/)
  t.match(await stdout(sandbox, 'chmod 777 /.assay/warden 2>&1'), /Read-only file system/)
  t.match(await stdout(sandbox, 'echo 1000 2>&1 >/proc/1/oom_score_adj; echo 15 2>&1 >/proc/1/oom_adj'), /Read-only file system/)
  t.match(await stdout(sandbox, 'mount -t tmpfs x /mnt 2>&1; echo $?'), /denied|permitted/)
})

await t.test('limits reach the kernel', async t => {
  const { engine, image } = await dockerEngine(t)
  await using sandbox = await engine.create(smallSpec(image))
  await withClient(async client => {
    const { HostConfig: host } = await client.call('inspect', docker => docker.getContainer(sandbox.ref.ref).inspect())
    t.equal(host.Memory, 256 * 1024 * 1024)
    t.equal(host.MemorySwap, host.Memory)
    t.equal(host.PidsLimit, 128)
    t.ok((host.ShmSize ?? Infinity) < (host.Memory ?? 0))
    t.same(host.LogConfig, { Type: 'none', Config: {} })
  })
})

await t.test('the user of the spec runs the commands', async t => {
  const { engine, image } = await dockerEngine(t)
  await using sandbox = await engine.create(smallSpec(image, { user: '1000:1001', workdir: '/tmp' }))
  t.equal(await stdout(sandbox, 'echo $(id -u):$(id -g)'), '1000:1001\n')
  await t.rejects(engine.create(smallSpec(image, { user: 'nobody' })), { code: 'TASK_INVALID' })
})

await t.test('a container that someone kills or removes is lost to the outside within a second', async t => {
  const { engine, image } = await dockerEngine(t)
  await using killed = await engine.create(smallSpec(image))
  await using removed = await engine.create(smallSpec(image))
  await withClient(async client => {
    await client.call('kill', docker => docker.getContainer(killed.ref.ref).kill())
    t.match(await loss(killed), { kind: 'outside' })
    await client.call('remove', docker => docker.getContainer(removed.ref.ref).remove({ force: true }))
    t.match(await loss(removed), { kind: 'outside' })
  })
  await t.rejects(killed.run(command('true')), { code: 'SANDBOX_LOST' })
})

await t.test('a create that is aborted on its way leaves no container', async t => {
  const { engine, image, node } = await dockerEngine(t)
  const controller = new AbortController()
  const creating = engine.create(smallSpec(image), { signal: controller.signal })
  while ((await containersOf(node)).length === 0) await new Promise(resolve => setImmediate(resolve))
  controller.abort(new Error('changed my mind'))
  await t.rejects(creating, { message: 'changed my mind' })
  t.same(await containersOf(node), [])
  await t.rejects(engine.create(smallSpec(image), { signal: controller.signal }), { message: 'changed my mind' })
})

await t.test('a create that cannot succeed leaves no container', async t => {
  const { engine, image, node } = await dockerEngine(t)
  const missing = { ...image, id: `sha256:${'0'.repeat(64)}` }
  await t.rejects(engine.create(smallSpec(missing)), { code: 'IMAGE_UNAVAILABLE' })
  const { limits } = smallSpec(image)
  await t.rejects(engine.create(smallSpec(image, { limits: { ...limits, memoryBytes: 1024 } })), { code: 'ENGINE_FAULT' })
  t.same(await containersOf(node), [])
})

await t.test('closing the engine removes what is live and refuses more', async t => {
  const { engine, image, node } = await dockerEngine(t)
  const sandboxes = await Promise.all([1, 2, 3].map(() => engine.create(smallSpec(image))))
  await engine.close()
  t.same(await containersOf(node), [])
  await t.rejects(engine.create(smallSpec(image)), { code: 'ENGINE_UNAVAILABLE' })
  for (const sandbox of sandboxes) await sandbox[Symbol.asyncDispose]()
})

await t.test('capacity is what the daemon has, and an answering daemon is healthy', async t => {
  const { engine } = await dockerEngine(t)
  const { cpus, memoryBytes } = await engine.capacity()
  t.ok(cpus >= 1 && memoryBytes > 1e9)
  t.same(engine.health(), { ok: true })
})

await t.test('removing what is already gone is no error', async t => {
  const { engine, image } = await dockerEngine(t)
  const sandbox = await engine.create(smallSpec(image))
  await Promise.all([engine.remove(sandbox.ref), engine.remove(sandbox.ref), sandbox[Symbol.asyncDispose]()])
  await engine.remove(sandbox.ref)
})

await t.test('an engine that is not there is unavailable, and says so in its health', async t => {
  const engine = createDockerEngine({ ...await engineOptions(), dockerHost: 'unix:///tmp/assay-no-such.sock' })
  t.teardown(() => engine.close())
  await t.rejects(engine.capacity(), { code: 'ENGINE_UNAVAILABLE' })
  t.match(engine.health(), { ok: false, reason: /ENOENT/ })
  const bad = { ...await engineOptions(), dockerHost: 'docker' }
  t.throws(() => createDockerEngine(bad), { code: 'CONFIG_INVALID' })
})
