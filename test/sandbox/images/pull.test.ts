import t from 'tap'
import { BASE_IMAGE, DOCKER_HOST, withClient } from '../../helpers/docker.ts'
import { ensureBaseImages } from '../../../src/cli/setup/base-images.ts'
import { findImage, pullImage, standInName } from '../../../src/sandbox/images/pull.ts'

await t.test('an image is found by its name or not at all', async t => {
  await ensureBaseImages({ dockerHost: DOCKER_HOST, say: () => {} })
  await withClient(async client => {
    const image = await findImage(client, BASE_IMAGE) ?? await findImage(client, standInName(BASE_IMAGE))
    t.match(image, { id: /^sha256:[0-9a-f]{64}$/, workdir: '/', user: '' })
    t.equal(await findImage(client, 'assay/no-such-image:1'), undefined)
  })
})

await t.test('a pull that no registry answers fails, typed and soon', async t => {
  await withClient(async client => {
    // .invalid never resolves, wherever this runs
    await t.rejects(pullImage(client, 'registry.invalid/nothing:1', { firstMs: 5_000 }), { code: /ENGINE_FAULT|ENGINE_UNAVAILABLE|IMAGE_UNAVAILABLE/ })
  })
})
