// The rules of ARCHITECTURE and CONTRIBUTING that a program can check. Each problem is one line that says what to change.
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import t from 'tap'
import ts from 'typescript'

/** A folder of src/ imports lower ranks and itself only. src/errors.ts and src/base are below all. */
const RANKS: Readonly<Record<string, number>> = {
  errors: 0,
  base: 0,
  protocol: 1,
  telemetry: 1,
  config: 1,
  store: 2,
  sandbox: 2,
  tasks: 3,
  analysis: 3,
  verifier: 4,
  episodes: 5,
  pipeline: 5,
  groups: 6,
  service: 7,
  fleet: 8,
  evaluation: 8,
  transport: 9,
  dashboard: 9,
  cli: 10,
}
/** These compose and export: they may import anything. */
const OUTSIDE = new Set(['src/server.ts', 'src/index.ts'])
/** Source files whose test is not at the mirrored path. */
const TESTED_AT: Readonly<Record<string, string>> = {
  'src/cli/schemas.ts': 'test/schemas.test.ts',
  'src/cli/prepare.ts': 'test/cli/commands/serve.test.ts',
  'src/cli/quickstart/fake-tasks.ts': 'test/cli/commands/quickstart.test.ts',
  'src/cli/quickstart/leftovers.ts': 'test/cli/commands/quickstart.test.ts',
  'src/cli/quickstart/policy.ts': 'test/cli/commands/quickstart.test.ts',
}
const FILE_LINES = 300
const FOLDER_FILES = 10
const INTERFACE_METHODS = 8

const root = join(import.meta.dirname, '..')
const committed = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], { cwd: root, encoding: 'utf8' })
  .split('\0')
  .filter(path => path !== '' && existsSync(join(root, path)))
const read = (path: string): string => readFileSync(join(root, path), 'utf8')
const sources = committed.filter(path => /^src\/.*\.ts$/.test(path))
const clients = committed.filter(path => /^clients\/typescript\/.*\.ts$/.test(path))

t.test('imports point down the ranks', async t => {
  t.same(sources.filter(path => !OUTSIDE.has(path)).flatMap(upwardImports), [])
})

t.test('the client imports the protocol and the error table, and nothing else of src', async t => {
  const problems = clients.flatMap(path => importsOf(path)
    .filter(target => target.startsWith('src/') && !target.startsWith('src/protocol/') && target !== 'src/errors.ts')
    .map(target => `${path} must not import ${target}`))
  t.same(problems, [])
})

t.test('a file holds one idea', async t => {
  const problems = [...sources, ...clients]
    .map(path => ({ path, lines: read(path).trimEnd().split('\n').length }))
    .filter(({ lines }) => lines > FILE_LINES)
    .map(({ path, lines }) => `${path} has ${lines} lines, more than ${FILE_LINES}: it is probably two ideas`)
  t.same(problems, [])
})

t.test('a folder has few files', async t => {
  const perFolder = new Map<string, number>()
  for (const path of [...sources, ...clients]) perFolder.set(dirname(path), (perFolder.get(dirname(path)) ?? 0) + 1)
  const problems = [...perFolder]
    .filter(([, files]) => files > FOLDER_FILES)
    .map(([folder, files]) => `${folder}/ has ${files} files, more than ${FOLDER_FILES}: give some of them a folder of their own`)
  t.same(problems, [])
})

t.test('an interface has few methods', async t => {
  t.same([...sources, ...clients].flatMap(wideInterfaces), [])
})

t.test('a source file says first what it is for', async t => {
  const problems = [...sources, ...clients]
    .filter(path => !/^(#!.*\n)?\/\/ \S/.test(read(path)))
    .map(path => `${path} must open with a // comment: what it is for, and what it must not know`)
  t.same(problems, [])
})

t.test('a source file with logic has its test at the mirrored path', async t => {
  const problems = sources
    .filter(hasLogic)
    .map(path => ({ path, test: TESTED_AT[path] ?? path.replace(/^src\//, 'test/').replace(/\.ts$/, '.test.ts') }))
    .filter(({ test }) => !committed.includes(test))
    .map(({ path, test }) => `${path} has no ${test} (where another file tests it, say so in TESTED_AT)`)
  t.same(problems, [])
  t.same(Object.keys(TESTED_AT).filter(path => !sources.includes(path)), [], 'TESTED_AT names files that are there')
})

t.test('the environment is read in src/config.ts; the command line may pass it on to programs it starts', async t => {
  const problems = sources
    .filter(path => path !== 'src/config.ts' && !path.startsWith('src/cli/') && /\bprocess\.env\b/.test(read(path)))
    .map(path => `${path} reads process.env: take the setting from Config`)
  t.same(problems, [])
})

t.test('no work is left marked in the code', async t => {
  const mark = /^\s*(\/\/|\/?\*|#).*\b(TODO|FIXME)\b|[^'"`]\/\/ *(TODO|FIXME)\b/m
  const problems = committed
    .filter(path => /\.(ts|mjs|js|c|h|py|sh)$/.test(path) && mark.test(read(path)))
    .map(path => `${path} has a mark for later work: do it, or file an issue`)
  t.same(problems, [])
})

t.test('no file names a place of the machine on which it was written', async t => {
  const place = /\/work\/(main|shared|\.)|\/home\/[a-z]|\/Users\/[a-zA-Z]/
  const problems = committed
    .map(path => ({ path, found: place.exec(read(path))?.[0] }))
    .filter(({ found }) => found !== undefined)
    .map(({ path, found }) => `${path} names ${found}`)
  t.same(problems, [])
})

function upwardImports (path: string): string[] {
  const own = layerOf(path)
  const rank = RANKS[own]
  if (rank === undefined) return [`src/${own} has no rank: add it to the table in test/architecture.test.ts`]
  return importsOf(path)
    .filter(target => !mayImport({ own, rank, target }))
    .map(target => `${path} (${own}, rank ${rank}) must not import ${target}`)
}

function mayImport ({ own, rank, target }: { own: string, rank: number, target: string }): boolean {
  const layer = layerOf(target)
  if (layer === own || target === 'src/errors.ts') return true
  if (own === 'cli' && target === 'src/server.ts') return true
  if (own === 'cli' && target.startsWith('clients/typescript/')) return true
  const other = RANKS[layer]
  return target.startsWith('src/') && other !== undefined && other < rank
}

/** "episodes" for src/episodes/state.ts, "config" for src/config.ts. */
function layerOf (path: string): string {
  return path.replace(/^src\//, '').split('/', 1)[0]?.replace(/\.ts$/, '') ?? ''
}

/** Files of this repository that the file imports, as paths from its root. */
function importsOf (path: string): string[] {
  return ts.preProcessFile(read(path), true, true).importedFiles
    .map(({ fileName }) => fileName)
    .filter(name => name.startsWith('.'))
    .map(name => normalize(join(dirname(path), name)))
}

function wideInterfaces (path: string): string[] {
  const file = ts.createSourceFile(path, read(path), ts.ScriptTarget.ES2023)
  return file.statements.filter(ts.isInterfaceDeclaration).flatMap(declaration => {
    const methods = declaration.members.filter(ts.isMethodSignature).length
    if (methods <= INTERFACE_METHODS) return []
    return [`${path}: interface ${declaration.name.text} has ${methods} methods, more than ${INTERFACE_METHODS}`]
  })
}

/** Whether anything is left of the file once types are gone, besides imports and re-exports. */
function hasLogic (path: string): boolean {
  const { outputText } = ts.transpileModule(read(path), {
    compilerOptions: { target: ts.ScriptTarget.ES2023, module: ts.ModuleKind.ESNext, verbatimModuleSyntax: true },
  })
  return ts.createSourceFile(path, outputText, ts.ScriptTarget.ES2023).statements.some(statement =>
    !ts.isImportDeclaration(statement) && !ts.isExportDeclaration(statement))
}
