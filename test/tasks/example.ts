// A small valid task of our own format, written where a test wants it; changes are laid over its files.
import { mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'

export const TOML = `schema_version = "1.4"

[task]
name = "assay/example"

[metadata.assay]
title = "An example"
kind = "driver"
interface = "cli"
language = "python"
domain = "examples"
split = "train"
command = "python3 /app/main.py"
reference_ms = 50

[environment]
workdir = "/app"
memory_mb = 64
`

export const CASE = '{"id": "one", "requirement": 1, "input": {"args": ["1"]}, "expect": {"stdout": {"kind": "equals", "value": "hidden-value"}}}\n'

export const FILES: Readonly<Record<string, string>> = {
  'task.toml': TOML,
  'instruction.md': '# Example\n\n## Requirements\n\n1. Print it.\n',
  'environment/Dockerfile': 'FROM scratch\n',
  'tests/cases.jsonl': CASE,
  'solution/reference/main.py': 'print("hidden-solution")\n',
  'solution/wrong/a/main.py': 'print(0)\n',
  'solution/alternatives/b/deep/er/main.py': 'print(1)\n',
}

/** undefined leaves a file out. */
type Changes = Record<string, string | undefined>

export async function writeExample (directory: string, changes: Changes = {}): Promise<string> {
  for (const [file, content] of Object.entries({ ...FILES, ...changes })) {
    if (content === undefined) continue
    await mkdir(path.dirname(path.join(directory, file)), { recursive: true })
    await writeFile(path.join(directory, file), content)
  }
  return directory
}

/** TOML with one line replaced or added. */
export function toml (from: string, to: string): string {
  if (!TOML.includes(from)) throw new Error(`the example has no ${from}`)
  return TOML.replace(from, to)
}
