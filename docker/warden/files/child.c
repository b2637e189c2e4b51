/* The child's side: opens the root, does one operation, writes records. It has the agent's rights and no more.
   record: type 2 · mode 2 · path length 4 · data length 8 · path · data; the last is RECORD_END. */
#include "warden.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static struct { int fd; size_t len; uint8_t bytes[CHUNK_BYTES]; } to;

static void flush_records(void)
{
	for (size_t at = 0; at < to.len;) {
		ssize_t put = write(to.fd, to.bytes + at, to.len - at);
		if (put < 0 && errno != EINTR)
			_exit(1);
		at += put > 0 ? (size_t)put : 0;
	}
	to.len = 0;
}

static void put_bytes(struct span bytes)
{
	while (bytes.len > 0) {
		size_t room = sizeof to.bytes - to.len, run = bytes.len < room ? bytes.len : room;
		memcpy(to.bytes + to.len, bytes.at, run);
		to.len += run;
		bytes.at += run;
		bytes.len -= run;
		if (to.len == sizeof to.bytes)
			flush_records();
	}
}

void record(enum record type, mode_t mode, struct span path, struct span data)
{
	uint8_t header[16];
	struct writer writer = { header, sizeof header, false };
	write_int(&writer, type, 2);
	write_int(&writer, mode, 2);
	write_int(&writer, path.len, 4);
	write_int(&writer, data.len, 8);
	put_bytes((struct span){ header, sizeof header });
	put_bytes(path);
	put_bytes(data);
}

_Noreturn void finish(int status, const char *sentence, const char *path)
{
	char words[512];
	int len = path == NULL ? snprintf(words, sizeof words, "%s", sentence) : snprintf(words, sizeof words, "%.300s: %s", path, sentence);
	size_t kept = len < 0 ? 0 : (size_t)len < sizeof words ? (size_t)len : sizeof words - 1;
	record(RECORD_END, (mode_t)status, text(""), (struct span){ (uint8_t *)words, kept });
	flush_records();
	_exit(0);
}

/* Opens a path below dir that passes no symlink, or "" for dir itself. Never blocks on a FIFO or device. */
int open_beneath(int dir, const char *path, int flags)
{
	struct open_how how = { .flags = (uint64_t)flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY };
	how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
	return (int)syscall(SYS_openat2, dir, path[0] == 0 ? "." : path, &how, sizeof how);
}

bool path_is_plain(struct span path)
{
	if (path.len == 0 || path.len >= PATH_BYTES || memchr(path.at, 0, path.len) != NULL)
		return false;
	for (size_t at = 0; at <= path.len;) {
		const uint8_t *slash = at == path.len ? NULL : memchr(path.at + at, '/', path.len - at);
		size_t len = slash == NULL ? path.len - at : (size_t)(slash - path.at) - at;
		if (len == 0 || (len == 1 && path.at[at] == '.') || (len == 2 && path.at[at] == '.' && path.at[at + 1] == '.'))
			return false;
		at += len + 1;
	}
	return true;
}

/* The root is the server's choice, so symlinks on its way (as /var/run) are followed, with the agent's rights. */
static int open_root(struct request *request)
{
	struct open_how how = { .flags = O_DIRECTORY | O_CLOEXEC | O_RDONLY, .resolve = RESOLVE_NO_MAGICLINKS };
	if (request->type == PUT)
		for (char *at = request->root + 1;; at++) {
			if (*at != '/' && *at != 0)
				continue;
			char held = *at;
			*at = 0;
			mkdir(request->root, 0755); /* whether it is there is seen below */
			*at = held;
			if (held == 0)
				break;
		}
	return (int)syscall(SYS_openat2, AT_FDCWD, request->root, &how, sizeof how);
}

_Noreturn void files_child(int fd, struct request *request)
{
	to.fd = fd;
	umask(0);
	int root = open_root(request);
	if (root < 0)
		finish(END_REFUSED, strerror(errno), request->root);
	if (request->type == PUT)
		put_records(root, request);
	else if (request->type == GET)
		get_records(root, request);
	else
		manifest_records(root, request);
	finish(END_OK, "", NULL);
}
