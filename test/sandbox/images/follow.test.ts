import { Readable } from 'node:stream'
import t from 'tap'
import type { DockerClient } from '../../../src/sandbox/engines/docker/client.ts'
import { follow, type FollowOptions } from '../../../src/sandbox/images/follow.ts'

/** A client whose long answer is the given stream. */
const answering = (stream: Readable): DockerClient => {
  const client: Pick<DockerClient, 'open'> = {
    open: async (_what, _fn, { signal } = {}) => {
      signal?.addEventListener('abort', () => stream.destroy())
      return stream
    },
  }
  return client as DockerClient
}

const options: FollowOptions = { open: async () => new Readable(), firstMs: 1_000, idleMs: 1_000 }
const lines = (...values: object[]): Readable => Readable.from(values.map(value => `${JSON.stringify(value)}\n`))

await t.test('lines for people come out, data does not', async t => {
  const said: string[] = []
  const stream = lines({ stream: 'Step 1/2 : FROM x\n' }, { stream: '\n' }, { aux: { ID: 'x' } }, { status: 'Pull complete', id: 'abc' })
  await follow(answering(stream), 'the build', { ...options, onLine: line => said.push(line) })
  t.same(said, ['Step 1/2 : FROM x', 'abc: Pull complete'])
})

await t.test('an error line becomes an error with what came before it', async t => {
  const stream = lines({ stream: 'cc: not found' }, { error: 'the command returned 127' })
  await t.rejects(follow(answering(stream), 'the build', options), { code: 'IMAGE_UNAVAILABLE', message: /the build failed:\ncc: not found\nthe command returned 127/ })
})

await t.test('silence and a caller that gives up end it, and its stream', async t => {
  const silent = new Readable({ read () {} })
  await t.rejects(follow(answering(silent), 'the build', { ...options, idleMs: 20 }), { code: 'IMAGE_UNAVAILABLE', message: /next line/ })
  t.ok(silent.destroyed)
  const other = new Readable({ read () {} })
  const controller = new AbortController()
  const following = follow(answering(other), 'the build', { ...options, signal: controller.signal })
  controller.abort(new Error('enough'))
  await t.rejects(following, { message: 'enough' })
  t.ok(other.destroyed)
})
