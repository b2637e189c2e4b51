// The content of a task directory, file by file, and the digest that names it.
import { createHash } from 'node:crypto'
import { readFile, readdir } from 'node:fs/promises'
import path from 'node:path'
import { AssayError } from '../../errors.ts'

/** Slash-separated paths relative to directory, sorted by their bytes. Throws TASK_INVALID for anything but files and directories. */
export async function listFiles (directory: string): Promise<string[]> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true })
  const files: string[] = []
  for (const entry of entries) {
    const relative = path.relative(directory, path.join(entry.parentPath, entry.name)).split(path.sep).join('/')
    if (entry.isFile()) files.push(relative)
    else if (!entry.isDirectory()) {
      throw new AssayError('TASK_INVALID', { message: `${path.join(directory, relative)} is neither a file nor a directory; replace it by one.` })
    }
    if (files.length > MAX_FILES) throw new AssayError('TASK_INVALID', { message: `${directory} has more than ${MAX_FILES} files; fetch large content in the image build.` })
  }
  return files.sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
}

/** sha256 over "<path>\0<sha256 of the content>\n" of the files, in the given order; hex. */
export async function digestFiles (directory: string, files: readonly string[]): Promise<string> {
  const whole = createHash('sha256')
  for (const file of files) {
    const content = await readFile(path.join(directory, file))
    whole.update(`${file}\0${createHash('sha256').update(content).digest('hex')}\n`)
  }
  return whole.digest('hex')
}

const MAX_FILES = 10_000
