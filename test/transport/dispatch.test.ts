// One path for every request: scopes, schemas, errors, metrics.
import t from 'tap'
import { systemClock } from '../../src/base/clock.ts'
import { AssayError } from '../../src/errors.ts'
import type { Context, Principal } from '../../src/service/service.ts'
import { silentLogger, type Logger } from '../../src/telemetry/log.ts'
import { createMetrics } from '../../src/telemetry/metrics.ts'
import { createDispatch, unknownOperation } from '../../src/transport/dispatch.ts'
import { Keyring } from '../../src/transport/keys.ts'
import { scriptedService, type Script } from './harness.ts'

const trainer: Principal = { name: 't', scopes: ['train'], classes: ['train'], splits: ['train'], maxEpisodes: 1 }

function setUp (script: Script) {
  const service = scriptedService(script)
  const metrics = createMetrics()
  const keys = new Keyring(undefined, { episodesPerKey: 1 }, systemClock)
  const bugs: Array<Record<string, unknown>> = []
  const error = (fields: Record<string, unknown>): void => { bugs.push(fields) }
  const log: Logger = { ...silentLogger, error, child: () => log }
  const context: Context = { principal: trainer, log, signal: new AbortController().signal }
  return { service, metrics, bugs, context, dispatch: createDispatch({ service, keys, metrics, clock: systemClock }) }
}

t.test('parameters reach the service parsed: defaults filled in, text turned to bytes', async t => {
  const { dispatch, service, context } = setUp(async () => 'ok')
  const action = { type: 'exec', command: 'cat', stdin: 'hé' }
  t.same(await dispatch('step', { episode: 'e', lease: 'l', seq: 1, action }, context), { ok: true, result: 'ok' })
  t.same(service.calls[0]?.params, {
    episode: 'e', lease: 'l', seq: 1, action: { type: 'exec', command: 'cat', stdin: Buffer.from('hé') },
  })
  await dispatch('group.open', { task: 'a' }, context)
  t.match(service.calls[1]?.params, { task: 'a', size: 32, class: 'train', refills: 2 })
})

t.test('wrong parameters name each path and reach nobody', async t => {
  const { dispatch, service, context } = setUp(async () => 'ok')
  const table: Array<[string, unknown, RegExp, string[]]> = [
    ['step', { episode: 'e', lease: 'l', seq: 0, action: { type: 'exec', command: 'x', timeoutMs: 'soon' } },
      /^step: seq: .*; action\.timeoutMs: /, ['seq', 'action.timeoutMs']],
    ['step', { episode: 'e', lease: 'l', seq: 1, action: { type: 'fly' } }, /action\.type/, ['action.type']],
    ['info', { extra: 1 }, /extra/, ['']],
    ['info', null, /expected object/, ['']],
    ['reset', { group: 'g' }, /member: required with group/, ['member']],
    ['reset', {}, /requestKey: give requestKey, or group and member/, ['requestKey', 'task']],
    ['group.open', { task: 'UP' }, /task: .*lower-case/, ['task']],
    ['group.open', { task: 'a', meta: { big: 'x'.repeat(5000) } }, /meta: .*4096 bytes/, ['meta']],
    ['group.open', { task: 'a', meta: deep(5000) }, /meta: .*4096 bytes/, ['meta']],
    ['group.open', JSON.parse('{"task":"a","__proto__":{"polluted":1}}'), /__proto__/, ['']],
  ]
  for (const [op, params, message, paths] of table) {
    const answer = await dispatch(op, params, context)
    t.match(answer, { ok: false, error: { code: 'INVALID_PARAMS', message, details: { problems: paths.map(path => ({ path })) } } }, String(message))
  }
  t.equal(service.calls.length, 0)
  t.equal(({} as Record<string, unknown>)['polluted'], undefined)
})

t.test('an unknown operation is told the closest name', async t => {
  const table: Array<[string, RegExp]> = [
    ['stpe', /"stpe"; did you mean "step"/],
    ['reste', /did you mean "reset"/],
    ['tasks_list', /did you mean "tasks.list"/],
    ['group', /did you mean "group\.get"/],
    ['zzzz', /info\.operations lists/],
    ['constructor', /info\.operations lists/],
    ['', /info\.operations lists/],
    ['x'.repeat(1_000_000), /"x{64}"; info\.operations/],
  ]
  for (const [op, message] of table) t.match(unknownOperation(op), { code: 'UNKNOWN_OP', message })
  const { dispatch, context } = setUp(async () => 'ok')
  t.match(await dispatch('__proto__', {}, context), { ok: false, error: { code: 'UNKNOWN_OP' } })
})

t.test('an operation not built yet says so, whatever its parameters', async t => {
  const { dispatch, service, context } = setUp(async () => 'ok')
  t.match(await dispatch('fork', { nonsense: true }, context), { ok: false, error: { code: 'NOT_IMPLEMENTED', blame: 'server' } })
  t.equal(service.calls.length, 0)
})

t.test('a key without a scope of the operation is refused', async t => {
  const { dispatch, context } = setUp(async () => 'ok')
  t.match(await dispatch('verify', { episode: 'e' }, context), { ok: false, error: { code: 'FORBIDDEN', message: /verify needs .* admin/ } })
  const nobody = { ...context, principal: { ...trainer, scopes: [] } }
  t.match(await dispatch('info', {}, nobody), { ok: false, error: { code: 'FORBIDDEN' } })
})

t.test('typed errors cross the wire as they are; anything else is INTERNAL, shows nothing and is logged', async t => {
  const typed = setUp(async () => { throw new AssayError('SEQ_GAP', { message: 'Send 3.', details: { committed: 2 } }) })
  t.same(await typed.dispatch('info', {}, typed.context), {
    ok: false,
    error: { code: 'SEQ_GAP', blame: 'caller', retry: 'never', message: 'Send 3.', details: { committed: 2 } },
  })
  t.same(typed.bugs, [])
  const bug = new TypeError('secret thing is undefined')
  const broken = setUp(async () => { throw bug })
  const answer = await broken.dispatch('info', {}, broken.context)
  t.match(answer, { ok: false, error: { code: 'INTERNAL' } })
  t.notMatch(JSON.stringify(answer), /secret/)
  t.same(broken.bugs, [{ err: bug, op: 'info' }])
})

t.test('each answer is counted by operation and code, with names from outside folded into one', async t => {
  const { dispatch, metrics, context } = setUp(async () => 'ok')
  await dispatch('info', {}, context)
  await dispatch('info', { no: 1 }, context)
  for (const op of ['a', 'b', 'c']) await dispatch(op, {}, context)
  const { values } = await metrics.requests.get()
  t.same(values.map(({ labels, value }) => [labels.op, labels.code, value]), [
    ['info', 'OK', 1], ['info', 'INVALID_PARAMS', 1], ['unknown', 'UNKNOWN_OP', 3],
  ])
  t.match(await metrics.registry.metrics(), /assay_request_seconds_count\{op="info"\} 2/)
})

t.test('starting groups and episodes spends the key\'s rate; other operations do not', async t => {
  const { service, metrics, context } = setUp(async () => 'ok')
  const found: Principal[] = []
  const spy = { spend: (principal: Principal) => { found.push(principal) } } as unknown as Keyring
  const dispatch = createDispatch({ service, keys: spy, metrics, clock: systemClock })
  await dispatch('group.open', { task: 'a' }, context)
  await dispatch('reset', { task: 'a', requestKey: 'k' }, context)
  await dispatch('info', {}, context)
  await dispatch('reset', {}, context)
  t.same(found, [trainer, trainer], 'two that start something; the malformed one costs nothing')
})

function deep (levels: number): Record<string, unknown> {
  let value: Record<string, unknown> = {}
  for (let i = 0; i < levels; i++) value = { in: value }
  return value
}
