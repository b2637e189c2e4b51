/* One stream of a command under a cap: the first half of it and the last, with what lay between counted.
   A stream that a background process still holds is read to nowhere, so that its writer neither dies nor blocks. */
#include "warden.h"
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SINKS 256
#define SINK_PAUSE_NS 20000000ll

static struct { int fd; int64_t muted_until; } sinks[SINKS];
static int sink_count;
uint32_t streaming_seq; /* 0: output is not streamed */

void capture_open(struct capture *it, int fd, size_t cap, uint8_t stream_type)
{
	if (cap < 2)
		cap = 2;
	if (cap > OUTPUT_BYTES)
		cap = OUTPUT_BYTES;
	*it = (struct capture){ .fd = fd, .cap = cap, .type = stream_type };
	it->bytes = malloc(cap); /* pages are used as they are written */
	if (it->bytes == NULL)
		it->cap = 0;
}

static void keep(struct capture *it, struct span bytes)
{
	it->total += bytes.len;
	size_t half = it->cap / 2, to_head = half - it->head;
	if (to_head > bytes.len)
		to_head = bytes.len;
	memcpy(it->bytes + it->head, bytes.at, to_head);
	it->head += to_head;
	bytes.at += to_head;
	bytes.len -= to_head;
	size_t ring = it->cap - half;
	if (bytes.len > ring) {
		bytes.at += bytes.len - ring;
		bytes.len = ring;
	}
	while (bytes.len > 0) {
		size_t run = ring - it->tail_at < bytes.len ? ring - it->tail_at : bytes.len;
		memcpy(it->bytes + half + it->tail_at, bytes.at, run);
		it->tail_at = (it->tail_at + run) % ring;
		it->tail = it->tail + run > ring ? ring : it->tail + run;
		bytes.at += run;
		bytes.len -= run;
	}
}

static void stream(struct capture *it, struct span bytes)
{
	if (streaming_seq == 0 || it->total >= it->cap || link_space() < 2 * CHUNK_BYTES)
		return;
	/* a reader that is too slow loses these, never the result */
	link_send(&(struct frame){ .type = it->type, .seq = streaming_seq, .offset = it->total, .payload = bytes });
}

/* Reads what is there, at most about `most` bytes; closes the stream at its end. */
void capture_drain(struct capture *it, size_t most)
{
	static uint8_t buffer[CHUNK_BYTES];
	for (size_t taken = 0; it->fd >= 0 && taken < most;) {
		ssize_t got = read(it->fd, buffer, sizeof buffer);
		if (got > 0) {
			struct span bytes = { buffer, (size_t)got };
			stream(it, bytes);
			if (it->cap > 0)
				keep(it, bytes);
			else
				it->total += bytes.len;
			taken += bytes.len;
		} else if (got == 0 || errno != EINTR) {
			if (got < 0 && errno == EAGAIN)
				return;
			close(it->fd);
			it->fd = -1;
		}
	}
}

static void on_readable(void *arg)
{
	capture_drain(arg, CHUNK_BYTES);
}

void capture_watch(struct capture *it)
{
	if (it->fd >= 0)
		watch(it->fd, POLLIN, on_readable, it);
}

size_t capture_kept(const struct capture *it)
{
	return it->head + it->tail;
}

void capture_write(const struct capture *it, struct writer *to)
{
	if (it->cap == 0)
		return;
	size_t half = it->cap / 2, ring = it->cap - half;
	size_t first = it->tail < ring ? 0 : it->tail_at;
	write_span(to, (struct span){ it->bytes, it->head });
	size_t run = it->tail - first;
	write_span(to, (struct span){ it->bytes + half + first, run });
	write_span(to, (struct span){ it->bytes + half, it->tail - run });
}

static void become_sink(int fd)
{
	if (sink_count == SINKS) {
		close(sinks[0].fd);
		sinks[0] = sinks[--sink_count];
	}
	sinks[sink_count].fd = fd;
	sinks[sink_count++].muted_until = 0;
}

void capture_close(struct capture *it)
{
	if (it->fd >= 0)
		become_sink(it->fd);
	free(it->bytes);
	*it = (struct capture){ .fd = -1 };
}

static void on_sink(void *arg)
{
	static uint8_t nowhere[CHUNK_BYTES];
	int fd = (int)(intptr_t)arg, at = 0;
	while (at < sink_count && sinks[at].fd != fd)
		at++;
	if (at == sink_count)
		return;
	ssize_t got = read(fd, nowhere, sizeof nowhere);
	if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)) {
		close(fd);
		sinks[at] = sinks[--sink_count];
	} else {
		sinks[at].muted_until = now_ns() + SINK_PAUSE_NS; /* a flood in the background must not keep us busy */
	}
}

void sinks_watch(void)
{
	int64_t now = sink_count > 0 ? now_ns() : 0;
	for (int i = 0; i < sink_count; i++) {
		if (sinks[i].muted_until > now)
			wake_at(sinks[i].muted_until);
		else
			watch(sinks[i].fd, POLLIN, on_sink, (void *)(intptr_t)sinks[i].fd);
	}
}
