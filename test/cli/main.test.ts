import t from 'tap'
import { launch, type Ended } from './launch.ts'

async function assay (args: readonly string[], env: Record<string, string> = {}): Promise<Ended> {
  await using launched = launch(args, env)
  return await launched.ended
}

t.test('help names every command and exits with 0', async t => {
  const { exitCode, stdout } = await assay(['--help'])
  t.equal(exitCode, 0)
  for (const name of ['serve', 'doctor', 'quickstart', 'tasks', 'test', 'schemas', 'bench']) t.match(stdout, name)
})

t.test('an unknown command, engine or number is told and exits with 2', async t => {
  for (const args of [['frobnicate'], ['serve', '--engine', 'xen'], ['quickstart', '--members', '0']]) {
    const { exitCode, stderr } = await assay(args)
    t.equal(exitCode, 2, args.join(' '))
    t.match(stderr, /error: .*(frobnicate|xen|whole number)/)
  }
})

t.test('settings that are not valid are all told, without a stack', async t => {
  const { exitCode, stderr } = await assay(['tasks', 'list'], { ASSAY_PORT: 'x', ASSAY_ENGINE: 'xen' })
  t.equal(exitCode, 1)
  t.match(stderr, /CONFIG_INVALID[^]*(port[^]*engine|engine[^]*port)/)
  t.notMatch(stderr, /\n {4}at /)
})

t.test('tasks show prints the instruction and nothing hidden', async t => {
  const { exitCode, stdout } = await assay(['tasks', 'show', 'timesheet-report'])
  t.equal(exitCode, 0)
  t.match(stdout, /interface +cli/)
  t.notMatch(stdout, /cases|reference|"expect"|solution\//)
})

t.test('tasks show of an unknown task names those that there are', async t => {
  const { exitCode, stderr } = await assay(['tasks', 'show', 'nope'])
  t.equal(exitCode, 1)
  t.match(stderr, /TASK_NOT_FOUND: .*"nope".*timesheet-report/)
})

t.test('an unknown benchmark names those that there are', async t => {
  const { exitCode, stdout } = await assay(['bench', '../../src/config'])
  t.equal(exitCode, 2)
  t.match(stdout, /there are: step, soak/)
})
