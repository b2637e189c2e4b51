/* Writes what the server sends: each entry takes the place of a file or symlink of that name, never written through. */
#include "warden.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DEPTH 128

static void must(bool done, const char *path)
{
	if (!done)
		finish(errno == ENOSPC || errno == EDQUOT ? END_FAILED : END_REFUSED, strerror(errno), path);
}

/* Opens the directory that is to hold path, making what is missing; *name is the last part. -1 with errno. */
static int open_parent(int root, char *path, char **name, bool make)
{
	char *slash = strrchr(path, '/');
	*name = slash == NULL ? path : slash + 1;
	if (slash == NULL)
		return open_beneath(root, "", O_RDONLY | O_DIRECTORY);
	*slash = 0;
	int parent = open_beneath(root, path, O_RDONLY | O_DIRECTORY);
	if (parent < 0 && errno == ENOENT && make) {
		char *own;
		int above = open_parent(root, path, &own, true);
		if (above >= 0) {
			if (mkdirat(above, own, 0755) == 0 || errno == EEXIST)
				parent = open_beneath(above, own, O_RDONLY | O_DIRECTORY);
			int why = errno;
			close(above);
			if (own != path)
				own[-1] = '/';
			errno = why;
		}
	}
	*slash = '/';
	return parent;
}

static bool remove_tree(int parent, const char *name, int depth)
{
	if (unlinkat(parent, name, 0) == 0 || errno == ENOENT)
		return true;
	if (errno != EISDIR && errno != EPERM)
		return false;
	if (unlinkat(parent, name, AT_REMOVEDIR) == 0)
		return true;
	if ((errno != ENOTEMPTY && errno != EEXIST) || depth == 0)
		return false;
	int dir = open_beneath(parent, name, O_RDONLY | O_DIRECTORY);
	DIR *listing = dir < 0 ? NULL : fdopendir(dir);
	if (listing == NULL)
		return false;
	bool done = true;
	for (struct dirent *entry; done && (entry = readdir(listing)) != NULL;)
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			done = remove_tree(dir, entry->d_name, depth - 1);
	int why = errno;
	closedir(listing);
	errno = why;
	return done && unlinkat(parent, name, AT_REMOVEDIR) == 0;
}

/* Through a new file beside it, so that what was there stays whole until the new is. */
static void put_file(int parent, const char *name, mode_t mode, struct span data)
{
	char fresh[64];
	snprintf(fresh, sizeof fresh, ".assay-put-%d", (int)getpid());
	unlinkat(parent, fresh, 0);
	int fd = openat(parent, fresh, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	must(fd >= 0, name);
	for (struct span rest = data; rest.len > 0;) {
		ssize_t put = write(fd, rest.at, rest.len);
		if (put < 0 && errno == EINTR)
			continue;
		if (put <= 0) {
			int why = errno;
			unlinkat(parent, fresh, 0);
			errno = why;
			must(false, name);
		}
		rest.at += put;
		rest.len -= (size_t)put;
	}
	bool done = fchmod(fd, mode) == 0 && close(fd) == 0 && renameat(parent, fresh, parent, name) == 0;
	if (!done) {
		int why = errno;
		unlinkat(parent, fresh, 0);
		errno = why;
		must(false, name);
	}
}

static void put_directory(int parent, const char *name, mode_t mode)
{
	struct stat facts;
	bool there = fstatat(parent, name, &facts, AT_SYMLINK_NOFOLLOW) == 0;
	if (there && !S_ISDIR(facts.st_mode))
		must(unlinkat(parent, name, 0) == 0, name);
	if (!there || !S_ISDIR(facts.st_mode))
		must(mkdirat(parent, name, 0700) == 0, name);
	int dir = open_beneath(parent, name, O_RDONLY | O_DIRECTORY);
	must(dir >= 0 && fchmod(dir, mode) == 0, name);
	close(dir);
}

static void put_symlink(int parent, const char *name, struct span data)
{
	char target[PATH_BYTES];
	if (data.len == 0 || data.len >= sizeof target || memchr(data.at, 0, data.len) != NULL)
		finish(END_REFUSED, "the symlink's target is not a path", name);
	memcpy(target, data.at, data.len);
	target[data.len] = 0;
	must(unlinkat(parent, name, 0) == 0 || errno == ENOENT, name);
	must(symlinkat(target, parent, name) == 0, name);
}

void put_records(int root, struct request *request)
{
	struct reader *from = &request->records;
	while (from->left > 0) {
		unsigned type = (unsigned)read_int(from, 2);
		mode_t mode = (mode_t)read_int(from, 2) & 0777;
		size_t path_len = read_int(from, 4), data_len = read_int(from, 8);
		struct span path = read_span(from, path_len), data = read_span(from, data_len);
		char own[PATH_BYTES], *name;
		if (from->bad || !path_is_plain(path))
			finish(END_REFUSED, "an entry of the request is malformed", NULL);
		memcpy(own, path.at, path.len);
		own[path.len] = 0;
		int parent = open_parent(root, own, &name, type != RECORD_ABSENT);
		if (parent < 0 && type == RECORD_ABSENT && (errno == ENOENT || errno == ENOTDIR))
			continue;
		must(parent >= 0, own);
		if (type == RECORD_FILE)
			put_file(parent, name, mode, data);
		else if (type == RECORD_DIRECTORY)
			put_directory(parent, name, mode);
		else if (type == RECORD_SYMLINK)
			put_symlink(parent, name, data);
		else if (type == RECORD_ABSENT)
			must(remove_tree(parent, name, DEPTH), own);
		else
			finish(END_REFUSED, "an entry has a type that cannot be put", own);
		close(parent);
	}
}
