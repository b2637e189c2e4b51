// The closed table and the one error class.
import t from 'tap'
import { AssayError, CODES, boundary, isAssayError, type CodeInfo } from '../src/errors.ts'

t.test('every code has a sentence, an HTTP status of failure, and a retry that fits its blame', async t => {
  for (const [code, info] of Object.entries<CodeInfo>(CODES)) {
    t.match(code, /^[A-Z]+(_[A-Z]+)*$/)
    t.match(info.message, /^[A-Z].*\.$/, code)
    t.ok(info.status >= 400 && info.status < 600, code)
    if (info.blame === 'capacity') t.equal(info.retry, 'same', `${code}: what lacks capacity now may have it later`)
    if (info.blame === 'caller') t.ok(info.status < 500, `${code}: the caller's fault is not a 5xx`)
  }
})

t.test('an error takes its sentence from the table unless it has a better one', async t => {
  t.match(new AssayError('FENCED'), { name: 'AssayError', code: 'FENCED', message: CODES.FENCED.message, info: { status: 409 } })
  const cause = new Error('root')
  t.match(new AssayError('FENCED', { message: 'Mine.', details: { a: 1 }, retryAfterMs: 5, cause }), {
    message: 'Mine.', details: { a: 1 }, retryAfterMs: 5, cause,
  })
  t.equal('cause' in new AssayError('FENCED'), false)
})

t.test('errors are told apart by class and code', async t => {
  t.equal(isAssayError(new AssayError('FENCED')), true)
  t.equal(isAssayError(new AssayError('FENCED'), 'FENCED'), true)
  t.equal(isAssayError(new AssayError('FENCED'), 'SEQ_GAP'), false)
  t.equal(isAssayError(Object.assign(new Error('x'), { code: 'FENCED' })), false)
})

t.test('a boundary lets typed errors pass and wraps others with their cause', async t => {
  t.equal(await boundary('ENGINE_FAULT', 'create', async () => 1), 1)
  const typed = new AssayError('SANDBOX_LOST')
  await t.rejects(boundary('ENGINE_FAULT', 'create', async () => { throw typed }), typed)
  const cause = new Error('no such image')
  await t.rejects(boundary('ENGINE_FAULT', 'create', async () => { throw cause }), { code: 'ENGINE_FAULT', message: 'create: no such image', cause })
  await t.rejects(boundary('ENGINE_FAULT', 'create', () => Promise.reject('text')), { code: 'ENGINE_FAULT', message: 'create: text' }) // eslint-disable-line prefer-promise-reject-errors
})
