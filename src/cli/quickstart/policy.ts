// The scripted policy of the quickstart: acts out a plan through steps alone, as an agent would. Knows no server internals.
import type { Episode } from '../../../clients/typescript/index.ts'
import type { Latency } from '../latency.ts'
import type { Plan } from './plan.ts'
import type { FileEntry } from '../../sandbox/files.ts'

export interface ActOptions {
  /** Where the latency of each step goes. */
  steps: Latency
  /** Shell commands that write files: the shell of the engine decides which. */
  write (entries: readonly FileEntry[]): string[]
  signal: AbortSignal
}

/** Leaves the episode ready to submit, or done when its budget ran out. */
export async function act (episode: Episode, plan: Plan, { steps, write, signal }: ActOptions): Promise<void> {
  const run = async (command: string): Promise<number | undefined> => {
    const observation = await steps.time(async () => await episode.step(command, { signal }))
    return observation.exitCode
  }
  for (const command of LOOK) await run(command)
  if (plan.kind === 'wander') {
    while (!episode.isDone) await run(WANDER)
    return
  }
  for (const command of write(plan.entries)) {
    const exitCode = await run(command)
    if (exitCode !== 0) throw new Error(`${episode.id}: writing "${plan.name}" ended with exit code ${exitCode ?? 'none'}`)
  }
  await run(CHECK)
}

/** The steps of each attempt: more than a plan needs, few enough for a wanderer to use up. */
export const STEP_BUDGET = 10

const LOOK = ['pwd; ls -la', 'cat README* 2>/dev/null | head -n 60'] as const
const WANDER = 'ls -R | head -n 40'
// New files alone: their sizes, and whether the Python ones parse.
const CHECK = `find . -type f -mmin -5 | sort | tee /tmp/new | xargs -r wc -lc
grep '\\.py$' /tmp/new | xargs -r python3 -B -c 'import ast, sys; [print(p, len(ast.parse(open(p).read()).body)) for p in sys.argv[1:]]'`
