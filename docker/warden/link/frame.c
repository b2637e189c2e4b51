/* Finds frames in a stream that may hold anything: two writers interleaved, torn frames, noise. Pure; does no I/O.
   After a bad frame the search goes on one byte further, so a false length can hide nothing. */
#include "warden.h"
#include <string.h>

const uint8_t hello_marker[MARKER_BYTES] = { 0x9e, 'a', 's', 's', 'a', 'y', 'w', 0x01 };

enum verdict { BAD, SHORT, WHOLE };

static enum verdict frame_at(struct span bytes, const uint8_t *nonce, struct frame *found)
{
	size_t known = bytes.len < MARKER_BYTES ? bytes.len : MARKER_BYTES;
	bool hello = memcmp(bytes.at, hello_marker, known) == 0;
	if (!hello && (nonce == NULL || memcmp(bytes.at, nonce, known) != 0))
		return BAD;
	if (bytes.len < HEADER_BYTES)
		return SHORT;
	struct reader header = { bytes.at + MARKER_BYTES, HEADER_BYTES - MARKER_BYTES, false };
	found->type = (uint8_t)read_int(&header, 1);
	found->flags = (uint8_t)read_int(&header, 1);
	found->cell = (uint16_t)read_int(&header, 2);
	found->epoch = (uint32_t)read_int(&header, 4);
	found->seq = (uint32_t)read_int(&header, 4);
	found->offset = read_int(&header, 8);
	uint32_t length = (uint32_t)read_int(&header, 4);
	uint32_t payload_crc = (uint32_t)read_int(&header, 4);
	uint32_t header_crc = (uint32_t)read_int(&header, 4);
	if (header_crc != crc32_of((struct span){ bytes.at, HEADER_BYTES - 4 }))
		return BAD;
	if (length > PAYLOAD_BYTES || found->cell != 0 || (found->flags & ~FLAG_MORE) != 0 || hello != (found->type == HELLO))
		return BAD;
	if (bytes.len - HEADER_BYTES < length)
		return SHORT;
	found->payload = (struct span){ bytes.at + HEADER_BYTES, length };
	return payload_crc == crc32_of(found->payload) ? WHOLE : BAD;
}

void frame_header(uint8_t header[HEADER_BYTES], const uint8_t marker[MARKER_BYTES], const struct frame *frame)
{
	struct writer to = { header, HEADER_BYTES, false };
	write_span(&to, (struct span){ marker, MARKER_BYTES });
	write_int(&to, frame->type, 1);
	write_int(&to, frame->flags, 1);
	write_int(&to, frame->cell, 2);
	write_int(&to, frame->epoch, 4);
	write_int(&to, frame->seq, 4);
	write_int(&to, frame->offset, 8);
	write_int(&to, frame->payload.len, 4);
	write_int(&to, crc32_of(frame->payload), 4);
	write_int(&to, crc32_of((struct span){ header, HEADER_BYTES - 4 }), 4);
}

/* True: found is the first whole frame. Either way *used bytes need not be kept (after a true: up to the frame's end). */
bool frame_find(struct span bytes, const uint8_t *nonce, struct frame *found, size_t *used, uint32_t *bad)
{
	for (size_t at = 0; at < bytes.len; at++) {
		enum verdict verdict = frame_at((struct span){ bytes.at + at, bytes.len - at }, nonce, found);
		if (verdict == SHORT) {
			*used = at;
			return false;
		}
		if (verdict == WHOLE) {
			*used = at + HEADER_BYTES + found->payload.len;
			return true;
		}
		if (at == 0)
			*bad += 1;
	}
	*used = bytes.len;
	return false;
}

/* A whole hello anywhere, also inside what looks like an unfinished frame: its writer may be gone for ever. */
bool frame_find_hello(struct span bytes, struct frame *found, size_t *used)
{
	for (size_t at = 0; at + HEADER_BYTES <= bytes.len; at++) {
		if (bytes.at[at] != hello_marker[0])
			continue;
		if (frame_at((struct span){ bytes.at + at, bytes.len - at }, NULL, found) == WHOLE) {
			*used = at + HEADER_BYTES + found->payload.len;
			return true;
		}
	}
	return false;
}
