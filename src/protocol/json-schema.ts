// JSON Schemas, error codes and an OpenAPI document, all derived from the operation table. Writes nothing itself.
import { z } from 'zod'
import { CODES } from '../errors.ts'
import { PROTOCOL_VERSION, SUBPROTOCOLS } from './codec.ts'
import { EVENTS, FailureReply, RequestEnvelope, SuccessReply } from './frames.ts'
import { OPERATIONS, type Operation } from './operations.ts'
import { WireError } from './wire-error.ts'

export type JsonDocument = Record<string, unknown>

/** Path below schemas/ -> document, for all that crosses the wire. */
export function protocolDocuments (): Map<string, JsonDocument> {
  const documents = new Map<string, JsonDocument>()
  for (const [name, operation] of operations) {
    documents.set(`v1/${name}.params.json`, jsonSchemaOf(operation.params, { title: `${name} params`, io: 'input' }))
    documents.set(`v1/${name}.result.json`, jsonSchemaOf(operation.result, { title: `${name} result` }))
  }
  for (const [name, schema] of Object.entries(EVENTS)) {
    documents.set(`v1/events/${name}.json`, jsonSchemaOf(schema, { title: `${name} event` }))
  }
  documents.set('v1/frames/request.json', jsonSchemaOf(RequestEnvelope, { title: 'request frame', io: 'input' }))
  documents.set('v1/frames/reply.json', jsonSchemaOf(z.union([SuccessReply, FailureReply]), { title: 'reply frame' }))
  documents.set('v1/index.json', indexDocument())
  documents.set('v1/openapi.json', openapiDocument())
  documents.set('error-codes.json', { ...CODES })
  return documents
}

export interface SchemaOptions {
  title: string
  /** What a client may write (input), or what the server sends (output, the default). */
  io?: 'input' | 'output'
}

/** Draft 2020-12, in the JSON encoding: bytes are text or {base64}. */
export function jsonSchemaOf (schema: z.ZodType, { title, io = 'output' }: SchemaOptions): JsonDocument {
  const { $schema, ...rest } = z.toJSONSchema(schema, { io, unrepresentable: 'any' })
  return { $schema, title, ...tidy(rest) as JsonDocument }
}

const operations: Array<[string, Operation]> = Object.entries(OPERATIONS)

const BYTES = [
  { type: 'string', description: 'The bytes are this text in UTF-8' },
  {
    type: 'object',
    properties: { base64: { type: 'string', contentEncoding: 'base64' } },
    required: ['base64'],
    additionalProperties: false,
  },
]

// Bytes as a client may write them are a union of text, raw bytes (msgpack only, marked) and {base64}; as the server
// sends them, the marked ones alone. The bounds that every integer has say nothing and go.
function tidy (node: unknown): unknown {
  if (Array.isArray(node)) return node.map(tidy)
  if (typeof node !== 'object' || node === null) return node
  const schema = { ...node as JsonDocument }
  const options = Array.isArray(schema['anyOf']) ? schema['anyOf'] as JsonDocument[] : []
  if (schema['bytes'] === true || options.some(option => option['bytes'] === true)) schema['anyOf'] = BYTES
  if (schema['bytes'] === true) delete schema['bytes']
  if (schema['maximum'] === Number.MAX_SAFE_INTEGER) delete schema['maximum']
  if (schema['minimum'] === Number.MIN_SAFE_INTEGER) delete schema['minimum']
  return Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, tidy(value)]))
}

function indexDocument (): JsonDocument {
  const listed = operations.map(([name, { summary, scopes, built }]) => [name, {
    summary,
    scopes,
    built,
    http: `POST /v1/${name}`,
    params: `${name}.params.json`,
    result: `${name}.result.json`,
  }])
  return {
    protocol: PROTOCOL_VERSION,
    websocket: { path: '/v1/ws', subprotocols: Object.keys(SUBPROTOCOLS) },
    frames: { request: 'frames/request.json', reply: 'frames/reply.json' },
    operations: Object.fromEntries(listed),
    events: Object.fromEntries(Object.keys(EVENTS).map(name => [name, `events/${name}.json`])),
    errors: '../error-codes.json',
  }
}

function openapiDocument (): JsonDocument {
  return {
    openapi: '3.1.0',
    info: {
      title: 'Assay',
      version: PROTOCOL_VERSION,
      description: 'Environment server for reinforcement learning of coding agents: the HTTP mirror of the WebSocket protocol.',
    },
    security: [{ key: [] }],
    paths: Object.fromEntries(operations.map(([name, operation]) => [`/v1/${name}`, { post: pathItem(name, operation) }])),
    components: {
      securitySchemes: { key: { type: 'http', scheme: 'bearer' } },
      schemas: Object.fromEntries([
        ...operations.flatMap(([name, { params, result }]) => [
          [`${name}.params`, component(params, 'input')],
          [`${name}.result`, component(result, 'output')],
        ]),
        ['error', component(WireError, 'output')],
      ]),
      responses: {
        failure: {
          description: 'The error; its code says which status',
          content: json({
            type: 'object',
            properties: { ok: { const: false }, error: { $ref: '#/components/schemas/error' } },
            required: ['ok', 'error'],
          }),
        },
      },
    },
  }
}

function pathItem (name: string, { summary, built }: Operation): JsonDocument {
  const result = { $ref: `#/components/schemas/${name}.result` }
  const pending = { type: 'object', properties: { pending: { const: true } }, required: ['pending'], additionalProperties: false }
  return {
    operationId: name,
    summary: built ? summary : `${summary} (not offered yet: NOT_IMPLEMENTED)`,
    requestBody: { required: false, content: json({ $ref: `#/components/schemas/${name}.params` }) },
    responses: {
      200: {
        description: waits.has(name) ? 'The result, or pending: send the same request again to go on waiting' : 'The result',
        content: json({
          type: 'object',
          properties: { ok: { const: true }, result: waits.has(name) ? { anyOf: [result, pending] } : result },
          required: ['ok', 'result'],
        }),
      },
      default: { $ref: '#/components/responses/failure' },
    },
  }
}

function component (schema: z.ZodType, io: 'input' | 'output'): JsonDocument {
  const { $schema: _dialect, title: _title, ...rest } = jsonSchemaOf(schema, { title: '', io })
  return rest
}

function json (schema: JsonDocument): JsonDocument {
  return { 'application/json': { schema } }
}

/** Operations that may take minutes; over HTTP they answer {pending: true} and are sent again. */
const waits: ReadonlySet<string> = new Set(['reset', 'step', 'submit'])
