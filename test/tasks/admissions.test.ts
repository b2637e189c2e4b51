import t from 'tap'
import { isAdmittedDigest, loadAdmissions } from '../../src/tasks/admissions.ts'

const digest = 'a'.repeat(64)
const admission = { task: 'x', digest, admittedAt: '2025-01-01T00:00:00Z' }

await t.test('a digest is admitted when the file has it, whatever the task is called', async t => {
  const admissions = await loadAdmissions(t.testdir({ 'admissions.json': JSON.stringify([admission]) }))
  t.equal(isAdmittedDigest(admissions, digest), true)
  t.equal(isAdmittedDigest(admissions, 'b'.repeat(64)), false)
})

await t.test('no file admits nothing; a wrong one is refused', async t => {
  t.same(await loadAdmissions(t.testdir({})), [])
  for (const text of ['{', '{}', '[{"digest": "a"}]', JSON.stringify([{ ...admission, extra: 1 }])]) {
    await t.rejects(loadAdmissions(t.testdir({ 'admissions.json': text })), { code: 'TASK_INVALID' }, text)
  }
})
