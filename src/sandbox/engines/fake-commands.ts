// The commands that the fake engine knows. Each gets its words and writes to a console; the status is its result.
import path from 'node:path/posix'
import { utf8 } from '../../base/bytes.ts'
import type { FakeFiles } from './fake-files.ts'

export interface FakeShellState {
  cwd: string
  env: Record<string, string>
}

export interface FakeConsole {
  readonly files: FakeFiles
  readonly state: FakeShellState
  readonly stdin: Uint8Array
  out (bytes: Uint8Array): void
  err (text: string): void
  /** Resolves false when the command is ended meanwhile. */
  sleep (ms: number): Promise<boolean>
  /** The sandbox is lost from now on. */
  fail (kind: 'engine' | 'outside' | 'inside'): void
}

/** A status, or what ended the whole command. */
export type FakeStatus = number | { exit: number } | { signal: string }

export type FakeCommand = (words: readonly string[], console: FakeConsole) => FakeStatus | Promise<FakeStatus>

export function findFakeCommand (name: string): FakeCommand | undefined {
  return Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined
}

const COMMANDS: Record<string, FakeCommand> = {
  true: () => 0,
  '/bin/true': () => 0,
  ':': () => 0,
  false: () => 1,
  exit: ([code = '0']) => ({ exit: Number(code) & 255 }),
  die: ([signal = 'SIGKILL']) => ({ signal }),
  'fail-sandbox': ([kind = 'inside'], { fail }) => {
    fail(kind === 'engine' || kind === 'outside' ? kind : 'inside')
    return 1
  },
  echo: (words, { out }) => {
    const isBare = words[0] === '-n'
    out(utf8((isBare ? words.slice(1) : words).join(' ') + (isBare ? '' : '\n')))
    return 0
  },
  bytes: ([count = '0'], { out }) => {
    out(Buffer.alloc(Number(count), 'x'))
    return 0
  },
  pwd: (_words, { out, state }) => {
    out(utf8(`${state.cwd}\n`))
    return 0
  },
  cd: ([directory = '/'], { files, state, err }) => {
    const target = path.resolve(state.cwd, directory)
    if (!files.isDirectory(target)) {
      err(`cd: ${directory}: No such file or directory\n`)
      return 1
    }
    state.cwd = target
    return 0
  },
  export: (words, { state }) => {
    for (const word of words) {
      const [name = '', ...value] = word.split('=')
      if (value.length > 0) state.env[name] = value.join('=')
    }
    return 0
  },
  env: (_words, { out, state }) => {
    out(utf8(Object.entries(state.env).map(([name, value]) => `${name}=${value}\n`).join('')))
    return 0
  },
  sleep: async ([ms = '0'], { sleep }) => await sleep(Number(ms)) ? 0 : 1,
  write: ([file = '', ...words], { files, state, err }) => {
    if (files.write(path.resolve(state.cwd, file), utf8(words.join(' ')))) return 0
    err(`write: ${file}: cannot be written\n`)
    return 1
  },
  cat: (words, { files, state, stdin, out, err }) => {
    if (words.length === 0) out(stdin)
    let status = 0
    for (const file of words) {
      const content = files.read(path.resolve(state.cwd, file))
      if (content !== undefined) out(content)
      else {
        err(`cat: ${file}: No such file or directory\n`)
        status = 1
      }
    }
    return status
  },
  ls: ([directory = '.'], { files, state, out }) => {
    out(utf8(files.list(path.resolve(state.cwd, directory)).map(name => `${name}\n`).join('')))
    return 0
  },
  mkdir: (words, { files, state }) => {
    for (const directory of words.filter(word => !word.startsWith('-'))) files.makeDirectory(path.resolve(state.cwd, directory))
    return 0
  },
  rm: (words, { files, state, err }) => {
    const missing = words.filter(word => !word.startsWith('-')).filter(file => !files.remove(path.resolve(state.cwd, file)))
    if (missing.length === 0 || words.some(word => /^-\w*f/.test(word))) return 0
    err(`rm: ${missing.join(' ')}: No such file or directory\n`)
    return 1
  },
  symlink: ([target = '', link = ''], { files, state }) => {
    files.place(path.resolve(state.cwd, link), { type: 'symlink', target })
    return 0
  },
  mkfifo: ([file = ''], { files, state }) => {
    files.place(path.resolve(state.cwd, file), { type: 'other', what: 'FIFO' })
    return 0
  },
}
