// What every Sandbox must do, whatever engine made it: commands end alone and truly, bytes are exact, files keep to the rules.
import { createHash } from 'node:crypto'
import { setTimeout as after } from 'node:timers/promises'
import type { Test } from 'tap'
import type { Command, Ran } from '../../src/sandbox/command.ts'
import type { Sandbox } from '../../src/sandbox/engine.ts'

type Create = () => Promise<Sandbox>

/** Makes a handful of sandboxes; each needs a POSIX userland with bash, setsid, mkfifo and a writable /tmp. */
export async function sandboxContract (t: Test, create: Create): Promise<void> {
  await t.test('commands', t => commands(t, create))
  await t.test('what one command leaves to the next', t => carriedState(t, create))
  await t.test('output', t => output(t, create))
  await t.test('time limits and cancellation', t => timeLimits(t, create))
  await t.test('hostile commands', t => hostile(t, create))
  await t.test('files', t => files(t, create))
}

async function commands (t: Test, create: Create): Promise<void> {
  await using sandbox = await create()
  const endings: Array<[what: string, script: string, exitCode: number]> = [
    ['exit with a code', 'exit 3', 3],
    ['exec something that fails', 'exec false', 1],
    ['set -e and fail', 'set -e; false; echo not reached', 1],
    ['leave a quote open', "echo 'a", 2],
    ['leave a command open', 'if true', 2],
    ['leave a backtick open', 'echo `', 2],
    ['exit from within a function', 'f() { exit 6; }; f', 6],
    ['name no program', 'no-such-program-at-all', 127],
    ['are a comment', '# nothing', 0],
    ['are empty', '', 0],
    ['are blank', ' \n\t ', 0],
    ['end with the code of the last', 'true; ( exit 4 )', 4],
    ['end with a child killed by a signal', 'sh -c \'kill -9 $$\'', 137],
  ]
  for (const [what, script, exitCode] of endings) {
    await t.test(`commands that ${what} end with ${exitCode}`, async t => {
      const ran = await run(sandbox, script)
      t.same(ran.ending, { kind: 'exited', exitCode })
      t.equal(text(await run(sandbox, 'echo next')), 'next\n', 'and the next one runs')
    })
  }
  await t.test('a shell that is killed by a signal says which', async t => {
    t.same((await run(sandbox, 'kill -KILL $$')).ending, { kind: 'signalled', signal: 'SIGKILL' })
  })
  await t.test('an open heredoc ends with the command', async t => {
    t.equal(text(await run(sandbox, 'cat <<EOF\nx')), 'x\n')
  })
  await t.test('a heredoc of many lines arrives whole', async t => {
    const lines = Array.from({ length: 400 }, (_, i) => `line ${i} $not "expanded" \\n`).join('\n')
    t.equal(text(await run(sandbox, `cat <<'EOF'\n${lines}\nEOF`)), `${lines}\n`)
  })
  await t.test('a command of 300 KB runs', async t => {
    t.equal(text(await run(sandbox, `x='${'y'.repeat(300_000)}'; echo \${#x}`)), '300000\n')
  })
  await t.test('a command starts with a sane $0, $@ and $?', async t => {
    t.match(text(await run(sandbox, 'echo "$? $# $0"')), /^0 0 (ba)?sh\n$/)
  })
  await t.test('standard input is empty unless given', async t => {
    const ran = await run(sandbox, 'cat; echo end')
    t.equal(text(ran), 'end\n')
    t.equal(text(await run(sandbox, 'cat', { stdin: Buffer.from('a\0b\r\n') })), 'a\0b\r\n')
  })
  await t.test('exclamation marks and leading dashes are plain text', async t => {
    t.equal(text(await run(sandbox, 'echo "a!b"; echo -x')), 'a!b\n-x\n')
  })
  await t.test('no descriptor of ours is open in a command\'s children', async t => {
    t.equal(text(await run(sandbox, 'for fd in 3 4 5 6 7 8 9 10 247; do sh -c "true <&$fd" 2>/dev/null && echo $fd; done')), '')
  })
}

async function carriedState (t: Test, create: Create): Promise<void> {
  await using sandbox = await create()
  await run(sandbox, 'mkdir -p "/tmp/a b"; cd "/tmp/a b"; export WORD="it\'s\n two"; local_only=1; greet() { echo "hello $WORD"; }')
  await t.test('directory, exported variables and functions carry over, others do not', async t => {
    const ran = await run(sandbox, 'pwd; greet; echo "[$local_only]"')
    t.equal(text(ran), '/tmp/a b\nhello it\'s\n two\n[]\n')
    t.equal(ran.cwd, '/tmp/a b')
  })
  await t.test('a variable that is unset stays unset', async t => {
    await run(sandbox, 'export GONE=1')
    await run(sandbox, 'unset GONE')
    t.equal(text(await run(sandbox, 'echo "[$GONE]"')), '[]\n')
  })
  await t.test('state carries over from commands that exit, also within a function or under set -e', async t => {
    await run(sandbox, 'export A=1; exit 3')
    await run(sandbox, 'export B=2; f() { exit 4; }; f')
    await run(sandbox, 'set -eu; export C=3; false')
    t.equal(text(await run(sandbox, 'echo $A$B$C; false; echo on')), '123\non\n')
  })
  await t.test('a command that leaves no state keeps the old', async t => {
    await run(sandbox, 'cd /; exec true')
    t.equal(text(await run(sandbox, 'pwd')), '/tmp/a b\n')
  })
  await t.test('the command\'s own exit trap runs', async t => {
    t.equal(text(await run(sandbox, 'trap "echo bye" EXIT; export T=1; echo hi')), 'hi\nbye\n')
    t.equal(text(await run(sandbox, 'echo $T')), '1\n')
  })
  await t.test('cwd and env are for one command', async t => {
    t.equal(text(await run(sandbox, 'pwd; echo "$WORD"', { cwd: '/usr', env: { WORD: 'a $b \'c\'' } })), '/usr\na $b \'c\'\n')
    t.equal(text(await run(sandbox, 'pwd; echo "$WORD"')), '/tmp/a b\nit\'s\n two\n')
  })
  await t.test('an isolated command starts fresh and leaves nothing', async t => {
    t.equal(text(await run(sandbox, 'echo "[$WORD]"; export WORD=2; cd /usr', { isolated: true })), '[]\n')
    t.equal(text(await run(sandbox, 'pwd; echo "$WORD"')), '/tmp/a b\nit\'s\n two\n')
  })
  await t.test('a directory that is gone is replaced and the agent told', async t => {
    await run(sandbox, 'mkdir /tmp/gone && cd /tmp/gone && rmdir /tmp/gone')
    const ran = await run(sandbox, 'echo ok')
    t.equal(text(ran), 'ok\n')
    t.equal(ran.warnings.length, 1)
    t.not(ran.cwd, '/tmp/gone')
  })
  await t.test('a directory that cannot be entered is not run in', async t => {
    const ran = await run(sandbox, 'echo no', { cwd: '/no/such/place' })
    t.not(ran.ending.kind === 'exited' && ran.ending.exitCode === 0, true)
    t.equal(text(ran), '')
  })
}

async function output (t: Test, create: Create): Promise<void> {
  await using sandbox = await create()
  await t.test('bytes are exact: NUL, invalid UTF-8, carriage returns, blank lines', async t => {
    const ran = await run(sandbox, "printf 'a\\0b\\377\\303\\r\\n\\n\\nc'")
    t.same(Buffer.from(ran.stdout.bytes), Buffer.from([97, 0, 98, 255, 0xc3, 13, 10, 10, 10, 99]))
  })
  await t.test('streams are apart, or one in order of writing', async t => {
    const script = 'echo 1; echo 2 >&2; echo 3'
    const apart = await run(sandbox, script)
    t.same([text(apart), Buffer.from(apart.stderr.bytes).toString()], ['1\n3\n', '2\n'])
    const merged = await run(sandbox, script, { merge: true })
    t.same([text(merged), merged.stderr.bytes.length], ['1\n2\n3\n', 0])
  })
  await t.test('past the cap, head and tail are kept and the rest counted', async t => {
    const ran = await run(sandbox, 'echo first; head -c 20000000 /dev/zero; echo last', { outputBytes: 1000 })
    const bytes = Buffer.from(ran.stdout.bytes)
    t.equal(bytes.length, 1000)
    t.equal(ran.stdout.headBytes, 500)
    t.equal(ran.stdout.droppedBytes, 20_000_000 + 11 - 1000)
    t.same([bytes.subarray(0, 6).toString(), bytes.subarray(-5).toString()], ['first\n', 'last\n'])
  })
  await t.test('output up to the cap is whole', async t => {
    const ran = await run(sandbox, 'head -c 200000 /dev/zero', { outputBytes: 200_000 })
    t.same([ran.stdout.bytes.length, ran.stdout.droppedBytes], [200_000, 0])
  })
  await t.test('200 quick commands each bring their whole output', async t => {
    const printed: string[] = []
    for (let i = 0; i < 200; i++) printed.push(text(await run(sandbox, `echo ${i}`)))
    t.same(printed, Array.from({ length: 200 }, (_, i) => `${i}\n`))
  })
  await t.test('a background process that keeps stdout holds nothing up', async t => {
    const started = performance.now()
    t.equal(text(await run(sandbox, 'sleep 60 & echo started')), 'started\n')
    t.ok(performance.now() - started < 5000)
    t.equal(text(await run(sandbox, 'kill %1 2>/dev/null; kill -0 $! 2>/dev/null; echo next')), 'next\n')
  })
  await t.test('a background process that keeps writing is neither killed nor blocked by that', async t => {
    await run(sandbox, '( i=0; while [ $i -lt 300 ]; do head -c 4096 /dev/zero; i=$((i+1)); done; echo $i >/tmp/count ) & :')
    const ran = await run(sandbox, 'n=0; until [ -s /tmp/count ] || [ $n = 200 ]; do sleep 0.05; n=$((n+1)); done; cat /tmp/count')
    t.equal(text(ran), '300\n')
  })
}

async function timeLimits (t: Test, create: Create): Promise<void> {
  await using sandbox = await create()
  await t.test('a command past its time ends, with what it printed', async t => {
    const ran = await run(sandbox, 'echo before; sleep 100 | cat', { timeoutMs: 300 })
    t.same([ran.ending, text(ran)], [{ kind: 'timedOut' }, 'before\n'])
  })
  await t.test('endless output does not prevent that', async t => {
    t.same((await run(sandbox, 'yes', { timeoutMs: 300 })).ending, { kind: 'timedOut' })
  })
  await t.test('a handler of TERM has time to run', async t => {
    t.match(text(await run(sandbox, 'trap "echo cleaned; exit" TERM; while :; do sleep 0.05; done', { timeoutMs: 300 })), /cleaned/)
  })
  await t.test('those who ignore TERM or fled into a session of their own are killed, older background processes are not', async t => {
    await run(sandbox, 'sleep 777 & :')
    const ran = await run(sandbox, 'trap "" TERM; setsid sleep 888 & ( setsid sh -c "sleep 888 & sleep 888" & ) ; sleep 888', { timeoutMs: 300 })
    t.same(ran.ending, { kind: 'timedOut' })
    t.equal(text(await run(sandbox, countProcesses('sleep\\0888'))), '0\n')
    t.equal(text(await run(sandbox, countProcesses('sleep\\0777'))), '1\n')
  })
  await t.test('an aborted signal ends the command, with what it printed', async t => {
    const controller = new AbortController()
    const running = sandbox.run(command('echo started; sleep 100'), {
      signal: controller.signal,
      onOutput: () => controller.abort(),
    })
    const ran = await running
    t.same([ran.ending, text(ran)], [{ kind: 'cancelled' }, 'started\n'])
    t.equal(text(await run(sandbox, 'echo next')), 'next\n')
  })
  await t.test('a signal that was aborted before runs nothing', async t => {
    await t.rejects(sandbox.run(command('touch /tmp/ran'), { signal: AbortSignal.abort(new Error('too late')) }), { message: 'too late' })
    t.same((await run(sandbox, 'test -e /tmp/ran')).ending, { kind: 'exited', exitCode: 1 })
  })
}

async function hostile (t: Test, create: Create): Promise<void> {
  await using sandbox = await create()
  const attacks: Array<[what: string, script: string]> = [
    ['killing everything', 'kill -9 -1'],
    ['killing the parent', 'kill -9 $PPID'],
    ['sending every signal to process 1', 'for s in $(seq 1 64); do kill -$s 1 2>/dev/null; done; :'],
    ['stopping what waits for the next command', '( sleep 0.2; kill -STOP -1 ) >/dev/null 2>&1 & :'],
    ['killing what waits for the next command', '( sleep 0.2; kill -KILL -1 ) >/dev/null 2>&1 & :'],
    ['redefining what shells are made of', 'cd() { :; }; read() { :; }; export() { :; }; printf() { :; }; trap() { :; }'],
    ['emptying PATH', 'export PATH='],
    ['forging the state', 'echo "exit 9" >&247 || echo "exit 9" >&9'],
    ['reading and writing the first process', 'cat /proc/1/environ /proc/1/mem; ls /proc/1/fd; echo x >/proc/1/fd/1'],
  ]
  for (const [what, script] of attacks) {
    await t.test(`${what} ends nothing but the agent's own`, async t => {
      await run(sandbox, script)
      if (script.includes('sleep')) await after(500) // the attack falls between two commands, where nothing can tell of it
      t.equal(text(await run(sandbox, 'echo alive')), 'alive\n')
    })
  }
  await t.test('a thousand orphans leave no zombies', async t => {
    await run(sandbox, 'export PATH=/usr/local/bin:/usr/bin:/bin; for i in $(seq 1000); do ( : & ) ; done')
    t.equal(text(await run(sandbox, 'sleep 0.2; n=0; for f in /proc/[0-9]*/stat; do read -r _ _ s _ <$f && [ "$s" = Z ] && n=$((n+1)); done 2>/dev/null; echo $n', { isolated: true })), '0\n')
  })
  await t.test('killAll leaves one process and a sandbox that works', async t => {
    await run(sandbox, 'setsid sleep 999 >/dev/null 2>&1 & sleep 999 >/dev/null 2>&1 & :', { isolated: true })
    await sandbox.killAll()
    t.equal(text(await run(sandbox, countProcesses('sleep\\0999'), { isolated: true })), '0\n')
  })
}

async function files (t: Test, create: Create): Promise<void> {
  await using sandbox = await create()
  const root = '/tmp/tree'
  const content = Buffer.from([0, 255, 13, 10, ...Buffer.from('é')])
  await sandbox.put(root, [
    { type: 'file', path: 'deep/er/file', mode: 0o640, content },
    { type: 'directory', path: 'empty', mode: 0o755 },
    { type: 'symlink', path: 'link', target: 'deep/er/file' },
    { type: 'file', path: 'run.sh', mode: 0o755, content: Buffer.from('#!/bin/sh\necho ran\n') },
    { type: 'file', path: 'new\nline', mode: 0o600, content: Buffer.alloc(0) },
  ])
  await t.test('what is put is there for commands, and got back as it was', async t => {
    t.equal(text(await run(sandbox, `cd ${root} && ./run.sh && readlink link && stat -c %a deep/er/file`)), 'ran\ndeep/er/file\n640\n')
    t.same(await sandbox.get(root, ['deep/er/file', 'link', 'new\nline'], { maxBytes: 100 }), [
      { type: 'file', path: 'deep/er/file', mode: 0o640, content },
      { type: 'symlink', path: 'link', target: 'deep/er/file' },
      { type: 'file', path: 'new\nline', mode: 0o600, content: Buffer.alloc(0) },
    ])
  })
  await t.test('files of several megabytes cross whole', async t => {
    const big = Buffer.alloc(5_000_000, 'abcdefg')
    await sandbox.put(root, [{ type: 'file', path: 'big', mode: 0o644, content: big }])
    const [got] = await sandbox.get(root, ['big'], { maxBytes: big.length })
    t.ok(got?.type === 'file' && big.equals(got.content))
    await t.rejects(sandbox.get(root, ['big'], { maxBytes: big.length - 1 }), { code: 'FILE_REFUSED' })
    await sandbox.put(root, [{ type: 'absent', path: 'big' }])
  })
  await t.test('a manifest lists every file with its hash, and what may not cross by its kind', async t => {
    await run(sandbox, `cd ${root} && mkfifo pipe && echo x >one && ln one two && chmod u+s run.sh`)
    const manifest = await sandbox.manifest(root, { maxEntries: 100 })
    t.same(manifest.get('deep/er/file'), {
      type: 'file',
      path: 'deep/er/file',
      mode: 0o640,
      sizeBytes: content.length,
      sha256: createHash('sha256').update(content).digest('hex'),
    })
    t.same(manifest.get('empty'), { type: 'directory', path: 'empty', mode: 0o755 })
    t.same(manifest.get('link'), { type: 'symlink', path: 'link', target: 'deep/er/file' })
    t.same(['pipe', 'one', 'two', 'run.sh'].map(path => manifest.get(path)?.type), ['other', 'other', 'other', 'other'])
    await t.rejects(sandbox.manifest(root, { maxEntries: 3 }), { code: 'FILE_REFUSED' })
  })
  await t.test('get leaves out what is no regular file and what lies behind a symlink', async t => {
    await run(sandbox, `cd ${root} && ln -s /etc outside && ln -sfn deep inner`)
    const started = performance.now()
    t.same(await sandbox.get(root, ['pipe', 'empty', 'missing', 'outside/passwd', 'inner/er/file'], { maxBytes: 1e6 }), [])
    t.same(await sandbox.get('/', ['proc/self/mem', 'proc/1/fd/1', 'dev/zero'], { maxBytes: 1e6 }), [])
    t.ok(performance.now() - started < 5000)
  })
  await t.test('put takes the place of a symlink and never follows one', async t => {
    await run(sandbox, `echo safe >/tmp/victim; ln -s /tmp/victim ${root}/trap; ln -s /tmp ${root}/dir`)
    await sandbox.put(root, [{ type: 'file', path: 'trap', mode: 0o644, content: Buffer.from('new') }])
    t.equal(text(await run(sandbox, `cat /tmp/victim ${root}/trap`)), 'safe\nnew')
    await t.rejects(sandbox.put(root, [{ type: 'file', path: 'dir/victim', mode: 0o644, content }]), { code: 'FILE_REFUSED' })
    t.equal(text(await run(sandbox, 'cat /tmp/victim')), 'safe\n')
  })
  await t.test('absent removes files, symlinks and trees; what is missing counts as removed', async t => {
    await sandbox.put(root, [{ type: 'absent', path: 'deep' }, { type: 'absent', path: 'dir' }, { type: 'absent', path: 'no/such' }])
    t.equal(text(await run(sandbox, `cd ${root}; test -e deep -o -L dir; echo $?; ls -d /tmp/victim`)), '1\n/tmp/victim\n')
  })
  await t.test('one entry that breaks the rules refuses the whole put', async t => {
    const fine = { type: 'file', path: 'fine', mode: 0o644, content } as const
    for (const path of ['../up', '/abs', 'a//b', './a', '', 'a/..', 'x'.repeat(2000)]) {
      await t.rejects(sandbox.put(root, [fine, { ...fine, path }]), { code: 'FILE_REFUSED' }, path.slice(0, 20))
    }
    await t.rejects(sandbox.put(root, [fine, { type: 'symlink', path: 'l', target: '/etc/passwd' }]), { code: 'FILE_REFUSED' })
    t.equal(text(await run(sandbox, `ls ${root}/fine 2>/dev/null`)), '')
  })
}

function command (script: string, options: Partial<Command> = {}): Command {
  return { script, timeoutMs: 20_000, outputBytes: 64 * 1024, ...options }
}

async function run (sandbox: Sandbox, script: string, options: Partial<Command> = {}): Promise<Ran> {
  return await sandbox.run(command(script, options))
}

function text (ran: Ran): string {
  return Buffer.from(ran.stdout.bytes).toString()
}

/** Counts processes whose command line begins so (words joined by \0). */
function countProcesses (words: string): string {
  return `n=0; for f in /proc/[0-9]*/cmdline; do [ "$(tr '\\0' '#' <$f 2>/dev/null | cut -c1-${words.length - 1})" = '${words.replace('\\0', '#')}' ] && n=$((n+1)); done; echo $n`
}
