// assay bench NAME: runs benchmarks/NAME.ts of the clone. Knows no benchmark.
import { existsSync } from 'node:fs'
import type { CommandContext } from '../main.ts'

/** What a file of benchmarks/ exports. */
export interface Benchmark {
  /** The exit code. Throws Error with a sentence for bad arguments. */
  run (args: readonly string[], context: CommandContext): Promise<number>
}

export async function bench (name: string, args: readonly string[], context: CommandContext): Promise<number> {
  const file = new URL(`../../../benchmarks/${name}.ts`, import.meta.url)
  if (!NAMES.has(name) || !existsSync(file)) {
    context.output.line(`There is no benchmark "${name}"; there are: ${[...NAMES].join(', ')} (in a clone, not in the package).`)
    return 2
  }
  const benchmark = await import(file.href) as Benchmark
  return await benchmark.run(args, context)
}

const NAMES: ReadonlySet<string> = new Set(['step', 'soak'])
