/* The command that runs: started, timed, ended, drained. Its end is the exit of its shell and nothing it prints. */
#include "warden.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define MS 1000000ll
#define DRAIN_NS (50 * MS)        /* for pipes that a background process holds */
#define DRAIN_BYTES (2u << 20)    /* more than any pipe holds */
#define KILL_ROUND_NS (2 * MS)
#define KILL_NS (2000 * MS)       /* then everything goes, older background processes too */
#define GIVE_UP_NS (3000 * MS)
#define CANCEL_GRACE_MS 500u

enum phase { IDLE, RUNNING, TERMINATING, KILLING, DRAINING };
enum cause { BY_ITSELF, BY_TIME, BY_CANCEL };
enum { EXITED, SIGNALLED, TIMED_OUT, CANCELLED };

static struct {
	enum phase phase;
	enum cause cause;
	uint32_t seq, flags;
	struct shell shell;
	struct capture streams[2];
	bool exited;
	int status;
	struct rusage usage;
	int64_t began, ended, due, killing_since;
	long oom_kills;
} run;

/* How many processes of this sandbox were killed for memory so far, -1 when unknown. A hint, never proof. */
static long oom_kills(void)
{
	static int fd = -2;
	if (fd == -2) {
		fd = open("/sys/fs/cgroup/memory.events", O_RDONLY | O_CLOEXEC);
		if (fd < 0)
			fd = open("/sys/fs/cgroup/memory/memory.oom_control", O_RDONLY | O_CLOEXEC);
	}
	char lines[512];
	ssize_t len = fd < 0 ? -1 : pread(fd, lines, sizeof lines - 1, 0);
	if (len <= 0)
		return -1;
	lines[len] = 0;
	char *at = strstr(lines, "oom_kill ");
	return at == NULL ? -1 : atol(at + 9);
}

bool run_busy(void)
{
	return run.phase != IDLE;
}

uint32_t run_seq(void)
{
	return run.seq;
}

static bool parse(struct span request, struct command *command)
{
	struct reader from = { request.at, request.len, false };
	command->flags = (uint32_t)read_int(&from, 4);
	command->timeout_ms = (uint32_t)read_int(&from, 4);
	command->output_bytes = (uint32_t)read_int(&from, 4);
	size_t cwd = read_int(&from, 4), env = read_int(&from, 4), script = read_int(&from, 4), input = read_int(&from, 4);
	command->cwd = read_span(&from, cwd);
	command->env = read_span(&from, env);
	command->script = read_span(&from, script);
	command->input = read_span(&from, input);
	return !from.bad && from.left == 0 && command->timeout_ms > 0 && cwd < PATH_BYTES;
}

void run_start(uint32_t seq, struct span request)
{
	struct command command = { .seq = seq };
	if (!parse(request, &command)) {
		link_refuse(seq, REFUSED_BAD, "The run request is malformed.");
		return;
	}
	result_stop();
	bool isolated = command.flags & RUN_ISOLATED;
	processes_mark();
	memset(&run, 0, sizeof run);
	if (shell_take(&run.shell, isolated) != 0) {
		char sentence[160];
		snprintf(sentence, sizeof sentence, "assay: no process could be started: %s. Stop background processes and try again.\n", strerror(errno));
		result_fail(seq, sentence);
		return;
	}
	if (!shell_go(&run.shell, &command)) {
		kill(run.shell.pid, SIGKILL);
		shell_close(&run.shell);
		result_fail(seq, "assay: there is no memory left to start the command with.\n");
		return;
	}
	capture_open(&run.streams[0], run.shell.out, command.output_bytes, STDOUT);
	capture_open(&run.streams[1], run.shell.err, command.output_bytes, STDERR);
	run.shell.out = run.shell.err = -1; /* the captures own them */
	streaming_seq = command.flags & RUN_STREAM ? seq : 0;
	run.seq = seq;
	run.flags = command.flags;
	run.began = now_ns();
	run.due = run.began + command.timeout_ms * MS;
	run.oom_kills = oom_kills();
	run.phase = RUNNING;
}

static void stop(enum cause cause, uint32_t grace_ms)
{
	run.cause = cause;
	run.phase = TERMINATING;
	run.due = now_ns() + grace_ms * MS;
	processes_signal_new(run.exited ? 0 : run.shell.pid, SIGTERM);
}

void run_cancel(uint32_t seq)
{
	if (run.phase == RUNNING && run.seq == seq)
		stop(BY_CANCEL, agent.grace_ms < CANCEL_GRACE_MS ? agent.grace_ms : CANCEL_GRACE_MS);
}

static void finish_run(void)
{
	for (int i = 0; i < 2; i++)
		capture_drain(&run.streams[i], 1);
	struct ending ending = { .usage = run.usage, .took_ns = run.ended - run.began };
	bool signalled = run.exited && WIFSIGNALED(run.status);
	ending.kind = run.cause == BY_TIME ? TIMED_OUT : run.cause == BY_CANCEL ? CANCELLED : signalled ? SIGNALLED : EXITED;
	ending.code = (uint8_t)(signalled ? WTERMSIG(run.status) : WEXITSTATUS(run.status));
	long kills = oom_kills();
	ending.oom_killed = kills > run.oom_kills && run.oom_kills >= 0;
	if ((run.flags & RUN_ISOLATED) == 0) {
		ending.news = state_take(run.shell.control, run.flags & RUN_CWD);
		if (ending.news & STATE_TAKEN)
			shell_forget(false);
	}
	shell_close(&run.shell);
	streaming_seq = 0;
	run.phase = IDLE;
	result_set(run.seq, &ending, run.streams);
	for (int i = 0; i < 2; i++)
		capture_close(&run.streams[i]);
	result_send();
}

static void drain(void)
{
	if (run.ended == 0)
		run.ended = now_ns();
	bool open = false;
	for (int i = 0; i < 2; i++) {
		capture_drain(&run.streams[i], DRAIN_BYTES);
		open = open || run.streams[i].fd >= 0;
	}
	run.phase = DRAINING;
	run.due = now_ns() + (open ? DRAIN_NS : 0);
	if (!open)
		finish_run();
}

bool run_exited(pid_t pid, int status, const struct rusage *usage)
{
	if (run.phase == IDLE || run.exited || pid != run.shell.pid)
		return false;
	run.exited = true;
	run.status = status;
	run.usage = *usage;
	run.ended = now_ns();
	return true;
}

void run_watch(void)
{
	if (run.phase == IDLE)
		return;
	capture_watch(&run.streams[0]);
	capture_watch(&run.streams[1]);
	wake_at(run.due);
}

static void kill_round(int64_t now)
{
	bool left = processes_signal_new(run.exited ? 0 : run.shell.pid, SIGKILL) > 0;
	reap();
	if (now > run.killing_since + KILL_NS)
		kill(-1, SIGKILL);
	if ((!left && run.exited) || now > run.killing_since + GIVE_UP_NS)
		drain();
	else
		run.due = now + KILL_ROUND_NS;
}

void run_tick(int64_t now)
{
	switch (run.phase) {
	case IDLE:
		break;
	case RUNNING:
		if (run.exited)
			drain();
		else if (now >= run.due)
			stop(BY_TIME, agent.grace_ms);
		break;
	case TERMINATING:
		if (now >= run.due || (run.exited && processes_signal_new(0, 0) == 0)) {
			run.phase = KILLING;
			run.killing_since = now;
			kill_round(now);
		}
		break;
	case KILLING:
		if (now >= run.due)
			kill_round(now);
		break;
	case DRAINING:
		if (now >= run.due || (run.streams[0].fd < 0 && run.streams[1].fd < 0))
			finish_run();
		break;
	}
}
