// Probes and metrics.
import t from 'tap'
import { scriptedService, startTransport } from './harness.ts'

t.test('healthz says the process is up; readyz says whether work is taken, and why not', async t => {
  const service = scriptedService(async () => ({}))
  await using server = await startTransport({ service })
  t.equal((await fetch(`${server.httpUrl}/healthz`)).status, 200)
  const ready = await fetch(`${server.httpUrl}/readyz`)
  t.equal(ready.status, 200)
  t.same(await ready.json(), { ok: true })
  service.readiness = { ok: false, reason: 'the engine does not answer' }
  const unready = await fetch(`${server.httpUrl}/readyz`)
  t.equal(unready.status, 503)
  t.same(await unready.json(), { ok: false, reason: 'the engine does not answer' })
  t.equal((await fetch(`${server.httpUrl}/healthz`)).status, 200, 'it is still up')
})

t.test('metrics are text for a scraper', async t => {
  await using server = await startTransport()
  await server.post('info')
  const response = await fetch(`${server.httpUrl}/metrics`)
  t.match(response.headers.get('content-type'), /^text\/plain/)
  t.match(await response.text(), /assay_requests_total\{op="info",code="OK"\} 1/)
})
