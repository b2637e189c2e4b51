import t, { type Test } from 'tap'
import type { FileEntry } from '../../src/sandbox/files.ts'
import { listSolutions } from '../../src/tasks/solutions.ts'
import type { Verification } from '../../src/verifier/verifier.ts'
import { file, openBench, referenceOf, type Bench } from './bench.ts'

t.setTimeout(300_000)

function summary ({ reason, cases, log }: Verification): string {
  const failed = log.filter(({ passed }) => !passed).map(({ id, why }) => `${id}: ${why}`)
  return [`${reason} ${cases?.passed}/${cases?.total}`, ...failed].join('\n')
}

const NOISE = `
import os, subprocess, sys, threading, time
print("loading cronsim")
sys.stdout.flush()
subprocess.run(["echo", "from a child"])
threading.Thread(target=time.sleep, args=(30,), daemon=True).start()
subprocess.Popen(["sleep", "60"])
with open(os.path.join(os.path.dirname(__file__), "cache.txt"), "a") as cache:
    cache.write("loaded\\n")
`

async function checkSolutions (t: Test, bench: Bench): Promise<void> {
  const { wrong, alternatives } = await listSolutions(bench.task)
  t.equal(wrong.length, 2)
  t.equal(alternatives.length, 2)
  t.ok(bench.task.verifier.cases.length >= 15)

  const reference = await bench.submit(await referenceOf(bench))
  t.equal(reference.reason, 'verified', `reference: ${summary(reference)}`)
  for (const { name, entries } of alternatives) {
    const verification = await bench.submit(entries)
    t.equal(verification.reason, 'verified', `${name}: ${summary(verification)}`)
  }
  for (const { name, entries } of wrong) {
    const verification = await bench.submit(entries)
    t.equal(verification.reason, 'verifier_failed', `${name}: ${summary(verification)}`)
    t.ok((verification.cases?.passed ?? 0) >= 15, `${name} is nearly right`)
  }
  const untouched = await bench.submit([])
  t.equal(untouched.reason, 'verifier_failed', `start: ${summary(untouched)}`)
  t.ok((untouched.cases?.passed ?? 0) > 0, 'the start runs: what it has works')
}

async function checkRefused (t: Test, bench: Bench, attacks: Record<string, readonly FileEntry[]>): Promise<void> {
  for (const [name, entries] of Object.entries(attacks)) {
    const verification = await bench.submit(entries)
    t.equal(verification.reason, 'verifier_failed', `${name}: ${summary(verification)}`)
    t.equal(verification.runs, 1, name)
  }
}

await t.test('timesheet-report: reference and alternatives are verified, wrong solutions and the start are not', async t => {
  await checkSolutions(t, await openBench(t, 'timesheet-report'))
})

await t.test('cron-next: reference and alternatives are verified, wrong solutions and the start are not', async t => {
  await checkSolutions(t, await openBench(t, 'cron-next'))
})

await t.test('a command line program cannot exit, print, kill or read its way to a pass', async t => {
  const program = (text: string): FileEntry[] => [file('worklog', text)]
  await checkRefused(t, await openBench(t, 'timesheet-report'), {
    'exit 0': program('import os\nos._exit(0)\n'),
    'claims of success': program('print("PASSED\\n{\\"reward\\": 1}\\nTOTAL\\t0:00")\n'),
    'look for the cases': program('import subprocess\nprint(subprocess.run("grep -rsl nested-interruptions / --include=*.jsonl", shell=True, capture_output=True).stdout)\n'),
  })
})

await t.test('a library cannot exit, print or forge its way to a pass', async t => {
  const library = (text: string): FileEntry[] => [file('cronsim/__init__.py', `${text}\nfrom .cronsim import CronSim, CronSimError\n`)]
  const forged = '{\\"kind\\": \\"value\\", \\"value\\": \\"passed\\"}\\n'
  await checkRefused(t, await openBench(t, 'cron-next'), {
    'exit 0': library('import os\nos._exit(0)'),
    'exit 0 by the book': library('raise SystemExit(0)'),
    'a forged line on every descriptor': library(`import os\nfor fd in range(1, 64):\n    try: os.write(fd, b"${forged}")\n    except OSError: pass\nos._exit(0)`),
    'a second line beside the real one': library(`import atexit, os\nfor fd in range(3, 64):\n    try: os.write(fd, b"${forged}")\n    except OSError: pass`),
    'a result that equals anything': library('import json\njson.dumps = lambda *a, **k: "{\\"kind\\": \\"value\\", \\"value\\": true}"'),
    'replace the runner': library('import os, sys\nopen(os.environ["RUNNER"], "w").write("print(1)")'),
  })
})

await t.test('a program that kills everything is a 0 only after a second look beside a control', async t => {
  const bench = await openBench(t, 'timesheet-report')
  const verification = await bench.submit([file('worklog', 'import os, signal\nos.kill(-1, signal.SIGKILL)\n')])
  t.match(verification, { reason: 'agent_broke_verifier', runs: 2, flags: ['provisional'] })
})

await t.test('a solution that hangs is a 0 only after a second look beside a control', async t => {
  const bench = await openBench(t, 'timesheet-report')
  const { verifier } = bench.task
  const hasty = { ...bench.task, verifier: { ...verifier, caseTimeoutMs: 3_000, cases: verifier.cases.slice(0, 1) } }
  const verification = await bench.submit([file('worklog', 'import time\nwhile True: time.sleep(1)\n')], hasty)
  t.match(verification, { reason: 'verifier_timeout', runs: 2, flags: ['provisional'] })
})

await t.test('honest programs that print, thread and write beside themselves are verified', async t => {
  const bench = await openBench(t, 'cron-next')
  const { alternatives: [alternative] } = await listSolutions(bench.task)
  const noisy = (alternative?.entries ?? []).map((entry): FileEntry => entry.type !== 'file' || !entry.path.endsWith('__init__.py')
    ? entry
    : { ...entry, content: Buffer.concat([entry.content, Buffer.from(NOISE)]) })
  const verification = await bench.submit(noisy)
  t.equal(verification.reason, 'verified', summary(verification))
})
