/* One shell per command, started before the command is known: it has read the carried state and waits for a line.
   The agent may kill, stop or replace it; then another is started. */
#include "warden.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static struct shell warm = { .pid = 0 };
static bool carried; /* a state was taken: it holds all variables */
static bool wanted, wanted_isolated;

static int put_all(int fd, struct span bytes)
{
	while (bytes.len > 0) {
		ssize_t put = write(fd, bytes.at, bytes.len);
		if (put < 0 && errno == EINTR)
			continue;
		if (put <= 0)
			return -1;
		bytes.at += put;
		bytes.len -= (size_t)put;
	}
	return 0;
}

/* With a carried state, only what a shell cannot name is inherited; the state holds the rest, or leaves it out. */
static char **environment_for(bool isolated)
{
	if (isolated || !carried)
		return first_environment;
	size_t count = 0, kept = 0;
	while (first_environment[count] != NULL)
		count++;
	char **left = calloc(count + 1, sizeof *left);
	for (size_t i = 0; left != NULL && i < count; i++) {
		size_t name = strspn(first_environment[i], "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
		if (first_environment[i][name] != '=')
			left[kept++] = first_environment[i];
	}
	return left != NULL ? left : first_environment;
}

static _Noreturn void fail(const char *what)
{
	dprintf(STDERR_FILENO, "assay: the command could not be started: %s: %s\n", what, strerror(errno));
	_exit(126);
}

static _Noreturn void child(const int ours[8], bool isolated)
{
	/* out of the way of the numbers that the wrapper uses */
	int high[8];
	for (int i = 0; i < 8; i++)
		if ((high[i] = fcntl(ours[i], F_DUPFD_CLOEXEC, 256)) < 0)
			fail("file descriptors");
	static const int place[8] = { 1, 2, 3, 4, 5, 6, 8, 247 };
	for (int i = 0; i < 8; i++)
		if (dup2(high[i], place[i]) < 0)
			fail("file descriptors");
	int null = open("/dev/null", O_RDONLY);
	if (null < 0 || (null != 0 && (dup2(null, 0) < 0 || close(null) != 0)))
		fail("/dev/null");
	become_child();
	char **environment = environment_for(isolated);
	if (rights_drop(agent.uid, agent.gid) != 0)
		fail("rights");
	if (chdir(agent.workdir) != 0 && chdir("/") != 0)
		fail("/");
	char *bash[] = { "bash", "--noprofile", "--norc", "-c", (char *)bash_wrapper, "bash", NULL };
	execve("/bin/bash", bash, environment);
	char *sh[] = { "sh", "-c", (char *)sh_wrapper, "sh", NULL };
	if (dup2(247, 9) >= 0 && close(247) == 0)
		execve("/bin/sh", sh, environment);
	dprintf(STDERR_FILENO, "assay: this sandbox has neither /bin/bash nor /bin/sh that can be run: %s\n", strerror(errno));
	_exit(127);
}

static int open_files(struct shell *it, int out[2], int err[2], int go[2], int *state)
{
	if (pipe2(out, O_CLOEXEC) != 0 || pipe2(err, O_CLOEXEC) != 0 || pipe2(go, O_CLOEXEC) != 0)
		return -1;
	*state = memfd_create("state", MFD_CLOEXEC);
	it->prelude = memfd_create("prelude", MFD_CLOEXEC);
	it->script = memfd_create("command", MFD_CLOEXEC);
	it->input = memfd_create("stdin", MFD_CLOEXEC);
	it->control = memfd_create("control", MFD_CLOEXEC);
	if (*state < 0 || it->prelude < 0 || it->script < 0 || it->input < 0 || it->control < 0)
		return -1;
	if (!it->isolated && put_all(*state, state_text()) != 0)
		return -1;
	fcntl(out[0], F_SETFL, O_NONBLOCK);
	fcntl(err[0], F_SETFL, O_NONBLOCK);
	return 0;
}

static void shut(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

/* 0, or -1 with errno and nothing left open. */
int shell_start(struct shell *it, bool isolated)
{
	*it = (struct shell){ 0, isolated, -1, -1, -1, -1, -1, -1, -1 };
	int out[2] = { -1, -1 }, err[2] = { -1, -1 }, go[2] = { -1, -1 }, state = -1;
	pid_t pid = -1;
	if (open_files(it, out, err, go, &state) == 0) {
		int ours[8] = { out[1], err[1], go[0], it->prelude, state, it->script, it->input, it->control };
		pid = fork();
		if (pid == 0)
			child(ours, isolated);
	}
	int why = errno;
	it->pid = pid > 0 ? pid : 0;
	it->out = out[0];
	it->err = err[0];
	it->go = go[1];
	shut(&out[1]);
	shut(&err[1]);
	shut(&go[0]);
	shut(&state);
	if (pid <= 0)
		shell_close(it);
	errno = why;
	return pid > 0 ? 0 : -1;
}

/* Hands the command over. False when the memory for it could not be had. */
bool shell_go(struct shell *it, const struct command *command)
{
	size_t len = 0;
	char *prelude = prelude_of(command, state_cwd(), &len);
	bool ready = prelude != NULL && put_all(it->prelude, (struct span){ (uint8_t *)prelude, len }) == 0
		&& put_all(it->script, command->script) == 0 && put_all(it->input, command->input) == 0;
	free(prelude);
	if (!ready)
		return false;
	/* the wrapper reads the script and stdin through descriptors that share our offset */
	lseek(it->script, 0, SEEK_SET);
	kill(it->pid, SIGCONT); /* the agent may have stopped it while it waited */
	ssize_t told = write(it->go, "\n", 1); /* where it has died, its exit tells */
	(void)told;
	shut(&it->go);
	shut(&it->prelude);
	shut(&it->script);
	shut(&it->input);
	return true;
}

void shell_close(struct shell *it)
{
	shut(&it->out);
	shut(&it->err);
	shut(&it->go);
	shut(&it->prelude);
	shut(&it->script);
	shut(&it->input);
	shut(&it->control);
	it->pid = 0;
}

bool shell_exited(pid_t pid)
{
	if (warm.pid == 0 || warm.pid != pid)
		return false;
	shell_close(&warm);
	return true;
}

static void end_warm(void)
{
	if (warm.pid == 0)
		return;
	kill(warm.pid, SIGKILL); /* not reaped yet, so the number is still its own */
	shell_close(&warm);
}

/* Moves the waiting shell to *it, or starts one. 0, or -1 with errno. */
int shell_take(struct shell *it, bool isolated)
{
	wanted = true;
	wanted_isolated = isolated;
	reap(); /* the agent may have killed it while it waited */
	if (warm.pid != 0 && warm.isolated == isolated) {
		*it = warm;
		warm = (struct shell){ .pid = 0 };
		return 0;
	}
	end_warm();
	return shell_start(it, isolated);
}

/* After another identity or a new state: what waits is out of date. */
void shell_forget(bool also_state)
{
	end_warm();
	if (also_state) {
		wanted = true;
		wanted_isolated = false;
		state_forget();
		carried = false;
	} else {
		carried = true;
	}
}

/* Until the next command nothing of the agent's may run, so no shell waits. */
void shell_freeze(void)
{
	end_warm();
	wanted = false;
}

void shell_tick(void)
{
	if (!wanted || warm.pid != 0 || !agent.known || run_busy() || files_busy() || result_pending() || !link_idle())
		return;
	wanted = false; /* once per command: one that is killed while it waits is not replaced before it is needed */
	if (shell_start(&warm, wanted_isolated) != 0)
		warm.pid = 0;
}
