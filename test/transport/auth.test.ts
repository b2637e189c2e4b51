// Where a key is looked for in a request, and who is turned away.
import { createHash } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import t from 'tap'
import { systemClock } from '../../src/base/clock.ts'
import { authenticate, principalOf } from '../../src/transport/auth.ts'
import { Keyring } from '../../src/transport/keys.ts'

interface Shape {
  authorization?: string
  origin?: string
  host?: string
  ws?: boolean
  query?: Record<string, unknown>
}

function request ({ authorization, origin, host = 'localhost', ws = false, query = {} }: Shape): FastifyRequest {
  return { headers: { authorization, origin }, hostname: host, ws, query, principal: null } as unknown as FastifyRequest
}

const entry = {
  name: 'a',
  sha256: createHash('sha256').update('right').digest('hex'),
  scopes: ['train' as const],
  classes: ['train' as const],
  splits: ['train' as const],
}
const keyed = new Keyring([entry], { episodesPerKey: 1 }, systemClock)
const keyless = new Keyring(undefined, { episodesPerKey: 1 }, systemClock)

t.test('a key is taken from the Authorization header, or on a WebSocket from ?key=', async t => {
  const good: Shape[] = [{ authorization: 'Bearer right' }, { authorization: 'bearer  right', host: 'far.example' }, { ws: true, query: { key: 'right' } }]
  for (const shape of good) {
    const asked = request(shape)
    authenticate(asked, keyed)
    t.equal(principalOf(asked).name, 'a')
  }
  const bad: Shape[] = [
    {}, { authorization: 'right' }, { authorization: 'Bearer wrong' }, { query: { key: 'right' } },
    { ws: true, query: { key: ['right', 'right'] } }, { ws: true, authorization: 'Bearer wrong', query: { key: 'right' } },
  ]
  for (const shape of bad) t.throws(() => authenticate(request(shape), keyed), { code: 'UNAUTHENTICATED' }, JSON.stringify(shape))
})

t.test('without keys, only loopback names are answered, so that no web page can reach the server', async t => {
  for (const shape of [{}, { host: '[::1]' }, { origin: 'http://127.0.0.1:3000' }, { origin: 'http://[::1]' }]) {
    const asked = request(shape)
    authenticate(asked, keyless)
    t.equal(principalOf(asked).name, 'loopback')
  }
  for (const shape of [{ host: 'rebound.example' }, { origin: 'https://evil.example' }, { origin: 'null' }, { host: '' }]) {
    t.throws(() => authenticate(request(shape), keyless), { code: 'FORBIDDEN' }, JSON.stringify(shape))
  }
})

t.test('a request that was never authenticated has no principal', async t => {
  t.throws(() => principalOf(request({})), { code: 'UNAUTHENTICATED' })
})
