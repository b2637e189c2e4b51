import t from 'tap'
import { defer } from '../../../src/base/defer.ts'
import { SharedWork } from '../../../src/sandbox/images/shared.ts'

await t.test('callers of one key share the work and its progress; later ones work anew', async t => {
  const shared = new SharedWork<number>()
  const gate = defer<undefined>()
  let runs = 0
  const heard: string[] = []
  const work = async (say: (line: string) => void): Promise<number> => {
    runs++
    await gate.promise
    say('half')
    return runs
  }
  const both = [shared.run('k', work, line => heard.push(`a ${line}`)), shared.run('k', work, line => heard.push(`b ${line}`))]
  gate.resolve(undefined)
  t.same(await Promise.all(both), [1, 1])
  t.same(heard, ['a half', 'b half'])
  t.equal(await shared.run('k', work), 2)
})

await t.test('a failure reaches all callers and is forgotten', async t => {
  const shared = new SharedWork<string>()
  const fail = async (): Promise<string> => { throw new Error('broken') }
  const both = [shared.run('k', fail), shared.run('k', fail)]
  for (const result of await Promise.allSettled(both)) t.match(result, { status: 'rejected', reason: { message: 'broken' } })
  t.equal(await shared.run('k', async () => 'fine'), 'fine')
})
