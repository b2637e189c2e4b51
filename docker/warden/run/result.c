/* The last result, kept until the next command starts: it is sent again when its seq is asked for again. */
#include "warden.h"
#include <stdlib.h>
#include <string.h>

static struct { uint32_t seq; uint8_t *bytes; size_t len, sent; bool sending; } last;

static const struct { int news; const char *sentence; } warnings[] = {
	{ STATE_CWD_GONE, "The working directory no longer existed, so the command ran in the task's." },
	{ STATE_TOO_LARGE, "The variables and functions are larger than 1 MiB and were not carried over." },
	{ STATE_VARIABLE_TOO_LARGE, "A variable larger than 128 KiB is kept for the next command but no longer exported." },
};
#define WARNINGS (sizeof warnings / sizeof warnings[0])

static uint64_t micros(struct timeval time)
{
	return (uint64_t)time.tv_sec * 1000000u + (uint64_t)time.tv_usec;
}

static void hold(uint32_t seq, uint8_t *bytes, size_t len)
{
	free(last.bytes);
	last.seq = seq;
	last.bytes = bytes;
	last.len = len;
	last.sending = false;
}

/* kind 1 · code 1 · oom 1 · warnings 1 · took us 8 · user us 8 · system us 8 · peak KiB 8 · cwd len 2, then per stream
   kept 4 · head 4 · dropped 8; then cwd, each warning with len 2, stdout, stderr. */
void result_set(uint32_t seq, const struct ending *ending, struct capture streams[2])
{
	struct span cwd = text(state_cwd());
	size_t size = 38 + 2 * 16 + cwd.len + WARNINGS * 256 + capture_kept(&streams[0]) + capture_kept(&streams[1]);
	uint8_t *bytes = malloc(size), count = 0;
	for (size_t i = 0; i < WARNINGS; i++)
		count += (ending->news & warnings[i].news) != 0;
	struct writer to = { bytes, bytes == NULL ? 0 : size, false };
	write_int(&to, ending->kind, 1);
	write_int(&to, ending->code, 1);
	write_int(&to, ending->oom_killed, 1);
	write_int(&to, count, 1);
	write_int(&to, (uint64_t)ending->took_ns / 1000u, 8);
	write_int(&to, micros(ending->usage.ru_utime), 8);
	write_int(&to, micros(ending->usage.ru_stime), 8);
	write_int(&to, (uint64_t)ending->usage.ru_maxrss, 8);
	write_int(&to, cwd.len, 2);
	for (int i = 0; i < 2; i++) {
		write_int(&to, capture_kept(&streams[i]), 4);
		write_int(&to, streams[i].head, 4);
		write_int(&to, streams[i].total - capture_kept(&streams[i]), 8);
	}
	write_span(&to, cwd);
	for (size_t i = 0; i < WARNINGS; i++) {
		if ((ending->news & warnings[i].news) == 0)
			continue;
		write_int(&to, strlen(warnings[i].sentence), 2);
		write_span(&to, text(warnings[i].sentence));
	}
	capture_write(&streams[0], &to);
	capture_write(&streams[1], &to);
	if (to.bad) {
		free(bytes);
		bytes = NULL;
	}
	hold(seq, bytes, bytes == NULL ? 0 : size - to.left);
}

/* The command could not be started: exit code 126 and a sentence on stderr, as a shell would say it. */
void result_fail(uint32_t seq, const char *sentence)
{
	struct ending ending = { .kind = 0, .code = 126 };
	struct span words = text(sentence);
	uint8_t bytes[256];
	struct capture streams[2] = { { .fd = -1 }, { .fd = -1, .bytes = bytes, .cap = sizeof bytes } };
	size_t half = sizeof bytes / 2;
	streams[1].head = words.len < half ? words.len : half;
	streams[1].tail = words.len - streams[1].head < half ? words.len - streams[1].head : half;
	memcpy(bytes, words.at, streams[1].head);
	memcpy(bytes + half, words.at + streams[1].head, streams[1].tail);
	streams[1].total = words.len;
	result_set(seq, &ending, streams);
	result_send();
}

uint32_t result_seq(void)
{
	return last.seq;
}

void result_send(void)
{
	if (last.bytes == NULL && last.seq != 0) {
		link_refuse(last.seq, REFUSED_FAILED, "There was no memory left for the result.");
		return;
	}
	last.sent = 0;
	last.sending = last.len > 0;
	result_pump();
}

void result_stop(void)
{
	last.sending = false;
}

bool result_pending(void)
{
	return last.sending;
}

/* Sends as much of the result as the stream takes now. */
void result_pump(void)
{
	while (last.sending) {
		size_t len = last.len - last.sent < CHUNK_BYTES ? last.len - last.sent : CHUNK_BYTES;
		bool more = last.sent + len < last.len;
		struct frame frame = { .type = RESULT, .flags = more ? FLAG_MORE : 0, .seq = last.seq, .offset = last.sent,
			.payload = { last.bytes + last.sent, len } };
		if (link_space() < len + RESERVE_BYTES || !link_send(&frame))
			return;
		last.sent += len;
		last.sending = more;
	}
}
