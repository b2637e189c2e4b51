import t from 'tap'
import { sandboxContract } from '../../contracts/sandbox.ts'
import { dockerEngine, smallSpec } from '../../helpers/docker.ts'

await t.test('a container keeps the contract of every sandbox', async t => {
  const { engine, image } = await dockerEngine(t)
  await sandboxContract(t, () => engine.create(smallSpec(image)))
})
