// The command line: names, options and exit codes; each command is a file under commands/, loaded when it is asked for.
import { Command, CommanderError, InvalidArgumentError, Option } from 'commander'
import { isAssayError } from '../errors.ts'
import { Interrupted, listenForInterrupts, type Interrupts } from './interrupt.ts'
import { createOutput, type Output } from './output.ts'

/** What every command is given. */
export interface CommandContext {
  interrupts: Interrupts
  output: Output
}

/** Runs one command line (without "node" and the script) and ends the process with its exit code. */
export async function main (argv: readonly string[]): Promise<never> {
  process.exit(await run(argv))
}

/** The exit code: 0 done, 1 failed and said why, 2 not a command line, 130 or 143 interrupted. */
export async function run (argv: readonly string[]): Promise<number> {
  using interrupts = listenForInterrupts()
  const context: CommandContext = { interrupts, output: createOutput({ stream: process.stdout }) }
  let exitCode = 0
  const program = createProgram(context, code => { exitCode = code })
  try {
    await program.parseAsync([...argv], { from: 'user' })
    return exitCode
  } catch (error) {
    return explain(error, interrupts)
  }
}

function createProgram (context: CommandContext, done: (exitCode: number) => void): Command {
  const program = new Command('assay')
    .description('Environment server for reinforcement learning of coding agents')
    .exitOverride()
    .enablePositionalOptions()
  addServerCommands(program, context, done)
  addAuthorCommands(program, context, done)
  return program
}

function addServerCommands (program: Command, context: CommandContext, done: (exitCode: number) => void): void {
  program.command('serve').description('Start the server; settings also come from ASSAY_* variables (schemas/config.json)')
    .addOption(engineOption())
    .option('--host <address>', 'address to listen on')
    .option('--port <port>', 'TCP port; 0 takes a free one')
    .option('--tasks-dir <directory>', 'directory of task directories')
    .option('--keys-file <file>', 'JSON array of keys; without it everyone on loopback is admin')
    .option('--data-dir <directory>', 'journal, caches and built programs')
    .action(async options => done(await (await import('./commands/serve.ts')).serve(options, context)))
  program.command('doctor').description('Say what this machine lacks and how to get it')
    .action(async () => done(await (await import('./commands/doctor.ts')).doctor(context)))
  program.command('quickstart').description('Set the machine up, serve, and drive a group of rollouts per task as a trainer would')
    .addOption(engineOption())
    .option('--members <n>', 'members of each group', parseCount, 32)
    .option('--data-dir <directory>', 'journal, caches and built programs')
    .action(async options => done(await (await import('./commands/quickstart.ts')).quickstart(options, context)))
}

function addAuthorCommands (program: Command, context: CommandContext, done: (exitCode: number) => void): void {
  const tasks = program.command('tasks').description('The tasks of a directory, as an agent may see them')
  tasks.command('list').option('--tasks-dir <directory>', 'directory of task directories')
    .action(async options => done(await (await import('./commands/tasks.ts')).listTasks(options, context)))
  tasks.command('show').argument('<task>').option('--tasks-dir <directory>', 'directory of task directories')
    .action(async (task, options) => done(await (await import('./commands/tasks.ts')).showTask(task, options, context)))
  program.command('test').description('Set the machine up and run the tests; arguments go to tap, directories to their tests')
    .argument('[arguments...]').allowUnknownOption().passThroughOptions()
    .action(async args => done(await (await import('./commands/test.ts')).test(args, context)))
  program.command('schemas').description('Write schemas/ from the code')
    .option('--check', 'write nothing; fail when a file differs from the code', false)
    .action(async options => done(await (await import('./schemas.ts')).runSchemas(options)))
  program.command('bench').description('Measure: step, soak (benchmarks/README.md)')
    .argument('<name>').argument('[arguments...]').allowUnknownOption().passThroughOptions()
    .action(async (name, args) => done(await (await import('./commands/bench.ts')).bench(name, args, context)))
}

function engineOption (): Option {
  return new Option('--engine <name>', 'what makes sandboxes').choices(['docker', 'fake'])
}

function parseCount (text: string): number {
  const count = Number(text)
  if (Number.isInteger(count) && count >= 1 && count <= 4096) return count
  throw new InvalidArgumentError('give a whole number from 1 to 4096')
}

function explain (error: unknown, { signal }: Interrupts): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2
  if (signal.aborted && signal.reason instanceof Interrupted) {
    console.error(signal.reason.message)
    return signal.reason.exitCode
  }
  if (isArgumentError(error)) {
    console.error(`error: ${error.message}`)
    return 2
  }
  // an AssayError says what to change; anything else is a bug, whose stack is needed
  console.error(isAssayError(error) ? `${error.code}: ${error.message}` : error)
  return 1
}

/** Of parseArgs, which reads the arguments of benchmarks. */
function isArgumentError (error: unknown): error is Error {
  return error instanceof Error && 'code' in error && String(error.code).startsWith('ERR_PARSE_ARGS')
}
