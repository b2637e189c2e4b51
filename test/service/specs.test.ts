import t from 'tap'
import { AssayError } from '../../src/errors.ts'
import type { Image } from '../../src/sandbox/engine.ts'
import { createSpecs } from '../../src/service/specs.ts'
import { defer, makeEngine, makeTask } from '../helpers/fake.ts'

function start () {
  const calls: string[] = []
  const gates: Array<ReturnType<typeof defer<Image>>> = []
  const engine = {
    ...makeEngine(),
    ensureImage: async () => {
      calls.push('ensure')
      const gate = defer<Image>()
      gates.push(gate)
      return await gate.promise
    },
  }
  return { calls, gates, specOf: createSpecs(engine) }
}

const image: Image = { id: 'sha256:1', workdir: '/image', user: '1000' }

t.test('the image is made ready once for all who ask, and remembered', async t => {
  const { calls, gates, specOf } = start()
  const asked = [specOf(makeTask()), specOf(makeTask())]
  gates[0]?.resolve(image)
  for (const spec of await Promise.all(asked)) t.match(spec, { image, workdir: '/desk', user: '1000', env: {} })
  await specOf(makeTask())
  t.equal(calls.length, 1)
})

t.test('the task goes before the image, and the image before nothing', async t => {
  const { gates, specOf } = start()
  const own = specOf(makeTask({ user: '5:5', env: { A: '1' } }))
  gates[0]?.resolve(image)
  t.match(await own, { user: '5:5', workdir: '/desk', env: { A: '1' } })
  const bare = specOf(makeTask({ id: 'bare', workdir: undefined }))
  gates[1]?.resolve({ ...image, user: '' })
  t.match(await bare, { user: undefined, workdir: '/image' })
})

t.test('who leaves stops waiting, the work goes on; a failure is told to all and not remembered', async t => {
  const { calls, gates, specOf } = start()
  const stop = new AbortController()
  const left = t.rejects(specOf(makeTask(), { signal: stop.signal }), /left/)
  const stays = t.rejects(specOf(makeTask()), { code: 'IMAGE_UNAVAILABLE' })
  stop.abort(new Error('left'))
  await left
  gates[0]?.reject(new AssayError('IMAGE_UNAVAILABLE'))
  await stays
  const again = specOf(makeTask())
  gates[1]?.resolve(image)
  t.match(await again, { image })
  t.equal(calls.length, 2)
})
