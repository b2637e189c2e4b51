// Actions: what a trainer may send.
import t from 'tap'
import { Action } from '../../src/protocol/index.ts'

t.test('each kind of action is accepted in its smallest form', async t => {
  const actions = [
    { type: 'exec', command: '' }, { type: 'read', path: 'a' }, { type: 'write', path: 'a', content: '' }, { type: 'edit', path: 'a', old: 'x', new: '' },
  ]
  for (const action of actions) t.equal(Action.safeParse(action).success, true, action.type)
})

t.test('what a shell or a file system cannot take is refused with its path', async t => {
  const cases: Array<[unknown, string]> = [
    [{ type: 'exec', command: 'a\0b' }, 'command'],
    [{ type: 'exec', command: 'a', timeoutMs: 0 }, 'timeoutMs'],
    [{ type: 'exec', command: 'a', env: { '1x': 'a' } }, 'env.1x'],
    [{ type: 'exec', command: 'a', env: { X: 'a\0b' } }, 'env.X'],
    [{ type: 'exec', command: 'a', cwd: '' }, 'cwd'],
    [{ type: 'read', path: 'a\0b' }, 'path'],
    [{ type: 'write', path: 'a', content: '', mode: 0o4755 }, 'mode'],
    [{ type: 'edit', path: 'a', old: '', new: 'x' }, 'old'],
    [{ type: 'sing' }, 'type'],
    [{ type: 'exec' }, 'command'],
  ]
  for (const [action, path] of cases) {
    t.equal(Action.safeParse(action).error?.issues[0]?.path.join('.'), path, JSON.stringify(action))
  }
})
