import t from 'tap'
import { createDigest, type Counts } from '../../../src/cli/commands/test.ts'

function digest (tap: string, exitCode = 0): { counts: Counts, printed: string[] } {
  const printed: string[] = []
  const { read, counts } = createDigest(line => printed.push(line))
  for (const line of tap.split('\n')) read(line)
  return { counts: counts(exitCode), printed }
}

t.test('counts come from the last summary of tap, todo as skipped', async t => {
  const { counts } = digest('# { total: 1, pass: 1 }\n# { total: 6, pass: 1, fail: 2, todo: 1, skip: 2 }\n# time=3ms', 1)
  t.same(counts, { passed: 1, failed: 2, skipped: 3 })
})

t.test('a summary without failures has none', async t => {
  t.same(digest('# { total: 67, pass: 67 }').counts, { passed: 67, failed: 0, skipped: 0 })
})

t.test('a run without a summary has failed, whatever passed before', async t => {
  t.same(digest('ok 1 - a\nok 2 - b').counts, { passed: 0, failed: 1, skipped: 0 })
})

t.test('an exit code that no assertion explains is a failure', async t => {
  t.same(digest('# { total: 3, pass: 3 }', 1).counts, { passed: 3, failed: 1, skipped: 0 })
})

t.test('files get a line each, failures all of theirs, everything else none', async t => {
  const { printed } = digest(`TAP version 14
# Subtest: test/a.test.ts
    # Subtest: x
        ok 1 - fine
        not ok 2 - bad
          ---
          at: here
          ...
        not ok 3 - later # TODO
        1..3
    not ok 1 - x # time=2ms
    1..1
not ok 1 - test/a.test.ts # time=3ms
  ---
  exitCode: 1
  ...

# Subtest: test/b.test.ts
    ok 1 - y
    1..1
ok 2 - test/b.test.ts # time=1ms
1..2`)
  t.same(printed, [
    '        not ok 2 - bad', '          ---', '          at: here', '          ...',
    '    not ok 1 - x # time=2ms',
    'not ok 1 - test/a.test.ts # time=3ms', '  ---', '  exitCode: 1', '  ...', '',
    'ok 2 - test/b.test.ts # time=1ms',
  ])
})
