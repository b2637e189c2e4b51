// One case of a command line program: arguments, stdin and files in; exit code and streams out.
import { utf8 } from '../../base/bytes.ts'
import type { FileEntry } from '../../sandbox/files.ts'
import type { CliCase } from '../../tasks/cases.ts'
import { compareText } from './compare.ts'
import { describeEnding, readStream, type Probe } from './probe.ts'

/** command is shell text; the case's arguments are appended, quoted. */
export function probeCli ({ input, expect }: CliCase, command: string): Probe {
  return {
    script: [command, ...input.args.map(quote)].join(' '),
    stdin: input.stdin === undefined ? undefined : utf8(input.stdin),
    entries: fileEntries(input.files ?? {}),
    judge (ran) {
      const { ending } = ran
      if (ending.kind !== 'exited' || ending.exitCode !== expect.exitCode) return `${describeEnding(ran)} instead of ${expect.exitCode}`
      for (const stream of ['stdout', 'stderr'] as const) {
        const expectation = expect[stream]
        if (expectation === undefined) continue
        const read = readStream(ran[stream], stream)
        const why = 'why' in read ? read.why : compareText(expectation, read.text)
        if (why !== undefined) return `${stream} ${why}`
      }
      return undefined
    },
  }
}

/** One word of shell text that stands for exactly this argument. NUL has been refused when the task was read. */
export function quote (argument: string): string {
  return `'${argument.replaceAll('\'', '\'\\\'\'')}'`
}

function fileEntries (files: Record<string, string>): FileEntry[] {
  const parents = new Set(Object.keys(files).flatMap(file => {
    const parts = file.split('/').slice(0, -1)
    return parts.map((_part, index) => parts.slice(0, index + 1).join('/'))
  }))
  return [
    ...[...parents].sort().map((path): FileEntry => ({ type: 'directory', path, mode: 0o755 })),
    ...Object.entries(files).map(([path, text]): FileEntry => ({ type: 'file', path, mode: 0o644, content: utf8(text) })),
  ]
}
