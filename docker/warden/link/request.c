/* Joins the frames of a request and hands the whole to its part. A long request is kept in a memfd, never on the heap. */
#include "warden.h"
#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

static struct { bool open; uint8_t type; uint32_t seq; int fd; uint64_t len; } parts = { .fd = -1 };

void request_forget(void)
{
	if (parts.open && parts.fd >= 0)
		close(parts.fd);
	parts.open = false;
	parts.fd = -1;
}

static bool append(struct span bytes)
{
	while (bytes.len > 0) {
		ssize_t put = write(parts.fd, bytes.at, bytes.len);
		if (put < 0 && errno == EINTR)
			continue;
		if (put <= 0)
			return false;
		bytes.at += put;
		bytes.len -= (size_t)put;
		parts.len += (uint64_t)put;
	}
	return true;
}

static void dispatch(uint8_t type, uint32_t seq, struct span request)
{
	if (type == RUN && seq == result_seq()) {
		result_send(); /* answered, not run */
		return;
	}
	if (run_busy() && run_seq() == seq)
		return; /* joined: its result goes to whoever owns the stream then */
	if (run_busy() || files_busy()) {
		link_refuse(seq, REFUSED_BUSY, "Another request is running; one at a time.");
	} else if (type == RUN && seq < result_seq()) {
		link_refuse(seq, REFUSED_OLD, "The result of this older seq is no longer kept.");
	} else if (type == RUN) {
		run_start(seq, request);
	} else {
		files_start(type, seq, request);
	}
}

static void refuse(uint32_t seq, const char *sentence)
{
	request_forget();
	link_refuse(seq, REFUSED_BAD, sentence);
}

static void join(const struct frame *frame)
{
	bool first = frame->offset == 0;
	if (first)
		request_forget();
	if (first && (frame->flags & FLAG_MORE) == 0) {
		dispatch(frame->type, frame->seq, frame->payload);
		return;
	}
	if (first) {
		parts.fd = memfd_create("request", MFD_CLOEXEC);
		parts.open = true;
		parts.type = frame->type;
		parts.seq = frame->seq;
		parts.len = 0;
	}
	if (!parts.open || parts.type != frame->type || parts.seq != frame->seq || parts.len != frame->offset) {
		refuse(frame->seq, "A part of this request is missing.");
		return;
	}
	if (parts.fd < 0 || parts.len + frame->payload.len > REQUEST_BYTES || !append(frame->payload)) {
		refuse(frame->seq, "The request is larger than the warden takes or than the memory left.");
		return;
	}
	if (frame->flags & FLAG_MORE)
		return;
	void *whole = mmap(NULL, parts.len, PROT_READ, MAP_PRIVATE, parts.fd, 0);
	if (whole == MAP_FAILED) {
		refuse(frame->seq, "There is no memory for the request.");
		return;
	}
	dispatch(parts.type, parts.seq, (struct span){ whole, parts.len });
	munmap(whole, parts.len);
	request_forget();
}

void request_frame(const struct frame *frame)
{
	switch (frame->type) {
	case RUN: case PUT: case GET: case MANIFEST:
		join(frame);
		break;
	case CANCEL:
		run_cancel(frame->seq);
		files_cancel(frame->seq);
		break;
	case KILL_ALL:
		shell_freeze();
		if (processes_kill_all())
			link_send(&(struct frame){ .type = KILLED, .seq = frame->seq });
		else
			link_refuse(frame->seq, REFUSED_FAILED, "Some processes could not be killed.");
		break;
	case PING:
		link_send(&(struct frame){ .type = PONG, .seq = frame->seq });
		break;
	default:
		link_refuse(frame->seq, REFUSED_BAD, "There is no such request.");
	}
}
