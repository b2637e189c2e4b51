import t from 'tap'
import { launch } from '../launch.ts'

t.test('quickstart on the fake engine explains every verdict, drains and exits with 0', async t => {
  await using quickstart = launch(['quickstart', '--engine', 'fake', '--members', '8'], { ASSAY_DATA_DIR: t.testdir() })
  const { exitCode, stdout, stderr } = await quickstart.ended
  t.equal(exitCode, 0, stderr)
  t.equal(stdout.match(/rewards {2}1 0 0 1 0 1 0 0\n/g)?.length, 2)
  t.match(stdout, /solved +1 +verified +– +3/)
  t.match(stdout, /unsolved +0 +verifier_failed +budget_steps +2/)
  t.match(stdout, /16 rollouts in .* rollouts\/s/)
  t.match(stdout, /nothing of Assay is left running/)
  t.ok(stdout.split('\n').every(line => line.length <= 100), 'fits 100 columns')
})

t.test('an interrupted quickstart exits with 130', async t => {
  await using quickstart = launch(['quickstart', '--engine', 'fake', '--members', '4096'], { ASSAY_DATA_DIR: t.testdir() })
  await quickstart.until(/image of greet/)
  quickstart.kill('SIGINT')
  const { exitCode, stderr } = await quickstart.ended
  t.equal(exitCode, 130)
  t.match(stderr, /stopped by SIGINT/)
})

t.test('keys of the environment are not asked of the quickstart, which has none', async t => {
  const env = { ASSAY_DATA_DIR: t.testdir(), ASSAY_KEYS_FILE: '/nonexistent/keys.json' }
  await using quickstart = launch(['quickstart', '--engine', 'fake', '--members', '1'], env)
  t.equal((await quickstart.ended).exitCode, 0)
})
