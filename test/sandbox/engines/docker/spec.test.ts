import t from 'tap'
import type { SandboxSpec } from '../../../../src/sandbox/engine.ts'
import { containerOptions, findRef, parseUser } from '../../../../src/sandbox/engines/docker/spec.ts'

const spec: SandboxSpec = {
  image: { id: 'sha256:abc', workdir: '/', user: 'app' },
  workdir: '/app',
  env: { A: '1', B: 'x=y' },
  limits: { memoryBytes: 64 * 1024 * 1024, pids: 50, cpus: 8, diskBytes: 1 },
}
const placement = { sandboxId: 'sb_n1_x', node: 'n1', boot: 'b1', wardenPath: '/data/warden', host: { memoryBytes: 1e10, cpus: 2 } }

await t.test('the warden is the entry, the image decides neither command nor user nor health check', t => {
  const options = containerOptions(spec, placement)
  t.match(options, {
    name: 'sb_n1_x',
    Image: 'sha256:abc',
    User: '0:0',
    WorkingDir: '/app',
    Env: ['A=1', 'B=x=y'],
    Entrypoint: ['/.assay/warden'],
    Healthcheck: { Test: ['NONE'] },
    OpenStdin: true,
    StdinOnce: false,
    Tty: false,
    HostConfig: { Binds: ['/data/warden:/.assay/warden:ro'], NetworkMode: 'none', Init: false },
  })
  t.same(options.Cmd, [])
  t.end()
})

await t.test('limits are clamped to the host, swap and shared memory to the memory', t => {
  const memory = 64 * 1024 * 1024
  const limits = { NanoCpus: 2e9, Memory: memory, MemorySwap: memory, ShmSize: memory / 4, PidsLimit: 50 }
  t.match(containerOptions(spec, placement).HostConfig, limits)
  t.end()
})

await t.test('only the few capabilities of the design are kept, and no new ones can be had', t => {
  const host = containerOptions(spec, placement).HostConfig
  t.same(host?.CapDrop, ['ALL'])
  t.same(host?.CapAdd, ['CHOWN', 'DAC_OVERRIDE', 'FOWNER', 'FSETID', 'SETUID', 'SETGID', 'KILL', 'NET_BIND_SERVICE', 'SETPCAP'])
  t.same(host?.SecurityOpt, ['no-new-privileges'])
  t.equal(host?.Privileged, undefined)
  t.end()
})

await t.test('what the labels say is read back from a container', t => {
  const { Labels: labels } = containerOptions(spec, placement)
  t.same(findRef('c1', labels), { ref: 'c1', sandboxId: 'sb_n1_x', node: 'n1', boot: 'b1' })
  t.equal(findRef('c1', { 'assay.node': 'n1' }), undefined)
  t.equal(findRef('c1', undefined), undefined)
  t.end()
})

await t.test('users are numeric', t => {
  t.same(parseUser(undefined), { uid: 0, gid: 0 })
  t.same(parseUser('1000'), { uid: 1000, gid: 1000 })
  t.same(parseUser('1000:5'), { uid: 1000, gid: 5 })
  for (const bad of ['', 'root', '1:', ':1', '-1', '1:2:3', ' 1']) t.throws(() => parseUser(bad), { code: 'TASK_INVALID' }, bad)
  t.end()
})
