import t from 'tap'
import { countRequirements } from '../../../src/tasks/formats/requirements.ts'

await t.test('numbered lines under the heading are counted, others are not', async t => {
  const text = '1. not yet\n\n## Requirements\n\n1. one\n   1. inner\n2. two\n\nprose 3. no\n\n## Notes\n\n3. not any more\n'
  t.equal(countRequirements(text, 'f'), 2)
})

await t.test('no heading, no number, or a wrong number is refused', async t => {
  t.throws(() => countRequirements('1. a', 'f'), { code: 'TASK_INVALID' })
  t.throws(() => countRequirements('## Requirements\n- a', 'f'), { code: 'TASK_INVALID', message: /f: number/ })
  t.throws(() => countRequirements('## Requirements\n1. a\n1. b', 'f'), { code: 'TASK_INVALID', message: /f:3/ })
})
