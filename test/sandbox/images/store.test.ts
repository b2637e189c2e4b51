import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import t, { type Test } from 'tap'
import { systemClock } from '../../../src/base/clock.ts'
import { ensureBaseImages } from '../../../src/cli/setup/base-images.ts'
import type { Image } from '../../../src/sandbox/engine.ts'
import { DockerClient } from '../../../src/sandbox/engines/docker/client.ts'
import { ImageStore, type ImageStoreOptions } from '../../../src/sandbox/images/store.ts'
import { BASE_IMAGE, DOCKER_HOST } from '../../helpers/docker.ts'

interface Parts {
  images: ImageStore
  client: DockerClient
  /** At the end of the test. */
  remove: (image: Image) => void
}

async function store (t: Test, options: Partial<ImageStoreOptions> = {}): Promise<Parts> {
  await ensureBaseImages({ dockerHost: DOCKER_HOST, say: () => {} })
  const client = new DockerClient({ dockerHost: DOCKER_HOST, clock: systemClock })
  const images = new ImageStore({ client, aliases: new Map(), ...options })
  const made: Image[] = []
  t.teardown(async () => {
    images.close()
    for (const { id } of made) await client.call('removal', docker => docker.getImage(id).remove({ force: true }) as Promise<unknown>)
    client.close()
  })
  return { images, client, remove: image => made.push(image) }
}

const HOST_CA = '/etc/ssl/certs/ca-certificates.crt'

/** Nobody has built it before. */
const unique = (): string => randomBytes(6).toString('hex')

await t.test('a directory is built once per content, however many ask at once', async t => {
  const { images, remove } = await store(t)
  const word = unique()
  const directory = t.testdir({ Dockerfile: `FROM ${BASE_IMAGE}\nCOPY . /app\nWORKDIR /app\nUSER 1000\n`, word })
  const lines: string[] = []
  const all = await Promise.all([1, 2, 3].map(() => images.ensure({ kind: 'build', directory }, { onProgress: line => lines.push(line) })))
  const [image] = all
  if (image === undefined) throw new Error('no image')
  remove(image)
  t.match(image, { id: /^sha256:/, workdir: '/app', user: '1000' })
  t.equal(new Set(all.map(({ id }) => id)).size, 1)
  t.ok(lines.some(line => line.startsWith('Step 1/')), 'progress is told')
  const again: string[] = []
  t.same(await images.ensure({ kind: 'build', directory }, { onProgress: line => again.push(line) }), image)
  t.same(again, [], 'nothing was built')
})

await t.test('only the stage that is asked for is built', async t => {
  const { images, remove } = await store(t)
  const directory = t.testdir({ Dockerfile: `FROM ${BASE_IMAGE} AS first\nWORKDIR /${unique()}\nFROM first\nRUN false\n` })
  const image = await images.ensure({ kind: 'build', directory, target: 'first' })
  remove(image)
  t.match(image.workdir, /^\/[0-9a-f]{12}$/)
})

await t.test('a build that fails says with which lines, and leaves no container', async t => {
  const { images, client } = await store(t)
  const word = unique()
  const directory = t.testdir({ Dockerfile: `FROM ${BASE_IMAGE}\nRUN echo ${word}; exit 3\n` })
  await t.rejects(images.ensure({ kind: 'build', directory }), { code: 'IMAGE_UNAVAILABLE', message: new RegExp(`${word}[^]*returned a non-zero code: 3`) })
  const containers = await client.call('list', docker => docker.listContainers({ all: true }))
  t.notOk(containers.some(({ Command }) => Command.includes(word)))
})

await t.test('an alias decides which local image a name means', async t => {
  const { images } = await store(t, { aliases: new Map([['registry.invalid/python:9', BASE_IMAGE]]) })
  t.same(await images.ensure({ kind: 'name', name: 'registry.invalid/python:9' }), await images.ensure({ kind: 'name', name: BASE_IMAGE }))
})

await t.test('an image that is neither here nor anywhere says what to do', async t => {
  const { images } = await store(t)
  const directory = t.testdir({ Dockerfile: 'FROM registry.invalid/nothing:1\n' })
  const error = { code: 'IMAGE_UNAVAILABLE', message: /registry.invalid\/nothing:1.*imageAliases/s }
  await t.rejects(images.ensure({ kind: 'name', name: 'registry.invalid/nothing:1' }), error)
  await t.rejects(images.ensure({ kind: 'build', directory }), error)
})

await t.test('a directory without a Dockerfile is a defect of the task', async t => {
  const { images } = await store(t)
  await t.rejects(images.ensure({ kind: 'build', directory: t.testdir({}) }), { code: 'TASK_INVALID', message: /no Dockerfile/ })
  await t.rejects(images.ensure({ kind: 'build', directory: '/no/such' }), { code: 'TASK_INVALID' })
})

await t.test('a build trusts the CA bundle of the site, and the task\'s files are not mixed with it', { skip: existsSync(HOST_CA) ? false : `${HOST_CA} is missing` }, async t => {
  const { images, remove } = await store(t, { caBundle: HOST_CA })
  const check = 'test "$PIP_CERT" = "$SSL_CERT_FILE" && test -s "$PIP_CERT" && test "$(ls -A /app)" = word'
  const directory = t.testdir({ Dockerfile: `FROM ${BASE_IMAGE}\nCOPY word /app/word\nRUN ${check}\n`, word: unique() })
  const image = await images.ensure({ kind: 'build', directory })
  remove(image)
  await t.rejects(store(t, { caBundle: '/no/such.crt' }).then(({ images }) => images.ensure({ kind: 'build', directory })), { code: 'CONFIG_INVALID' })
})

await t.test('a closed store builds nothing more', async t => {
  const { images } = await store(t)
  images.close()
  await t.rejects(images.ensure({ kind: 'name', name: 'registry.invalid/nothing:1' }), { code: 'IMAGE_UNAVAILABLE', message: /closed/ })
})
