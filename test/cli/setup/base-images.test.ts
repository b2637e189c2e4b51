import t from 'tap'
import { BASE_IMAGES, ensureBaseImages } from '../../../src/cli/setup/base-images.ts'
import { DOCKER_HOST, dockerEngine, smallSpec } from '../../helpers/docker.ts'

await t.test('what is there already is found again at once, one line per image', async t => {
  await ensureBaseImages({ dockerHost: DOCKER_HOST, say: () => {} })
  const said: string[] = []
  await ensureBaseImages({ dockerHost: DOCKER_HOST, say: line => said.push(line) })
  t.equal(said.length, Object.keys(BASE_IMAGES).length)
  for (const line of said) t.match(line, /: ready \(/)
})

await t.test('the python image has what a Dockerfile for the public one expects', async t => {
  const { engine, image } = await dockerEngine(t)
  await using sandbox = await engine.create(smallSpec(image))
  const script = [
    'set -e',
    'python -c "import json, ssl, sqlite3, zoneinfo; zoneinfo.ZoneInfo(\'Europe/Paris\')"',
    'python3 -m pip --version >/dev/null',
    'pip install --no-index --dry-run pip >/dev/null',
    'echo fine',
  ].join('\n')
  const ran = await sandbox.run({ script, timeoutMs: 30_000, outputBytes: 4096, merge: true })
  t.equal(Buffer.from(ran.stdout.bytes).toString(), 'fine\n')
})

await t.test('without an engine it fails as such, and a caller that gives up is heard', async t => {
  await t.rejects(ensureBaseImages({ dockerHost: 'unix:///no/such.sock', say: () => {} }), { code: 'ENGINE_UNAVAILABLE' })
  const signal = AbortSignal.abort(new Error('Ctrl-C'))
  await t.rejects(ensureBaseImages({ dockerHost: DOCKER_HOST, say: () => {}, signal }), { message: 'Ctrl-C' })
})
