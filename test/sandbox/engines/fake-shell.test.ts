import t from 'tap'
import { parseScript, type SimpleCommand } from '../../../src/sandbox/engines/fake-shell.ts'

const lookup = (name: string): string => ({ HOME: '/root', A: 'a b' })[name] ?? ''
const words = (script: string): string[][] | undefined => parseScript(script, lookup)?.map(one => one.words)
const only = (script: string): SimpleCommand | undefined => parseScript(script, lookup)?.[0]

t.test('words, quotes and variables', async t => {
  const table: Array<[string, string[][] | undefined]> = [
    ['', []],
    [' \n ; ', []],
    ['echo a  b', [['echo', 'a', 'b']]],
    ['echo \'a  b\' "c $HOME"', [['echo', 'a  b', 'c /root']]],
    ['echo \'$HOME\' $HOME/x $' + '{HOME}y', [['echo', '$HOME', '/root/x', '/rooty']]],
    ['echo "a\\"b" a\\ b \\$HOME', [['echo', 'a"b', 'a b', '$HOME']]],
    ['echo "$A" \'\' ""', [['echo', 'a b', '', '']]],
    ['echo $NOTHING end', [['echo', 'end']]],
    ['echo \'it\'\\\'\'s\'', [['echo', 'it\'s']]],
    ['a; b\nc && d || e', [['a'], ['b'], ['c'], ['d'], ['e']]],
    ['echo \'open', undefined],
    ['echo "open', undefined],
  ]
  for (const [script, expected] of table) t.same(words(script), expected, script)
})

t.test('how commands are joined', async t => {
  t.same(parseScript('a && b || c; d', lookup)?.map(({ join }) => join), ['always', 'and', 'or', 'always'])
})

t.test('assignments before a command, not after it', async t => {
  t.match(only('X=1 Y="a b" run Z=2'), { assignments: { X: '1', Y: 'a b' }, words: ['run', 'Z=2'] })
})

t.test('redirections', async t => {
  const table: Array<[string, SimpleCommand['redirections']]> = [
    ['echo a > f', [{ fd: 1, isAppend: false, path: 'f' }]],
    ['echo a>>"f g"', [{ fd: 1, isAppend: true, path: 'f g' }]],
    ['echo a 2> f', [{ fd: 2, isAppend: false, path: 'f' }]],
    ['echo a >&2', [{ fd: 1, isAppend: false, path: undefined }]],
    ['echo a > f 2>&1', [{ fd: 1, isAppend: false, path: 'f' }, { fd: 2, isAppend: false, path: undefined }]],
  ]
  for (const [script, expected] of table) {
    t.same(only(script)?.redirections, expected, script)
    t.same(only(script)?.words, ['echo', 'a'], script)
  }
})
