// From the headers of an HTTP request (also of an upgrade) to the principal who sent it.
import type { FastifyRequest } from 'fastify'
import { AssayError } from '../errors.ts'
import type { Principal } from '../service/service.ts'
import { isLoopback, type Keyring } from './keys.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Set once the request is authenticated. */
    principal: Principal | null
  }
}

/** Sets request.principal. Throws UNAUTHENTICATED or FORBIDDEN. */
export function authenticate (request: FastifyRequest, keys: Keyring): void {
  if (keys.keyless) refuseForeignPage(request)
  const principal = keys.find(findKey(request))
  if (principal === undefined) throw new AssayError('UNAUTHENTICATED')
  request.principal = principal
}

export function principalOf (request: FastifyRequest): Principal {
  if (request.principal === null) throw new AssayError('UNAUTHENTICATED')
  return request.principal
}

function findKey (request: FastifyRequest): string | undefined {
  const bearer = /^Bearer +(\S+)$/i.exec(request.headers.authorization ?? '')?.[1]
  if (bearer !== undefined || !request.ws) return bearer
  const { key } = request.query as { key?: unknown }
  return typeof key === 'string' ? key : undefined
}

// Without keys, being on loopback is the only proof, and a web page open in a browser of this machine has it too: the
// page's own site shows in Origin, or, when its name was made to resolve to loopback, in Host.
function refuseForeignPage (request: FastifyRequest): void {
  const { origin } = request.headers
  const foreign = origin !== undefined && !(URL.canParse(origin) && isLoopback(new URL(origin).hostname))
  if (!foreign && isLoopback(request.hostname)) return
  throw new AssayError('FORBIDDEN', {
    message: 'Without keys the server answers loopback names only (127.0.0.1, localhost); connect to one, or give the server a key file.',
  })
}
