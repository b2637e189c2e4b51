// The contract of a Sandbox, kept by the real warden through the real link.
import t from 'tap'
import { sandboxContract } from '../../contracts/sandbox.ts'
import { buildWarden, canUnshare, createSandbox } from './support/namespace.ts'

const skip = canUnshare ? false : 'making namespaces needs root; the docker engine keeps the same contract'

await t.test('the warden in namespaces of this machine', { skip }, async t => {
  const path = await buildWarden(t.testdir())
  await sandboxContract(t, async () => await createSandbox(path))
})
