// Pure: a tree of files as the shell commands that an agent would type to write it.
import { isUtf8 } from 'node:buffer'
import type { FileEntry } from '../../sandbox/files.ts'

/** Commands that write entries under the current directory, each at most about maxBytes long. */
export function writeCommands (entries: readonly FileEntry[], maxBytes = 128 * 1024): string[] {
  const commands: string[] = []
  let part: string[] = ['set -e']
  let bytes = 0
  for (const entry of entries) {
    const line = writeEntry(entry)
    if (bytes > 0 && bytes + line.length > maxBytes) {
      commands.push(part.join('\n'))
      part = ['set -e']
      bytes = 0
    }
    part.push(line)
    bytes += line.length
  }
  if (bytes > 0) commands.push(part.join('\n'))
  return commands
}

/** The same for the fake engine, whose interpreter knows quotes and redirections but no heredoc: text files alone. */
export function writePlainly (entries: readonly FileEntry[]): string[] {
  return entries.map(entry => {
    const path = quote(`./${entry.path}`)
    return entry.type === 'file'
      ? `echo -n ${quote(Buffer.from(entry.content).toString('utf8'))} > ${path}`
      : `mkdir -p ${path}`
  })
}

export function quote (text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}

function writeEntry (entry: FileEntry): string {
  const path = quote(`./${entry.path}`)
  switch (entry.type) {
    case 'directory': return `mkdir -p ${path}`
    case 'symlink': return `ln -sfn ${quote(entry.target)} ${path}`
    case 'absent': return `rm -rf ${path}`
    case 'file': return `${writeContent(path, entry.content)}\nchmod ${entry.mode.toString(8)} ${path}`
  }
}

// A heredoc keeps text as it is when it ends with a newline and holds no line like the delimiter; base64 carries the rest.
function writeContent (path: string, content: Uint8Array): string {
  const bytes = Buffer.from(content)
  const text = bytes.toString('utf8')
  const isPlain = isUtf8(bytes) && text.endsWith('\n') && !text.includes('\0') && !text.split('\n').includes(DELIMITER)
  if (isPlain) return `cat > ${path} <<'${DELIMITER}'\n${text}${DELIMITER}`
  const encoded = bytes.toString('base64').replace(/.{76}/g, '$&\n')
  return `base64 -d > ${path} <<'${DELIMITER}'\n${encoded}\n${DELIMITER}`
}

const DELIMITER = 'END_OF_FILE'
