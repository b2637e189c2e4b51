/* Reads files back: chosen ones with their bytes, or a whole tree with hashes. Regular files and symlinks only. */
#include "warden.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#define DEPTH 64 /* as the server's own rule */

struct walk { struct request *request; char path[PATH_BYTES]; size_t len; uint32_t entries; uint64_t bytes; };
static uint8_t buffer[CHUNK_BYTES];

static struct span nothing(void)
{
	return (struct span){ NULL, 0 };
}

/* Files of the kernel's own are not the agent's work, and reading them can do things. */
static bool is_kernel_file(int fd)
{
	struct statfs facts;
	if (fstatfs(fd, &facts) != 0)
		return true;
	return facts.f_type == PROC_SUPER_MAGIC || facts.f_type == SYSFS_MAGIC || facts.f_type == CGROUP_SUPER_MAGIC
		|| facts.f_type == CGROUP2_SUPER_MAGIC || facts.f_type == DEBUGFS_MAGIC || facts.f_type == TRACEFS_MAGIC;
}

static void get_symlink(int parent, const char *name, struct span path)
{
	char target[PATH_BYTES];
	ssize_t len = readlinkat(parent, name, target, sizeof target);
	if (len > 0 && (size_t)len < sizeof target)
		record(RECORD_SYMLINK, 0777, path, (struct span){ (uint8_t *)target, (size_t)len });
}

static uint64_t get_file(int fd, mode_t mode, struct span path, uint64_t left)
{
	uint64_t taken = 0;
	record(RECORD_FILE, mode & 0777, path, nothing());
	for (;;) {
		ssize_t got = read(fd, buffer, sizeof buffer);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			finish(END_FAILED, strerror(errno), (const char *)path.at);
		if (got == 0)
			return taken;
		taken += (uint64_t)got;
		if (taken > left)
			finish(END_REFUSED, "the files are larger than asked for", NULL);
		record(RECORD_DATA, 0, nothing(), (struct span){ buffer, (size_t)got });
	}
}

void get_records(int root, struct request *request)
{
	struct reader *from = &request->records;
	uint64_t left = request->max_bytes;
	while (from->left > 0) {
		struct span path = read_span(from, read_int(from, 2));
		char own[PATH_BYTES];
		struct stat facts;
		if (from->bad || !path_is_plain(path))
			finish(END_REFUSED, "a path of the request is malformed", NULL);
		memcpy(own, path.at, path.len);
		own[path.len] = 0;
		char *slash = strrchr(own, '/');
		if (slash != NULL)
			*slash = 0;
		int parent = open_beneath(root, slash == NULL ? "" : own, O_RDONLY | O_DIRECTORY);
		const char *name = slash == NULL ? own : slash + 1;
		if (parent >= 0 && fstatat(parent, name, &facts, AT_SYMLINK_NOFOLLOW) == 0) {
			int fd = S_ISREG(facts.st_mode) ? open_beneath(parent, name, O_RDONLY) : -1;
			if (S_ISLNK(facts.st_mode))
				get_symlink(parent, name, path);
			else if (fd >= 0 && fstat(fd, &facts) == 0 && S_ISREG(facts.st_mode) && !is_kernel_file(fd))
				left -= get_file(fd, facts.st_mode, path, left);
			if (fd >= 0)
				close(fd);
		}
		if (parent >= 0)
			close(parent);
	}
}

static const char *odd(int fd, const struct stat *facts)
{
	char names[1024];
	if (!S_ISDIR(facts->st_mode) && facts->st_nlink > 1)
		return "hardlink";
	if (!S_ISDIR(facts->st_mode) && (facts->st_mode & (S_ISUID | S_ISGID | S_ISVTX)) != 0)
		return "setuid, setgid or sticky file";
	ssize_t len = flistxattr(fd, names, sizeof names);
	if (len < 0)
		return errno == ERANGE ? "file with extended attributes" : NULL;
	for (ssize_t at = 0; at < len; at += (ssize_t)strlen(names + at) + 1)
		if (strcmp(names + at, "security.selinux") != 0) /* the host's labels, on everything */
			return "file with extended attributes";
	return NULL;
}

static void hash(int fd, const struct stat *facts, struct walk *walk)
{
	struct sha256 sum;
	uint8_t data[40];
	uint64_t size = 0;
	sha256_init(&sum);
	for (;;) {
		ssize_t got = read(fd, buffer, sizeof buffer);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			finish(END_FAILED, strerror(errno), walk->path);
		if (got == 0)
			break;
		size += (uint64_t)got;
		walk->bytes += (uint64_t)got;
		if (walk->bytes > walk->request->max_bytes)
			finish(END_REFUSED, "the files below the root are larger than a manifest may cover", NULL);
		sha256_add(&sum, (struct span){ buffer, (size_t)got });
	}
	struct writer to = { data, sizeof data, false };
	write_int(&to, size, 8);
	sha256_end(&sum, data + 8);
	record(RECORD_HASH, facts->st_mode & 0777, (struct span){ (uint8_t *)walk->path, walk->len }, (struct span){ data, sizeof data });
}

static const char *kind(mode_t mode)
{
	return S_ISFIFO(mode) ? "FIFO" : S_ISSOCK(mode) ? "socket" : S_ISCHR(mode) || S_ISBLK(mode) ? "device" : "special file";
}

static void walk_directory(int dir, int depth, struct walk *walk);

static void walk_entry(int parent, const char *name, int depth, struct walk *walk)
{
	struct stat facts;
	struct span path = { (uint8_t *)walk->path, walk->len };
	if (fstatat(parent, name, &facts, AT_SYMLINK_NOFOLLOW) != 0)
		return; /* gone again */
	if (S_ISLNK(facts.st_mode)) {
		get_symlink(parent, name, path);
		return;
	}
	bool directory = S_ISDIR(facts.st_mode);
	if (!directory && !S_ISREG(facts.st_mode)) {
		record(RECORD_OTHER, 0, path, text(kind(facts.st_mode)));
		return;
	}
	dev_t device = facts.st_dev;
	struct stat above;
	if (directory && fstat(parent, &above) == 0 && above.st_dev != device) {
		record(RECORD_OTHER, 0, path, text("mount point"));
		return;
	}
	int fd = open_beneath(parent, name, O_RDONLY | (directory ? O_DIRECTORY : 0));
	if (fd < 0 || fstat(fd, &facts) != 0 || S_ISDIR(facts.st_mode) != directory || (!directory && !S_ISREG(facts.st_mode))) {
		record(RECORD_OTHER, 0, path, text("unreadable file"));
	} else {
		const char *what = is_kernel_file(fd) ? "file of the kernel" : odd(fd, &facts);
		if (what != NULL)
			record(RECORD_OTHER, 0, path, text(what));
		else if (directory)
			record(RECORD_DIRECTORY, facts.st_mode & 0777, path, nothing());
		else
			hash(fd, &facts, walk);
		if (directory)
			walk_directory(fd, depth + 1, walk);
	}
	if (fd >= 0)
		close(fd);
}

static void walk_directory(int dir, int depth, struct walk *walk)
{
	if (depth > DEPTH)
		finish(END_REFUSED, "directories are nested deeper than 64", walk->path);
	int own = open_beneath(dir, "", O_RDONLY | O_DIRECTORY);
	DIR *listing = own < 0 ? NULL : fdopendir(own);
	if (listing == NULL)
		finish(END_FAILED, strerror(errno), walk->path);
	size_t len = walk->len;
	for (struct dirent *entry; (entry = readdir(listing)) != NULL;) {
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		if (++walk->entries > walk->request->max_entries)
			finish(END_REFUSED, "there are more files below the root than a manifest may list", NULL);
		int more = snprintf(walk->path + len, sizeof walk->path - len, "%s%s", len == 0 ? "" : "/", entry->d_name);
		if (more < 0 || (size_t)more >= sizeof walk->path - len)
			finish(END_REFUSED, "a path below the root is too long", NULL);
		walk->len = len + (size_t)more;
		walk_entry(dir, entry->d_name, depth, walk);
	}
	walk->len = len;
	walk->path[len] = 0;
	closedir(listing);
}

void manifest_records(int root, struct request *request)
{
	static struct walk walk;
	walk.request = request;
	walk_directory(root, 1, &walk);
}
