#include "config.h"

#include "core/directory.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { DIRECTORY = O_PATH | O_DIRECTORY | O_CLOEXEC };

/* Creates the directories of the path, which is changed while it does. False: errno says why. */
static bool make_all(char *path)
{
	for (char *slash = path + 1;; slash++) {
		slash += strcspn(slash, "/");
		char end = *slash;
		*slash = '\0';
		bool made = mkdir(path, 0777) == 0 || errno == EEXIST;
		*slash = end;
		if (!made || !end)
			return made;
	}
}

int tr_directory_open(const char *path, bool make, struct tr_error *err)
{
	int fd = open(path, DIRECTORY);

	if (fd < 0 && errno == ENOENT && make && *path) {
		char *copy = strdup(path);
		if (!copy) {
			tr_error_memory(err);
			return -1;
		}
		bool made = make_all(copy);
		free(copy);
		fd = made ? open(path, DIRECTORY) : -1;
	}
	if (fd < 0)
		tr_error_system(err, errno, "%s", path);
	return fd;
}

/* Enters the directory of this name, which is created where it is missing. -1: errno says why. */
static int enter(int dir, const char *name)
{
	if (strcmp(name, "..") == 0) {
		errno = EXDEV;
		return -1;
	}
	if (mkdirat(dir, name, 0777) != 0 && errno != EEXIST)
		return -1;
	return openat(dir, name, DIRECTORY | O_NOFOLLOW);
}

static bool is_link(int dir, const char *name)
{
	struct stat st;

	return fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(st.st_mode);
}

/* Reports why the component cannot be entered, and closes its directory. */
static int refuse(int dir, const char *component, int sys_errno, struct tr_error *err)
{
	if (is_link(dir, component))
		tr_error_set(err, TR_CAUSE_SYSTEM, "%s is a symbolic link, which is not followed",
			     component);
	else
		tr_error_system(err, sys_errno, "%s", component);
	close(dir);
	return -1;
}

int tr_directory_below(int root, const char *path, const char **name, struct tr_error *err)
{
	char component[NAME_MAX + 1] = "";
	int dir = fcntl(root, F_DUPFD_CLOEXEC, 0);

	if (dir < 0) {
		tr_error_system(err, errno, "%s", path);
		return -1;
	}
	for (;;) {
		path += strspn(path, "/");
		size_t len = strcspn(path, "/");
		*name = path;
		if (!path[len])
			return dir;
		if (len > NAME_MAX)
			return refuse(dir, path, ENAMETOOLONG, err);
		memcpy(component, path, len);
		component[len] = '\0';
		int next = enter(dir, component);
		if (next < 0)
			return refuse(dir, component, errno, err);
		close(dir);
		dir = next;
		path += len;
	}
}
