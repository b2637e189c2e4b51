import t from 'tap'
import { checkMachine, checkNode } from '../../../src/cli/setup/check.ts'
import { DOCKER_HOST } from '../../helpers/docker.ts'

await t.test('each need has a name, what was found and how to get it', async t => {
  const checks = await checkMachine({ dockerHost: DOCKER_HOST })
  const names = checks.map(({ name }) => name)
  t.same(names, ['node', 'gcc', 'make', 'iptables', 'mmdebstrap', 'docker', 'live-restore', 'disk', 'open files'])
  for (const { found, how } of checks) t.ok(found !== '' && how !== '')
  t.match(checks.find(({ name }) => name === 'docker'), { ok: true, found: /unix:/ })
})

await t.test('an engine that is away is a finding, not a failure', async t => {
  const checks = await checkMachine({ dockerHost: 'unix:///no/such.sock' })
  t.match(checks.find(({ name }) => name === 'docker'), { ok: false, found: /ENOENT/ })
})

await t.test('the oldest Node is 20.11', t => {
  const rows: Array<[version: string, ok: boolean]> = [['18.20.0', false], ['20.10.0', false], ['20.11.0', true], ['22.1.0', true]]
  for (const [version, ok] of rows) t.equal(checkNode(version).ok, ok, version)
  t.end()
})
