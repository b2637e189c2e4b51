// Writes schemas/ from the code, or says where the committed files differ from it. Knows nothing of servers.
import { mkdir, readFile, readdir, rm, writeFile } from 'node:fs/promises'
import { dirname, join, relative, sep } from 'node:path'
import { Config, environmentName } from '../config.ts'
import { jsonSchemaOf, protocolDocuments } from '../protocol/index.ts'

export interface SchemasOptions {
  /** Write nothing; list what differs. */
  check: boolean
  /** Where schemas/ is; default: the current directory's. */
  directory?: string | undefined
}

/** Returns the exit code: 1 when check found drift. */
export async function runSchemas ({ check, directory = 'schemas' }: SchemasOptions): Promise<number> {
  const wanted = schemaFiles()
  if (check) return report(await findDrift(wanted, directory))
  for (const path of await generatedIn(directory)) if (!wanted.has(path)) await rm(join(directory, path))
  for (const [path, text] of wanted) {
    await mkdir(dirname(join(directory, path)), { recursive: true })
    await writeFile(join(directory, path), text)
  }
  console.log(`${wanted.size} files written to ${directory}/`)
  return 0
}

/** Path below schemas/ -> text of the file. */
export function schemaFiles (): Map<string, string> {
  const documents = protocolDocuments()
  documents.set('config.json', configDocument())
  return new Map([...documents].sort().map(([path, document]) => [path, `${JSON.stringify(document, undefined, 2)}\n`]))
}

/** One line for each file that is missing, outdated or no longer generated. */
export async function findDrift (wanted: ReadonlyMap<string, string>, directory: string): Promise<string[]> {
  const present = await generatedIn(directory)
  const lines = present.filter(path => !wanted.has(path)).map(path => `${path}: no longer generated`)
  for (const [path, text] of wanted) {
    if (!present.includes(path)) lines.push(`${path}: missing`)
    else if (await readFile(join(directory, path), 'utf8') !== text) lines.push(`${path}: differs from the code`)
  }
  return lines
}

function report (drift: string[]): number {
  if (drift.length === 0) {
    console.log('schemas/ agrees with the code')
    return 0
  }
  console.error(`${drift.join('\n')}\nRun "npm run schemas" and commit what it writes.`)
  return 1
}

// Each setting is also told by which variable it is set.
function configDocument (): Record<string, unknown> {
  const document = jsonSchemaOf(Config, { title: 'Settings of the server', io: 'input' })
  const properties = document['properties'] as Record<string, object>
  const named = Object.entries(properties).map(([key, schema]) => {
    return [key, { ...schema, environment: environmentName(key) }]
  })
  return { ...document, properties: Object.fromEntries(named) }
}

async function generatedIn (directory: string): Promise<string[]> {
  await mkdir(directory, { recursive: true })
  const entries = await readdir(directory, { recursive: true, withFileTypes: true })
  return entries
    .filter(entry => entry.isFile() && entry.name.endsWith('.json'))
    .map(entry => relative(directory, join(entry.parentPath, entry.name)).split(sep).join('/'))
}
