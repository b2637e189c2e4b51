/* The attach stream: bytes in, frames out, never blocking. Whoever sent the newest hello owns it; the stream may
   stall, close or come back at any time and the warden lives on. */
#include "warden.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define STALL_NS 250000000ll
#define CLOSED_NS 500000000ll

static struct { uint8_t bytes[FRAME_BYTES + CHUNK_BYTES]; size_t len; int64_t last_ns; bool closed; } in;
static struct { uint8_t bytes[4 * (CHUNK_BYTES + HEADER_BYTES)]; size_t from, to; bool closed; } out;
static struct { bool known; uint8_t nonce[MARKER_BYTES]; uint32_t epoch, bad; } owner;

static bool take_hello(const struct frame *frame)
{
	struct reader from = { frame->payload.at, frame->payload.len, false };
	struct span nonce = read_span(&from, MARKER_BYTES);
	struct identity next = { .known = true };
	next.uid = (uid_t)read_int(&from, 4);
	next.gid = (gid_t)read_int(&from, 4);
	next.grace_ms = (uint32_t)read_int(&from, 4);
	struct span workdir = read_span(&from, read_int(&from, 2));
	if (from.bad || from.left != 0 || workdir.len == 0 || workdir.len >= PATH_BYTES || workdir.at[0] != '/'
		|| memchr(workdir.at, 0, workdir.len) != NULL || memcmp(nonce.at, hello_marker, MARKER_BYTES) == 0)
		return false;
	memcpy(next.workdir, workdir.at, workdir.len);
	if (owner.known && frame->epoch <= owner.epoch) {
		uint8_t current[MARKER_BYTES];
		memcpy(current, owner.nonce, MARKER_BYTES);
		memcpy(owner.nonce, nonce.at, MARKER_BYTES); /* so that the stale one, and only it, reads this */
		link_refuse(frame->seq, REFUSED_EPOCH, "A newer owner has taken this sandbox over.");
		memcpy(owner.nonce, current, MARKER_BYTES);
		return true;
	}
	memcpy(owner.nonce, nonce.at, MARKER_BYTES);
	owner.epoch = frame->epoch;
	owner.known = true;
	bool same = agent.known && agent.uid == next.uid && agent.gid == next.gid && strcmp(agent.workdir, next.workdir) == 0;
	agent = next;
	out.from = out.to = 0; /* what the former owner did not read is not for this one */
	request_forget();
	result_stop();
	if (!same)
		shell_forget(true);
	if (!rights_can_be_dropped()) {
		link_refuse(frame->seq, REFUSED_FAILED, "The warden needs CAP_SETPCAP, CAP_SETUID, CAP_SETGID and CAP_KILL to run as this user.");
		return true;
	}
	uint8_t facts[20];
	struct writer to = { facts, sizeof facts, false };
	write_int(&to, VERSION, 4);
	write_int(&to, (uint64_t)getpid(), 4);
	write_int(&to, result_seq(), 4);
	write_int(&to, run_busy() ? run_seq() : 0, 4);
	write_int(&to, owner.bad, 4);
	link_send(&(struct frame){ .type = READY, .seq = frame->seq, .payload = { facts, sizeof facts } });
	return true;
}

static void take_frame(const struct frame *frame)
{
	if (frame->type == HELLO) {
		if (!take_hello(frame))
			owner.bad++;
	} else if (!agent.known || frame->epoch != owner.epoch) {
		owner.bad++;
	} else {
		request_frame(frame);
	}
}

static void consume(size_t used)
{
	in.len -= used;
	if (in.len > 0)
		memmove(in.bytes, in.bytes + used, in.len);
}

static void parse(void)
{
	/* handled frames are cut off at the end only: their payloads point into the buffer */
	size_t done = 0;
	for (;;) {
		struct frame frame;
		size_t used;
		struct span rest = { in.bytes + done, in.len - done };
		bool found = rest.len > 0 && frame_find(rest, owner.known ? owner.nonce : NULL, &frame, &used, &owner.bad);
		if (rest.len > 0)
			done += used;
		if (!found)
			break;
		take_frame(&frame);
	}
	consume(done);
}

static void on_readable(void *arg)
{
	(void)arg;
	ssize_t got = read(STDIN_FILENO, in.bytes + in.len, sizeof in.bytes - in.len);
	in.last_ns = now_ns();
	if (got > 0) {
		in.closed = false;
		in.len += (size_t)got;
		parse();
	} else if (got == 0 || (errno != EAGAIN && errno != EINTR)) {
		in.closed = true; /* looked at again from time to time: a new writer may come */
	}
}

static void flush(void)
{
	while (out.from < out.to) {
		ssize_t put = write(STDOUT_FILENO, out.bytes + out.from, out.to - out.from);
		if (put < 0 && errno == EINTR)
			continue;
		if (put < 0) {
			if (errno != EAGAIN)
				out.closed = true;
			break;
		}
		out.closed = false;
		out.from += (size_t)put;
	}
	if (out.from == out.to || out.closed)
		out.from = out.to = 0;
}

static void on_writable(void *arg)
{
	(void)arg;
	flush();
}

void link_open(void)
{
	for (int fd = 0; fd < 2; fd++) {
		int flags = fcntl(fd, F_GETFL);
		if (flags >= 0)
			fcntl(fd, F_SETFL, flags | O_NONBLOCK);
	}
}

void link_watch(void)
{
	if (in.closed)
		wake_at(in.last_ns + CLOSED_NS);
	else
		watch(STDIN_FILENO, POLLIN, on_readable, NULL);
	if (in.len > 0)
		wake_at(in.last_ns + STALL_NS);
	if (out.from < out.to)
		watch(STDOUT_FILENO, POLLOUT, on_writable, NULL);
}

void link_tick(int64_t now)
{
	if (in.closed && now >= in.last_ns + CLOSED_NS)
		on_readable(NULL);
	if (in.len == 0 || now < in.last_ns + STALL_NS)
		return;
	in.last_ns = now;
	struct frame frame;
	size_t used;
	if (frame_find_hello((struct span){ in.bytes, in.len }, &frame, &used) && (!owner.known || frame.epoch > owner.epoch)) {
		take_frame(&frame);
		consume(used);
		parse();
	}
}

size_t link_space(void)
{
	if (out.from > 0) {
		memmove(out.bytes, out.bytes + out.from, out.to - out.from);
		out.to -= out.from;
		out.from = 0;
	}
	size_t space = sizeof out.bytes - out.to;
	return space > HEADER_BYTES ? space - HEADER_BYTES : 0;
}

bool link_idle(void)
{
	return out.from == out.to;
}

/* Queues one frame under the owner's nonce and epoch and writes what the stream takes; false when there is no room. */
bool link_send(const struct frame *frame)
{
	if (link_space() < frame->payload.len)
		return false;
	struct frame ours = *frame;
	ours.epoch = owner.epoch;
	frame_header(out.bytes + out.to, owner.nonce, &ours);
	if (ours.payload.len > 0)
		memcpy(out.bytes + out.to + HEADER_BYTES, ours.payload.at, ours.payload.len);
	out.to += HEADER_BYTES + ours.payload.len;
	flush();
	return true;
}

void link_refuse(uint32_t seq, enum refusal code, const char *sentence)
{
	uint8_t payload[256];
	struct writer to = { payload, sizeof payload, false };
	write_int(&to, code, 1);
	size_t len = strlen(sentence);
	write_span(&to, (struct span){ (const uint8_t *)sentence, len < to.left ? len : to.left });
	link_send(&(struct frame){ .type = REFUSED, .seq = seq, .payload = { payload, (size_t)(to.at - payload) } });
}
