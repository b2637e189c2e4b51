// The branch that must not be reached.
import t from 'tap'
import { assertNever } from '../../src/base/assert-never.ts'

t.test('a value that no branch expects is named', async t => {
  t.throws(() => assertNever({ kind: 'new' } as never), { name: 'TypeError', message: /"kind":"new"/ })
})
