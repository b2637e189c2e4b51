/* Start and the one loop: poll, then time. Single-threaded; every part says what it waits for. */
#include "warden.h"
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define WATCHES 600

struct identity agent;
char **first_environment;
static struct { struct pollfd fds[WATCHES]; struct { ready_fn *ready; void *arg; } call[WATCHES]; nfds_t count; int64_t wake; } loop;
static int child_signals;

int64_t now_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ll + now.tv_nsec;
}

void watch(int fd, short events, ready_fn *ready, void *arg)
{
	if (loop.count == WATCHES)
		return; /* looked at in a later round, when another has gone */
	loop.fds[loop.count] = (struct pollfd){ .fd = fd, .events = events };
	loop.call[loop.count].ready = ready;
	loop.call[loop.count].arg = arg;
	loop.count++;
}

void wake_at(int64_t when)
{
	if (when < loop.wake)
		loop.wake = when;
}

/* Reaps whatever has ended, ours or orphaned. */
void reap(void)
{
	int status;
	struct rusage usage;
	pid_t pid;
	while ((pid = wait4(-1, &status, WNOHANG, &usage)) > 0) {
		if (!run_exited(pid, status, &usage) && !shell_exited(pid))
			files_exited(pid);
	}
}

static void on_child(void *arg)
{
	(void)arg;
	struct signalfd_siginfo info;
	while (read(child_signals, &info, sizeof info) > 0)
		;
	reap();
}

static void turn(void)
{
	loop.count = 0;
	loop.wake = INT64_MAX;
	watch(child_signals, POLLIN, on_child, NULL);
	link_watch();
	run_watch();
	files_watch();
	sinks_watch();
	int timeout = -1;
	if (loop.wake != INT64_MAX) {
		int64_t left = loop.wake - now_ns();
		timeout = left <= 0 ? 0 : left > 60000000000ll ? 60000 : (int)((left + 999999) / 1000000);
	}
	int ready = poll(loop.fds, loop.count, timeout);
	for (nfds_t i = 0; ready > 0 && i < loop.count; i++)
		if (loop.fds[i].revents != 0)
			loop.call[i].ready(loop.call[i].arg);
	int64_t now = now_ns();
	link_tick(now);
	run_tick(now);
	files_tick(now);
	result_pump();
	shell_tick();
}

int main(int argc, char **argv, char **environment)
{
	(void)argc, (void)argv;
	if (getpid() != 1) {
		fputs("warden: it must be process 1 of a container of its own, since it kills every other process it sees.\n", stderr);
		return 2;
	}
	first_environment = environment;
	close_range(3, ~0u, 0); /* whatever the runtime left open is not for the agent */
	prctl(PR_SET_DUMPABLE, 0);
	umask(022);
	signal(SIGPIPE, SIG_IGN);
	sigset_t child;
	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	sigprocmask(SIG_SETMASK, &child, NULL);
	child_signals = signalfd(-1, &child, SFD_NONBLOCK | SFD_CLOEXEC);
	if (child_signals < 0 || chdir("/") != 0) {
		perror("warden: cannot start");
		return 2;
	}
	link_open();
	for (;;)
		turn();
}
