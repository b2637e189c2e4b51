// Which task digests passed the admission gate: tasks/admissions.json. Knows nothing of how a task passes.
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { z } from 'zod'
import { AssayError } from '../errors.ts'

export const Admission = z.strictObject({
  task: z.string().describe('Id, for people; the digest decides'),
  digest: z.string().regex(/^[0-9a-f]{64}$/).describe('sha256 over every file of the task'),
  admittedAt: z.iso.datetime(),
})
export type Admission = z.infer<typeof Admission>

const Admissions = z.array(Admission)

/** Reads admissions.json under directory; a directory without one admits nothing. Throws TASK_INVALID. */
export async function loadAdmissions (directory: string): Promise<Admission[]> {
  const file = path.join(directory, 'admissions.json')
  let text: string
  try {
    text = await readFile(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
  const parsed = Admissions.safeParse(parseJson(text, file))
  if (!parsed.success) throw new AssayError('TASK_INVALID', { message: `${file}:\n${z.prettifyError(parsed.error)}` })
  return parsed.data
}

export function isAdmittedDigest (admissions: readonly Admission[], digest: string): boolean {
  return admissions.some(admission => admission.digest === digest)
}

function parseJson (text: string, file: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new AssayError('TASK_INVALID', { message: `${file} is not JSON; make it an array of admissions.`, cause })
  }
}
