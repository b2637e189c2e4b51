// Errors as they cross the wire.
import t from 'tap'
import { z } from 'zod'
import { AssayError, CODES, type ErrorCode } from '../../src/errors.ts'
import { WireError, fromWireError, invalidParams, toWireError } from '../../src/protocol/index.ts'

t.test('every code crosses the wire and comes back the same', async t => {
  for (const code of Object.keys(CODES) as ErrorCode[]) {
    const wire = toWireError(new AssayError(code, { message: 'Do this.', details: { at: 1 }, retryAfterMs: 5 }))
    t.same(WireError.parse(wire), wire)
    t.match(wire, { code, blame: CODES[code].blame, retry: CODES[code].retry })
    t.match(fromWireError(wire), { code, message: 'Do this.', details: { at: 1 }, retryAfterMs: 5 })
  }
})

t.test('what is absent is left out, and waits are whole milliseconds', async t => {
  t.strictSame(Object.keys(toWireError(new AssayError('FENCED'))), ['code', 'blame', 'retry', 'message'])
  t.equal(toWireError(new AssayError('QUEUE_FULL', { retryAfterMs: 1.6 })).retryAfterMs, 2)
})

t.test('a bug shows nothing of itself', async t => {
  for (const thrown of [new Error('secret'), 'secret', undefined, { code: 'FENCED', message: 'secret' }]) {
    const wire = toWireError(thrown)
    t.equal(wire.code, 'INTERNAL')
    t.notMatch(JSON.stringify(wire), /secret/)
  }
})

t.test('wrong parameters are listed by path, ten at most', async t => {
  const schema = z.strictObject({ list: z.array(z.strictObject({ n: z.int() })) })
  const parsed = schema.safeParse({ list: Array.from({ length: 30 }, () => ({ n: 'x' })) })
  if (parsed.success) throw new Error('must not parse')
  const error = invalidParams('step', parsed.error)
  t.equal(error.code, 'INVALID_PARAMS')
  t.match(error.message, /^step: list\.0\.n: .*; list\.1\.n: /)
  t.equal((error.details?.['problems'] as unknown[]).length, 10)
})
