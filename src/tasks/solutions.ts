// Author-only: the solutions of a task, for validate, the quickstart and tests. Nothing here may reach an agent or the wire.
import { readFile, readdir, stat } from 'node:fs/promises'
import path from 'node:path'
import type { FileEntry } from '../sandbox/files.ts'
import { listFiles } from './formats/digest.ts'
import type { Task } from './task.ts'

/** A tree to be laid over the workspace, parents before children. */
export interface Solution {
  readonly name: string
  readonly entries: readonly FileEntry[]
}

/** overlay: files of the repository. image: only the author's image holds it (the task is adapted from a package). */
export type Reference =
  | { kind: 'overlay', entries: readonly FileEntry[] }
  | { kind: 'image', target: string, path: string }

export interface Solutions {
  readonly reference: Reference | undefined
  readonly wrong: readonly Solution[]
  readonly alternatives: readonly Solution[]
}

export async function listSolutions (task: Task): Promise<Solutions> {
  const directory = path.join(task.directory, 'solution')
  const own = await readTree(path.join(directory, 'reference'))
  return {
    reference: task.reference === undefined
      ? (own.length === 0 ? undefined : { kind: 'overlay', entries: own })
      : { kind: 'image', ...task.reference },
    wrong: await readNamed(path.join(directory, 'wrong')),
    alternatives: await readNamed(path.join(directory, 'alternatives')),
  }
}

async function readNamed (directory: string): Promise<Solution[]> {
  const names = await namesIn(directory)
  return await Promise.all(names.map(async name => ({ name, entries: await readTree(path.join(directory, name)) })))
}

async function readTree (directory: string): Promise<FileEntry[]> {
  if ((await namesIn(directory)).length === 0) return []
  const files = await listFiles(directory)
  const parents = new Set(files.flatMap(file => ancestors(file)))
  const directories = [...parents].sort().map((parent): FileEntry => ({ type: 'directory', path: parent, mode: 0o755 }))
  return [...directories, ...await Promise.all(files.map(file => readEntry(directory, file)))]
}

async function readEntry (directory: string, file: string): Promise<FileEntry> {
  const full = path.join(directory, file)
  const executable = ((await stat(full)).mode & 0o100) !== 0
  return { type: 'file', path: file, mode: executable ? 0o755 : 0o644, content: await readFile(full) }
}

function ancestors (file: string): string[] {
  const parts = file.split('/').slice(0, -1)
  return parts.map((_part, index) => parts.slice(0, index + 1).join('/'))
}

async function namesIn (directory: string): Promise<string[]> {
  try {
    return (await readdir(directory)).sort()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [] // a task need not have every kind of solution
    throw error
  }
}
