import t from 'tap'
import { silentLogger } from '../../src/telemetry/log.ts'

t.test('the silent logger takes everything and has silent children', async t => {
  for (const level of ['debug', 'info', 'warn', 'error'] as const) silentLogger[level]({ a: 1 }, 'message')
  t.equal(silentLogger.child({ b: 2 }), silentLogger)
})
