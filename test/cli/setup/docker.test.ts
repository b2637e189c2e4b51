import { join } from 'node:path'
import t from 'tap'
import { ensureDocker, pingDocker } from '../../../src/cli/setup/docker.ts'
import { DOCKER_HOST } from '../../helpers/docker.ts'

await t.test('an engine that answers is used as it is', async t => {
  t.same(await pingDocker(DOCKER_HOST), { ok: true })
  const said: string[] = []
  const dataDir = t.testdir({})
  const setup = await ensureDocker({ dockerHost: DOCKER_HOST, dataDir, install: true, say: line => said.push(line) })
  t.same(setup, { started: false })
  t.same(said, [])
})

await t.test('without an engine and without leave to install one it says what to type', async t => {
  const dockerHost = `unix://${join(t.testdir({}), 'docker.sock')}`
  t.match(await pingDocker(dockerHost), { ok: false, reason: /ENOENT/ })
  const failing = ensureDocker({ dockerHost, dataDir: t.testdir({}), install: false, say: line => t.fail(line) })
  await t.rejects(failing, { code: 'ENGINE_UNAVAILABLE', message: /apt-get install -y docker.io iptables\n.*dockerd --live-restore/ })
})

await t.test('an engine on another machine is never installed here', async t => {
  const failing = ensureDocker({ dockerHost: 'tcp://127.0.0.1:1', dataDir: t.testdir({}), install: true, say: line => t.fail(line) })
  await t.rejects(failing, { code: 'ENGINE_UNAVAILABLE' })
})

await t.test('Ctrl-C ends the wait', async t => {
  const signal = AbortSignal.abort(new Error('Ctrl-C'))
  await t.rejects(ensureDocker({ dockerHost: DOCKER_HOST, dataDir: t.testdir({}), install: true, say: () => {}, signal }), { message: 'Ctrl-C' })
})
