import { chmod, mkdir, symlink } from 'node:fs/promises'
import path from 'node:path'
import t, { type Test } from 'tap'
import { isAssayError } from '../../../src/errors.ts'
import { readNativeTask } from '../../../src/tasks/formats/native.ts'
import { formatContract } from '../../contracts/format.ts'
import { CASE, FILES, toml, writeExample } from '../example.ts'

await formatContract(t, {
  read: readNativeTask,
  write: async directory => { await writeExample(directory) },
  secrets: ['hidden-value', 'hidden-solution', 'cases.jsonl', 'python3 /app/main.py'],
  required: ['task.toml', 'instruction.md', 'tests/cases.jsonl', 'environment/Dockerfile'],
})

async function read (t: Test, changes: Record<string, string | undefined>) {
  const directory = path.join(t.testdir({}), 'a-task')
  await mkdir(directory)
  return await readNativeTask(await writeExample(directory, changes))
}

async function refusal (t: Test, changes: Record<string, string | undefined>): Promise<string> {
  const error: unknown = await read(t, changes).then(() => undefined, (error: unknown) => error)
  return isAssayError(error, 'TASK_INVALID') ? error.message : `not refused: ${String(error)}`
}

await t.test('the facts of task.toml become those of the task, with their units', async t => {
  const { task } = await read(t, {})
  t.match(task, {
    id: 'a-task',
    split: 'train',
    requirements: 1,
    workdir: '/app',
    user: undefined,
    limits: { memoryBytes: 64 * 1024 * 1024, pids: 256, cpus: 1 },
    stepTimeoutMs: 60_000,
    image: { kind: 'build' },
    verifier: { build: undefined, command: 'python3 /app/main.py', caseTimeoutMs: 10_000, timeoutMs: 600_000, referenceMs: 50, runner: undefined },
    reference: undefined,
  })
})

await t.test('users, images by name, builds and references are read', async t => {
  const { task } = await read(t, {
    'task.toml': toml('split = "train"', 'split = "val"\nid = "own/id"\nuser = "1000:1000"\nbuild = "make"\nreference_target = "ref"\nreference_path = "/ref"')
      .replace('[environment]', '[agent]\nuser = 7\n\n[environment]\ndocker_image = "debian:12"'),
  })
  t.match(task, {
    id: 'own/id',
    user: '1000:1000',
    image: { kind: 'name', name: 'debian:12' },
    verifier: { build: { command: 'make', timeoutMs: 120_000 } },
    reference: { target: 'ref', path: '/ref' },
  })
  t.equal((await read(t, { 'task.toml': toml('[environment]', '[agent]\nuser = 7\n\n[environment]') })).task.user, '7')
})

await t.test('a function task has exactly one runner', async t => {
  const files = {
    'task.toml': toml('interface = "cli"', 'interface = "function"'),
    'tests/cases.jsonl': '{"id": "one", "requirement": 1, "input": [1], "expect": {"kind": "equals", "value": 2}}\n',
  }
  const { task } = await read(t, { ...files, 'tests/runner.py': 'code' })
  t.equal(task.verifier.runner?.name, 'runner.py')
  t.match(await refusal(t, files), /exactly one tests\/runner/)
  t.match(await refusal(t, { ...files, 'tests/runner.py': '', 'tests/runner.js': '' }), /exactly one tests\/runner/)
})

await t.test('what is wrong is refused with the place and what to change', async t => {
  const rows: Array<[what: string, changes: Record<string, string>, message: RegExp]> = [
    ['broken toml', { 'task.toml': 'a = = 1' }, /task\.toml: .*line|task\.toml: [^]*1:/],
    ['no facts of ours', { 'task.toml': '[task]\nname = "a/b"\n' }, /task\.toml:[^]*metadata/],
    ['unknown fact', { 'task.toml': toml('split = ', 'splitt = "x"\nsplit = ') }, /splitt[^]*metadata\.assay/],
    ['another kind', { 'task.toml': toml('kind = "driver"', 'kind = "command"') }, /metadata\.assay\.kind/],
    ['a user by name', { 'task.toml': toml('split = ', 'user = "dev"\nsplit = ') }, /numeric[^]*metadata\.assay\.user/],
    ['a workdir that climbs', { 'task.toml': toml('workdir = "/app"', 'workdir = "/app/../etc"') }, /environment\.workdir/],
    ['a limit below ten references', { 'task.toml': toml('reference_ms = 50', 'reference_ms = 2000') }, /10 times reference_ms/],
    ['half a reference', { 'task.toml': toml('split = ', 'reference_target = "x"\nsplit = ') }, /together/],
    ['steps', { 'task.toml': 'steps = [{name = "a"}]\n' + toml('schema_version = "1.4"', '') }, /multi-step/],
    ['requirements without heading', { 'instruction.md': '1. Print\n' }, /instruction\.md: .*## Requirements/],
    ['requirements out of order', { 'instruction.md': '## Requirements\n\n1. a\n3. b\n' }, /instruction\.md:4: .*should be number 2/],
    ['a case without requirement', { 'tests/cases.jsonl': `${CASE}${CASE.replace('"requirement": 1', '"requirement": 9').replace('one', 'two')}` }, /cases\.jsonl:2: requirement 9/],
  ]
  for (const [what, changes, message] of rows) t.match(await refusal(t, changes), message, what)
})

await t.test('what has no effect here is a warning with its key', async t => {
  const { warnings } = await read(t, {
    'task.toml': toml('[environment]', '[agent]\ntimeout_sec = 5\ntimeout = 6\n\n[environment]\nallow_internet = true\n[[environment.mcp_servers]]\nname = "x"\n[environment.env]\nA = "1"\n[x]')
      .replace('[x]\nworkdir = "/app"\nmemory_mb = 64\n', ''),
    'environment/docker-compose.yaml': '',
    'instruction.md': '## Requirements\n\n1. a\n2. b\n',
  })
  const said = warnings.map(({ file, key, message }) => `${file} ${key} ${message}`).join('\n')
  for (const part of ['agent.timeout_sec', 'agent.timeout is not a key', 'environment.allow_internet asks for a network', 'environment.mcp_servers', 'docker-compose', 'requirement 2 has no case']) {
    t.match(said, part)
  }
})

await t.test('without a reference time there is a warning', async t => {
  t.match((await read(t, { 'task.toml': toml('reference_ms = 50\n', '') })).warnings, [{ key: 'metadata.assay.reference_ms' }])
})

await t.test('a symlink in a task directory is refused', async t => {
  const directory = await writeExample(t.testdir({}))
  await symlink('/etc/passwd', path.join(directory, 'tests/link'))
  await t.rejects(readNativeTask(directory), { code: 'TASK_INVALID', message: /tests\/link/ })
})

await t.test('the verifier\'s digest is that of what judges, not of what does not', async t => {
  const digest = async (changes: Record<string, string>) => (await read(t, changes)).task.verifier.digest
  const original = await digest({})
  t.equal(await digest({ 'README.md': 'more', 'instruction.md': `${FILES['instruction.md']}\n` }), original)
  t.not(await digest({ 'tests/cases.jsonl': CASE.replace('hidden-value', 'other') }), original)
  t.not(await digest({ 'task.toml': toml('main.py', 'other.py') }), original)
})

await t.test('mode bits of the repository do not change a digest', async t => {
  const directory = await writeExample(t.testdir({}))
  const { task } = await readNativeTask(directory)
  await chmod(path.join(directory, 'solution/wrong/a/main.py'), 0o755)
  t.equal((await readNativeTask(directory)).task.digest, task.digest)
})
