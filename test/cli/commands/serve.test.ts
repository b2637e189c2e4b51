import t from 'tap'
import { connect } from '../../../clients/typescript/index.ts'
import { FAKE_TASKS } from '../../../src/cli/quickstart/fake-tasks.ts'
import { launch } from '../launch.ts'

t.test('serve says where it listens and who is served, and drains at SIGTERM', async t => {
  const env = { ASSAY_TASKS_DIR: FAKE_TASKS, ASSAY_LOG_LEVEL: 'error', ASSAY_DATA_DIR: t.testdir() }
  await using server = launch(['serve', '--engine', 'fake', '--port', '0'], env)
  const [, url, httpUrl] = await server.until(/listens on (ws:\S+) and (http:\S+)[^]*loopback/)
  t.equal((await fetch(`${httpUrl}/readyz`)).status, 200)
  {
    await using client = await connect(url ?? '')
    t.same((await client.tasks.list()).map(({ id }) => id), ['greet', 'relay'])
  }
  server.kill('SIGTERM')
  const { exitCode, stdout } = await server.ended
  t.equal(exitCode, 0)
  t.match(stdout, /draining/)
})

t.test('serve refuses an address that is not loopback when there are no keys', async t => {
  const env = { ASSAY_TASKS_DIR: FAKE_TASKS, ASSAY_LOG_LEVEL: 'error', ASSAY_DATA_DIR: t.testdir() }
  await using server = launch(['serve', '--engine', 'fake', '--port', '0', '--host', '0.0.0.0'], env)
  const { exitCode, stderr } = await server.ended
  t.equal(exitCode, 1)
  t.match(stderr, /CONFIG_INVALID/)
})
