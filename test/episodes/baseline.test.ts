import t from 'tap'
import { createBaselines } from '../../src/episodes/baseline.ts'
import { AssayError } from '../../src/errors.ts'
import type { Pool } from '../../src/sandbox/pool.ts'
import { makeEngine, makePool, makeSpec } from '../helpers/fake.ts'

const files = [{ type: 'file', path: 'main.py', mode: 0o644, content: Buffer.from('x') }] as const

t.test('the pristine workspace is listed once per image, for all who ask, in a sandbox of its own', async t => {
  const pool = makePool(makeEngine({ files }))
  const baselineOf = createBaselines({ pool })
  const [a, b] = await Promise.all([baselineOf(makeSpec()), baselineOf(makeSpec())])
  t.equal(a, b)
  t.match(a.get('main.py'), { type: 'file', sizeBytes: 1 })
  t.equal(pool.stats().created, 1)
  t.equal(pool.stats().used, 0)
  await baselineOf({ ...makeSpec(), workdir: '/tmp' })
  t.equal(pool.stats().created, 2, 'another workspace is another listing')
  await pool.close()
})

t.test('a failure is not remembered', async t => {
  const pool = makePool(makeEngine({ files }))
  let failures = 1
  const acquire: Pool['acquire'] = async (spec, options) => {
    if (failures-- > 0) throw new AssayError('ENGINE_FAULT')
    return await pool.acquire(spec, options)
  }
  const failing: Pool = {
    engine: pool.engine,
    acquire,
    stage: (spec, count) => pool.stage(spec, count),
    stats: () => pool.stats(),
    close: () => pool.close(),
  }
  const baselineOf = createBaselines({ pool: failing })
  const asked = [baselineOf(makeSpec()), baselineOf(makeSpec())]
  for (const one of asked) await t.rejects(one, { code: 'ENGINE_FAULT' }, 'all who share it are told')
  t.equal((await baselineOf(makeSpec())).size, 1)
  await pool.close()
})

t.test('the least lately used image is forgotten', async t => {
  const pool = makePool(makeEngine())
  const baselineOf = createBaselines({ pool, limit: 2 })
  const at = (workdir: string) => baselineOf({ ...makeSpec(), workdir })
  await at('/a')
  await at('/b')
  await at('/a')
  await at('/c')
  await at('/a')
  t.equal(pool.stats().created, 3)
  await at('/b')
  t.equal(pool.stats().created, 4)
  await pool.close()
})
