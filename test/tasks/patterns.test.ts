import t from 'tap'
import { checkPattern, matchesWhole } from '../../src/tasks/patterns.ts'

await t.test('patterns see the whole text and line ends', async t => {
  t.equal(matchesWhole('a.b', 'a\nb'), true)
  t.equal(matchesWhole('a', 'aa'), false)
  t.equal(matchesWhole('a|ab', 'ab'), true)
})

await t.test('what cannot be matched in linear time is refused with a reason', async t => {
  t.equal(checkPattern('[a-z]+\\d{3}'), undefined)
  for (const pattern of ['(a)\\1', '(?=a)', '(?<!a)b', '(', '[']) t.type(checkPattern(pattern), 'string', pattern)
})
