import t from 'tap'
import { ContainerWatch } from '../../../../src/sandbox/engines/docker/watch.ts'

await t.test('it remembers every kind of event and tells the end from the rest', async t => {
  const watch = new ContainerWatch()
  let ended = false
  const end = watch.ended.then(() => { ended = true })
  watch.note('oom')
  watch.note('kill')
  await new Promise(resolve => setImmediate(resolve))
  t.notOk(ended)
  watch.note('die')
  watch.note('destroy')
  await end
  t.same(watch.evidence, { killed: true, died: true, removed: true, oom: true })
})
