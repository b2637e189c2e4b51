import t from 'tap'
import { launch } from '../launch.ts'

t.test('tasks list names each task with its facts', async t => {
  await using list = launch(['tasks', 'list'], {})
  const { exitCode, stdout, stderr } = await list.ended
  t.equal(exitCode, 0, stderr)
  t.match(stdout, /cron-next +Find the moments .* train +python +function +no/)
  t.match(stdout, /timesheet-report/)
})

t.test('tasks show has the instruction and nothing hidden; an unknown task is said', async t => {
  await using show = launch(['tasks', 'show', 'cron-next'], {})
  const { exitCode, stdout } = await show.ended
  t.equal(exitCode, 0)
  t.match(stdout, /## Requirements/)
  t.notMatch(stdout, /expect|runner|reference_ms/)
  await using missing = launch(['tasks', 'show', 'no-such-task'], {})
  const ended = await missing.ended
  t.equal(ended.exitCode, 1)
  t.match(ended.stdout + ended.stderr, /no-such-task/)
})
