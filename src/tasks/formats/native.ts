// Reads Assay's own format: a Harbor task directory with [metadata.assay]. Judges the files, runs nothing.
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { parse as parseToml, type TomlTable } from 'smol-toml'
import { z } from 'zod'
import { AssayError } from '../../errors.ts'
import type { ImageSource } from '../../sandbox/engine.ts'
import type { DriverSpec, Task } from '../task.ts'
import { parseCases } from './cases-file.ts'
import { digestFiles, listFiles } from './digest.ts'
import { findWarnings, type FormatWarning } from './known-keys.ts'
import { countRequirements } from './requirements.ts'
import { TaskToml } from './schema.ts'

export interface ReadTask {
  task: Task
  warnings: FormatWarning[]
}

/** Throws TASK_INVALID with the file, the line or key, and what to change. */
export async function readNativeTask (directory: string): Promise<ReadTask> {
  const files = await listFiles(directory)
  const raw = await readToml(directory)
  const toml = parseSchema(raw, path.join(directory, 'task.toml'))
  const facts = toml.metadata.assay
  const instruction = await readText(directory, 'instruction.md')
  const requirements = countRequirements(instruction, path.join(directory, 'instruction.md'))
  const { environment } = toml
  const task: Task = {
    id: facts.id ?? path.basename(directory),
    title: facts.title,
    split: facts.split,
    digest: await digestFiles(directory, files),
    domain: facts.domain,
    language: facts.language,
    interface: facts.interface,
    instruction,
    requirements,
    workdir: environment.workdir,
    user: facts.user ?? (toml.agent.user === undefined ? undefined : String(toml.agent.user)),
    env: environment.env,
    limits: {
      memoryBytes: environment.memory_mb * MEBIBYTE,
      pids: facts.pids,
      cpus: environment.cpus,
      diskBytes: environment.storage_mb * MEBIBYTE,
    },
    stepTimeoutMs: milliseconds(facts.step_timeout_sec),
    image: imageSource(directory, { toml, files }),
    verifier: await readDriver(directory, { toml, files, requirements }),
    reference: facts.reference_target === undefined || facts.reference_path === undefined
      ? undefined
      : { target: facts.reference_target, path: facts.reference_path },
    directory,
  }
  return { task, warnings: [...findWarnings(raw), ...warnAboutTask(task, files)] }
}

async function readToml (directory: string): Promise<TomlTable> {
  const file = path.join(directory, 'task.toml')
  const text = await readText(directory, 'task.toml')
  try {
    return parseToml(text)
  } catch (cause) {
    throw new AssayError('TASK_INVALID', { message: `${file}: ${cause instanceof Error ? cause.message : String(cause)}`, cause })
  }
}

function parseSchema (raw: TomlTable, file: string): TaskToml {
  if (raw['steps'] !== undefined) throw new AssayError('TASK_INVALID', { message: `${file}: steps: multi-step tasks are not supported; make each step a task of its own.` })
  const parsed = TaskToml.safeParse(raw)
  if (!parsed.success) throw new AssayError('TASK_INVALID', { message: `${file}:\n${z.prettifyError(parsed.error)}` })
  return parsed.data
}

interface Sources {
  toml: TaskToml
  /** Every file of the task directory. */
  files: readonly string[]
  requirements: number
}

function imageSource (directory: string, { toml, files }: Omit<Sources, 'requirements'>): ImageSource {
  if (toml.environment.docker_image !== undefined) return { kind: 'name', name: toml.environment.docker_image }
  if (files.includes('environment/Dockerfile')) return { kind: 'build', directory: path.join(directory, 'environment') }
  const composed = files.some(isCompose) ? ' docker-compose is not supported.' : ''
  throw new AssayError('TASK_INVALID', { message: `${directory}: write environment/Dockerfile or set environment.docker_image.${composed}` })
}

async function readDriver (directory: string, { toml, files, requirements }: Sources): Promise<DriverSpec> {
  const facts = toml.metadata.assay
  const file = path.join(directory, 'tests/cases.jsonl')
  const cases = parseCases(await readText(directory, 'tests/cases.jsonl'), { file, kind: facts.interface, requirements })
  const hidden = files.filter(name => name.startsWith('tests/'))
  const spec: Omit<DriverSpec, 'cases' | 'runner' | 'digest'> = {
    kind: facts.kind,
    mode: facts.mode,
    build: facts.build === undefined
      ? undefined
      : { command: facts.build, timeoutMs: milliseconds(facts.build_timeout_sec) },
    protected: facts.protected,
    command: facts.command,
    caseTimeoutMs: milliseconds(facts.case_timeout_sec),
    referenceMs: facts.reference_ms,
    timeoutMs: milliseconds(toml.verifier.timeout_sec),
  }
  return {
    ...spec,
    cases,
    runner: await readRunner(directory, { kind: facts.interface, hidden }),
    digest: createHash('sha256').update(JSON.stringify(spec)).update(await digestFiles(directory, hidden)).digest('hex'),
  }
}

interface Hidden {
  kind: Task['interface']
  /** Files under tests/. */
  hidden: readonly string[]
}

async function readRunner (directory: string, { kind, hidden }: Hidden): Promise<DriverSpec['runner']> {
  if (kind === 'cli') return undefined
  const [runner, ...others] = hidden.filter(name => /^tests\/runner\.[A-Za-z0-9]+$/.test(name))
  if (runner === undefined || others.length > 0) {
    throw new AssayError('TASK_INVALID', { message: `${directory}: a ${kind} task has exactly one tests/runner.<ext>.` })
  }
  return { name: path.posix.basename(runner), content: await readFile(path.join(directory, runner)) }
}

function warnAboutTask (task: Task, files: readonly string[]): FormatWarning[] {
  const warnings = files.filter(isCompose).map(file => ({ file, key: '', message: 'docker-compose is not supported and has no effect.' }))
  const tested = new Set(task.verifier.cases.map(({ requirement }) => requirement))
  for (let number = 1; number <= task.requirements; number++) {
    if (!tested.has(number)) warnings.push({ file: 'tests/cases.jsonl', key: '', message: `requirement ${number} has no case.` })
  }
  if (task.verifier.referenceMs === undefined) {
    warnings.push({ file: 'task.toml', key: 'metadata.assay.reference_ms', message: 'is missing, so a submission that is too slow gets no reward instead of 0.' })
  }
  return warnings
}

async function readText (directory: string, file: string): Promise<string> {
  try {
    return await readFile(path.join(directory, file), 'utf8')
  } catch (cause) {
    throw new AssayError('TASK_INVALID', { message: `${path.join(directory, file)} cannot be read; every task has one.`, cause })
  }
}

function isCompose (file: string): boolean {
  return /^environment\/docker-compose\.ya?ml$/.test(file)
}

function milliseconds (seconds: number): number {
  return Math.round(seconds * 1000)
}

const MEBIBYTE = 1024 * 1024
