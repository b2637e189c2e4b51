/* Who else lives in this sandbox, read from /proc: to kill what one command started, or everything. */
#include "warden.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MOST 32768

struct process { pid_t pid, parent; uint64_t started; bool zombie, older; };
static struct process list[MOST];
static pid_t marked[MOST];
static int marks;
static uint64_t marked_at;

static uint64_t ticks_now(void)
{
	struct timespec now;
	clock_gettime(CLOCK_BOOTTIME, &now);
	uint64_t rate = (uint64_t)sysconf(_SC_CLK_TCK);
	return (uint64_t)now.tv_sec * rate + (uint64_t)now.tv_nsec * rate / 1000000000u;
}

static bool read_stat(int proc, const char *name, struct process *found)
{
	char path[40], line[1024];
	snprintf(path, sizeof path, "%.20s/stat", name);
	int fd = openat(proc, path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	ssize_t len = read(fd, line, sizeof line - 1);
	close(fd);
	if (len <= 0)
		return false;
	line[len] = 0;
	char *after_name = strrchr(line, ')'); /* the name is the agent's choice and may hold anything */
	char state;
	int parent;
	unsigned long long started;
	if (after_name == NULL || sscanf(after_name + 1, " %c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu",
		&state, &parent, &started) != 3)
		return false;
	*found = (struct process){ (pid_t)atoi(name), parent, started, state == 'Z' || state == 'X', false };
	return true;
}

static int read_list(bool with_stat)
{
	int count = 0;
	DIR *proc = opendir("/proc");
	if (proc == NULL)
		return 0;
	for (struct dirent *entry; count < MOST && (entry = readdir(proc)) != NULL;) {
		if (entry->d_name[0] < '1' || entry->d_name[0] > '9')
			continue;
		list[count] = (struct process){ .pid = (pid_t)atoi(entry->d_name) };
		if (list[count].pid != 1 && (!with_stat || read_stat(dirfd(proc), entry->d_name, &list[count])))
			count++;
	}
	closedir(proc);
	return count;
}

static int by_pid(const void *a, const void *b)
{
	pid_t left = *(const pid_t *)a, right = *(const pid_t *)b;
	return left < right ? -1 : left > right;
}

/* Remembers who is alive now: everyone else who is found later was started by the command. */
void processes_mark(void)
{
	marks = read_list(false);
	for (int i = 0; i < marks; i++)
		marked[i] = list[i].pid;
	qsort(marked, (size_t)marks, sizeof marked[0], by_pid);
	marked_at = ticks_now();
}

/* Signals whoever was born since the mark, and the shell; what older processes fork in the meantime is theirs.
   Returns how many there were. */
int processes_signal_new(pid_t shell, int sig)
{
	int count = read_list(true), found = 0;
	for (int i = 0; i < count; i++)
		list[i].older = list[i].pid != shell && list[i].started <= marked_at + 1
			&& bsearch(&list[i].pid, marked, (size_t)marks, sizeof marked[0], by_pid) != NULL;
	for (bool changed = true; changed;) {
		changed = false;
		for (int i = 0; i < count; i++)
			for (int j = 0; j < count && !list[i].older && list[i].pid != shell; j++)
				if (list[j].pid == list[i].parent && list[j].older)
					changed = list[i].older = true;
	}
	for (int i = 0; i < count; i++) {
		if (list[i].older || list[i].zombie)
			continue;
		found++;
		kill(list[i].pid, sig);
	}
	return found;
}

/* Kills and reaps until this is the only process. False when some would not go within five seconds. */
bool processes_kill_all(void)
{
	for (int64_t until = now_ns() + 5000000000ll; now_ns() < until;) {
		kill(-1, SIGKILL);
		reap();
		if (kill(-1, 0) != 0 && errno == ESRCH)
			return true;
		poll(NULL, 0, 1);
	}
	return false;
}
