/* Little-endian fields with bounds: reading past the end gives zeros and sets bad, writing past the end sets bad. */
#include "warden.h"
#include <string.h>

uint64_t read_int(struct reader *from, unsigned bytes)
{
	struct span field = read_span(from, bytes);
	uint64_t value = 0;
	for (unsigned i = 0; i < bytes && field.at != NULL; i++)
		value |= (uint64_t)field.at[i] << (8 * i);
	return value;
}

struct span read_span(struct reader *from, size_t len)
{
	if (from->bad || len > from->left) {
		from->bad = true;
		return (struct span){ NULL, 0 };
	}
	struct span field = { from->at, len };
	from->at += len;
	from->left -= len;
	return field;
}

void write_int(struct writer *to, uint64_t value, unsigned bytes)
{
	uint8_t field[8];
	for (unsigned i = 0; i < bytes; i++)
		field[i] = (uint8_t)(value >> (8 * i));
	write_span(to, (struct span){ field, bytes });
}

void write_span(struct writer *to, struct span bytes)
{
	if (to->bad || bytes.len > to->left) {
		to->bad = true;
		return;
	}
	if (bytes.len > 0)
		memcpy(to->at, bytes.at, bytes.len);
	to->at += bytes.len;
	to->left -= bytes.len;
}

struct span text(const char *sentence)
{
	return (struct span){ (const uint8_t *)sentence, strlen(sentence) };
}

/* The CRC of zlib and Ethernet (reflected, polynomial 0xEDB88320). */
uint32_t crc32_of(struct span bytes)
{
	static uint32_t table[256];
	if (table[1] == 0)
		for (uint32_t i = 0; i < 256; i++) {
			uint32_t crc = i;
			for (int bit = 0; bit < 8; bit++)
				crc = (crc >> 1) ^ ((crc & 1) ? 0xEDB88320u : 0);
			table[i] = crc;
		}
	uint32_t crc = ~0u;
	for (size_t i = 0; i < bytes.len; i++)
		crc = (crc >> 8) ^ table[(crc ^ bytes.at[i]) & 0xff];
	return ~crc;
}
