import { PassThrough } from 'node:stream'
import t from 'tap'
import { createOutput, formatMs, progressLine, table, WIDTH } from '../../src/cli/output.ts'

t.test('a step of a log is one line: label, what it came to, seconds', async t => {
  const stream = new PassThrough()
  let elapsed = 0
  const output = createOutput({ stream, now: () => elapsed })
  const result = await output.step('warden', async say => {
    say('compiling')
    elapsed = 1234
    return 7
  }, seven => `compiled ${seven}`)
  t.equal(result, 7)
  t.match(String(stream.read()), /^ {2}warden +compiled 7 +1\.2 s\n$/)
})

t.test('a step that fails says so and throws on', async t => {
  const stream = new PassThrough()
  const output = createOutput({ stream })
  await t.rejects(output.step('warden', async () => { throw new Error('no compiler') }, () => ''), { message: 'no compiler' })
  t.match(String(stream.read()), /warden +failed/)
})

t.test('a terminal sees one line that changes', async t => {
  const stream = Object.assign(new PassThrough(), { isTTY: true })
  await createOutput({ stream }).step('images', async say => say('pulling 3/7'), () => 'ready')
  const lines = String(stream.read()).split('\r\u001b[2K')
  t.match(lines.at(-2), /pulling 3\/7/)
  t.match(lines.at(-1), /ready.*\n$/)
})

t.test('a progress line is never wider than the terminal and never more than a line', async t => {
  const line = progressLine('a label that is much too long for its column', 'detail\n\u001b[31mred\u001b[0m '.repeat(20), 3_600_000)
  t.ok(line.length <= WIDTH, `${line.length} columns`)
  t.equal(line.split('\n').length, 1)
  t.notOk(line.includes('\u001b'))
  t.match(line, /3600\.0 s$/)
})

t.test('a table aligns its columns and underlines its header', async t => {
  t.same(table([['name', 'n'], ['a', '10'], ['long name', '7']], { right: [1] }), [
    '  name        n',
    '  ─────────  ──',
    '  a          10',
    '  long name   7',
  ])
  t.same(table([]), [])
})

t.test('milliseconds read well at every size', async t => {
  t.same([0.25, 99.96, 250, 12_345, NaN].map(formatMs), ['0.3 ms', '100.0 ms', '250 ms', '12.3 s', '–'])
})
