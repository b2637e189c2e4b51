// Lays a submission's delta over the pristine workspace.
import type { Sandbox, WaitOptions } from '../sandbox/engine.ts'
import type { FileEntry } from '../sandbox/files.ts'
import { protect } from './protect.ts'
import type { Submission } from './verifier.ts'

/** Deletions first, children before parents; protected paths stay as the image has them. */
export async function applyDelta (sandbox: Sandbox, submission: Submission, options: WaitOptions): Promise<void> {
  const { task, spec, delta } = submission
  const { delta: kept } = protect(delta, task.verifier.protected)
  const absent = kept.deleted.map((path): FileEntry => ({ type: 'absent', path }))
  const entries = [...absent, ...kept.entries]
  if (entries.length > 0) await sandbox.put(spec.workdir, entries, options)
}
