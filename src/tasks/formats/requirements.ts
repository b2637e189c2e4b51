// Counts the numbered requirements of an instruction, to which every case is traced.
import { AssayError } from '../../errors.ts'

/** The numbers under "## Requirements" must run 1, 2, 3, … at the start of their lines. Throws TASK_INVALID. */
export function countRequirements (instruction: string, file: string): number {
  const lines = instruction.split('\n')
  const start = lines.findIndex(line => /^## Requirements\s*$/.test(line))
  if (start === -1) throw new AssayError('TASK_INVALID', { message: `${file}: write the requirements under a line "## Requirements".` })
  let count = 0
  for (let at = start + 1; at < lines.length; at++) {
    const line = lines[at] ?? ''
    if (/^## /.test(line)) break
    const number = /^(\d+)\. /.exec(line)?.[1]
    if (number === undefined) continue
    if (Number(number) !== count + 1) throw new AssayError('TASK_INVALID', { message: `${file}:${at + 1}: requirement ${number} should be number ${count + 1}.` })
    count++
  }
  if (count === 0) throw new AssayError('TASK_INVALID', { message: `${file}: number the requirements "1. ", "2. ", … under "## Requirements".` })
  return count
}
