// The committed schemas/ agree with the code that they are generated from, and drift is told file by file.
import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { findDrift, runSchemas, schemaFiles } from '../src/cli/schemas.ts'

const committed = join(import.meta.dirname, '..', 'schemas')

t.test('schemas/ agrees with the code; if not, run "npm run schemas"', async t => {
  t.same(await findDrift(schemaFiles(), committed), [])
})

t.test('what is missing, changed or no longer generated is named, and writing repairs it', async t => {
  const directory = t.testdir()
  const lines: string[] = []
  t.intercept(console, 'log', { value: (line: string) => lines.push(line) })
  t.intercept(console, 'error', { value: (line: string) => lines.push(line) })
  t.equal(await runSchemas({ check: false, directory }), 0)
  t.equal(await runSchemas({ check: true, directory }), 0)

  await rm(join(directory, 'v1/step.params.json'))
  await writeFile(join(directory, 'error-codes.json'), '{}')
  await writeFile(join(directory, 'v1/old.json'), '{}')
  await writeFile(join(directory, 'README.md'), 'not generated, not touched')
  t.equal(await runSchemas({ check: true, directory }), 1)
  for (const line of ['v1/step.params.json: missing', 'error-codes.json: differs', 'v1/old.json: no longer generated', 'npm run schemas']) {
    t.match(lines.at(-1), line)
  }

  t.equal(await runSchemas({ check: false, directory }), 0)
  t.same(await findDrift(schemaFiles(), directory), [])
  t.equal(await readFile(join(directory, 'README.md'), 'utf8'), 'not generated, not touched')
})

t.test('a directory that is not there yet has every file missing', async t => {
  const drift = await findDrift(schemaFiles(), join(t.testdir(), 'none'))
  t.equal(drift.length, schemaFiles().size)
})

t.test('each setting is documented with the variable that sets it', async t => {
  const config = JSON.parse(schemaFiles().get('config.json') ?? '') as { properties: Record<string, object>, required?: unknown }
  t.match(config.properties['pingMs'], { type: 'integer', default: 20_000, environment: 'ASSAY_PING_MS', description: String })
  t.equal(config.required, undefined, 'nothing must be set')
})
