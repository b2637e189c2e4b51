/* The warden's side of a file operation: a child with the agent's rights does the work and writes records to a pipe,
   which go on as they come. The warden itself opens no path, and waits for the child no longer than asked. */
#include "warden.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

static struct {
	pid_t pid;
	bool ended;
	uint32_t seq;
	int pipe;
	uint64_t sent;
	int64_t due;
	size_t held;
	uint8_t bytes[CHUNK_BYTES];
} work = { .pipe = -1 };

_Noreturn void files_child(int to, struct request *request);

bool files_busy(void)
{
	return work.pid != 0;
}

static bool parse(uint8_t type, struct span bytes, struct request *request, uint32_t *timeout_ms)
{
	struct reader from = { bytes.at, bytes.len, false };
	*request = (struct request){ .type = type };
	*timeout_ms = (uint32_t)read_int(&from, 4);
	request->max_entries = (uint32_t)read_int(&from, 4);
	request->max_bytes = read_int(&from, 8);
	struct span root = read_span(&from, read_int(&from, 2));
	if (from.bad || root.len == 0 || root.len >= PATH_BYTES || root.at[0] != '/' || memchr(root.at, 0, root.len) != NULL)
		return false;
	memcpy(request->root, root.at, root.len);
	request->records = from;
	return *timeout_ms > 0;
}

void files_start(uint8_t type, uint32_t seq, struct span bytes)
{
	static struct request request;
	uint32_t timeout_ms;
	int ends[2];
	if (!parse(type, bytes, &request, &timeout_ms)) {
		link_refuse(seq, REFUSED_BAD, "The file request is malformed.");
		return;
	}
	if (pipe2(ends, O_CLOEXEC) != 0) {
		link_refuse(seq, REFUSED_FAILED, "No pipe could be made.");
		return;
	}
	pid_t pid = fork();
	if (pid == 0) {
		close(ends[0]);
		become_child();
		if (rights_drop(agent.uid, agent.gid) != 0)
			_exit(1);
		files_child(ends[1], &request);
	}
	close(ends[1]);
	if (pid < 0) {
		close(ends[0]);
		link_refuse(seq, REFUSED_FAILED, "No process could be started; the sandbox has as many as it may.");
		return;
	}
	fcntl(ends[0], F_SETFL, O_NONBLOCK);
	work.pid = pid;
	work.ended = false;
	work.seq = seq;
	work.pipe = ends[0];
	work.sent = work.held = 0;
	work.due = now_ns() + timeout_ms * 1000000ll;
}

static void end_work(void)
{
	if (!work.ended)
		kill(work.pid, SIGKILL);
	close(work.pipe);
	work.pipe = -1;
	work.pid = 0;
}

void files_cancel(uint32_t seq)
{
	if (work.pid == 0 || work.seq != seq)
		return;
	end_work();
	link_refuse(seq, REFUSED_CANCELLED, "Cancelled.");
}

void files_exited(pid_t pid)
{
	if (work.pid == pid)
		work.ended = true;
}

static bool send_held(bool more)
{
	struct frame frame = { .type = RECORDS, .flags = more ? FLAG_MORE : 0, .seq = work.seq, .offset = work.sent,
		.payload = { work.bytes, work.held } };
	if (link_space() < work.held + RESERVE_BYTES || !link_send(&frame))
		return false;
	work.sent += work.held;
	work.held = 0;
	return true;
}

static void on_readable(void *arg)
{
	(void)arg;
	while (work.pid != 0) {
		if (work.held == sizeof work.bytes && !send_held(true))
			return;
		ssize_t got = read(work.pipe, work.bytes + work.held, sizeof work.bytes - work.held);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return;
		if (got > 0) {
			work.held += (size_t)got;
		} else {
			if (send_held(false))
				end_work();
			return;
		}
	}
}

void files_watch(void)
{
	if (work.pid == 0)
		return;
	wake_at(work.due);
	if (link_space() >= CHUNK_BYTES + RESERVE_BYTES)
		watch(work.pipe, POLLIN, on_readable, NULL);
}

void files_tick(int64_t now)
{
	if (work.pid == 0 || now < work.due)
		return;
	uint32_t seq = work.seq;
	end_work();
	link_refuse(seq, REFUSED_FAILED, "The file operation took longer than it may.");
}
