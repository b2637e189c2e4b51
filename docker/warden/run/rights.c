/* What a child may do: the agent's user, for uid 0 a short list of capabilities, never more by exec. */
#include "warden.h"
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define BIT(cap) (1ull << (cap))
static const uint64_t kept_by_root = BIT(CAP_CHOWN) | BIT(CAP_DAC_OVERRIDE) | BIT(CAP_FOWNER) | BIT(CAP_FSETID)
	| BIT(CAP_SETUID) | BIT(CAP_SETGID) | BIT(CAP_KILL) | BIT(CAP_NET_BIND_SERVICE);
static const uint64_t needed = BIT(CAP_SETPCAP) | BIT(CAP_SETUID) | BIT(CAP_SETGID) | BIT(CAP_KILL);

static uint64_t permitted(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2] = { 0 };
	if (syscall(SYS_capget, &header, data) != 0)
		return 0;
	return data[0].permitted | (uint64_t)data[1].permitted << 32;
}

static int set_capabilities(uint64_t set)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2] = { 0 };
	data[0].permitted = data[0].effective = (uint32_t)set;
	data[1].permitted = data[1].effective = (uint32_t)(set >> 32);
	return (int)syscall(SYS_capset, &header, data);
}

bool rights_can_be_dropped(void)
{
	return (permitted() & needed) == needed;
}

/* For a child that is about to run an agent's command or touch an agent's file. 0, or -1 with errno. */
int rights_drop(uid_t uid, gid_t gid)
{
	uint64_t keep = uid == 0 ? kept_by_root & permitted() : 0;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
		return -1;
	prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	for (int cap = 0; cap < 64; cap++) {
		if (prctl(PR_CAPBSET_READ, cap, 0, 0, 0) < 0)
			break; /* past the last that this kernel knows */
		if ((keep & BIT(cap)) == 0 && prctl(PR_CAPBSET_DROP, cap, 0, 0, 0) != 0)
			return -1;
	}
	if (setgroups(1, &gid) != 0 || setresgid(gid, gid, gid) != 0 || setresuid(uid, uid, uid) != 0)
		return -1;
	return set_capabilities(keep);
}

/* Undoes what is special about process 1: its own session, default signals, first in line when memory is short. */
void become_child(void)
{
	setsid();
	signal(SIGPIPE, SIG_DFL);
	sigset_t none;
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
	if (fd >= 0) {
		ssize_t ignored = write(fd, "1000", 4); /* where it is refused, memory limits still hold */
		(void)ignored;
		close(fd);
	}
}
