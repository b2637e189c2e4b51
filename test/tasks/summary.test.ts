import t from 'tap'
import { TaskSummary, TaskView } from '../../src/protocol/index.ts'
import { summarise, viewTask } from '../../src/tasks/summary.ts'
import { readNativeTask } from '../../src/tasks/formats/native.ts'
import { writeExample } from './example.ts'

await t.test('summary and view are exactly what the protocol allows', async t => {
  const { task } = await readNativeTask(await writeExample(t.testdir({})))
  t.ok(TaskSummary.safeParse(summarise(task, { admitted: false })).success)
  const view = viewTask(task, { admitted: true })
  t.ok(TaskView.safeParse(view).success)
  t.match(view, { admitted: true, workdir: '/app', requirements: 1 })
  t.equal(viewTask({ ...task, workdir: undefined }, { admitted: true }).workdir, '')
})
