// The generated documents, judged by a validator that did not make them.
import { Ajv2020, type AnySchema } from 'ajv/dist/2020.js'
import t from 'tap'
import { z } from 'zod'
import { CODES } from '../../src/errors.ts'
import { Bytes, BytesInput, OPERATIONS, jsonSchemaOf, protocolDocuments } from '../../src/protocol/index.ts'

const documents = protocolDocuments()
const ajv = new Ajv2020({ strict: false, validateFormats: false })

interface Index {
  operations: Record<string, { params: string, result: string }>
  events: Record<string, string>
}

function accepts (path: string, value: unknown): boolean {
  const document = documents.get(path)
  if (document === undefined) throw new Error(`no document ${path}`)
  return ajv.compile(document as AnySchema)(value) as boolean
}

t.test('every document that calls itself a schema is one', async t => {
  const schemas = [...documents].filter(([, document]) => '$schema' in document)
  t.equal(schemas.length, 2 * Object.keys(OPERATIONS).length + 5 + 2)
  for (const [path, document] of schemas) t.doesNotThrow(() => ajv.compile(document as AnySchema), path)
})

t.test('the schemas accept and refuse what the server does', async t => {
  const step = { episode: 'e', lease: 'l', seq: 1 }
  t.equal(accepts('v1/step.params.json', { ...step, action: { type: 'exec', command: 'ls', stdin: 'x' } }), true)
  t.equal(accepts('v1/step.params.json', { ...step, action: { type: 'write', path: 'a', content: { base64: 'AA==' } } }), true)
  t.equal(accepts('v1/step.params.json', { ...step, action: { type: 'exec' } }), false)
  t.equal(accepts('v1/step.params.json', { ...step, seq: 0, action: { type: 'exec', command: 'ls' } }), false)
  t.equal(accepts('v1/group.open.params.json', { task: 'a' }), true, 'defaults may be left out')
  t.equal(accepts('v1/step.result.json', { committed: 1, observation: { stdout: { base64: '/w==' } } }), true)
  t.equal(accepts('v1/step.result.json', { committed: 1, observation: { stdout: 5 } }), false)
  t.equal(accepts('v1/events/output.json', { event: 'output', episode: 'e', stream: 'stdout', offset: 0, bytes: 'x' }), true)
  t.equal(accepts('v1/frames/reply.json', { id: null, ok: false, error: { code: 'FENCED', blame: 'caller', retry: 'never', message: 'm' } }), true)
  t.equal(accepts('v1/frames/request.json', { id: 1, op: 'step', anything: 'else' }), true)
})

t.test('bytes are text or base64, read or written', async t => {
  for (const schema of [jsonSchemaOf(Bytes, { title: '' }), jsonSchemaOf(BytesInput, { title: '', io: 'input' })]) {
    const check = ajv.compile(schema as AnySchema)
    for (const value of ['text', { base64: '/w==' }]) t.equal(check(value), true)
    for (const value of [1, null, {}, { base64: 'AA==', more: 1 }]) t.equal(check(value), false, JSON.stringify(value))
  }
  const inside = jsonSchemaOf(z.strictObject({ bytes: z.int().describe('a member that happens to be called bytes') }), { title: '' })
  t.match(inside['properties'], { bytes: { type: 'integer' } })
})

t.test('the index names documents that exist', async t => {
  const index = documents.get('v1/index.json') as unknown as Index
  const ofOperations = Object.values(index.operations).flatMap(({ params, result }) => [params, result])
  const named = [...ofOperations, ...Object.values(index.events)]
  for (const path of named) t.ok(documents.has(`v1/${path}`), path)
  t.same(Object.keys(index.operations), Object.keys(OPERATIONS))
})

t.test('the OpenAPI document has each operation, and its references lead somewhere', async t => {
  const openapi = documents.get('v1/openapi.json') as { openapi: string, paths: object, components: object }
  t.equal(openapi.openapi, '3.1.0')
  t.same(Object.keys(openapi.paths), Object.keys(OPERATIONS).map(name => `/v1/${name}`))
  for (const [, reference] of JSON.stringify(openapi).matchAll(/"\$ref":"([^"]*)"/g)) {
    const found = reference?.split('/').slice(1).reduce<unknown>((node, key) => (node as Record<string, unknown>)[key], openapi)
    t.type(found, 'object', String(reference))
  }
})

t.test('the error table is complete', async t => {
  t.same(documents.get('error-codes.json'), CODES)
})
