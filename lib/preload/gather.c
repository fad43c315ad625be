/* SPDX-License-Identifier: MIT */
#include "preload/gather.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "preload/journal.h"

enum { LIST = (2 * TR_GATHER_FILES + 1) * sizeof(char *) };

static bool begin(struct tr_gathered *files)
{
	if (files->memory)
		return true;
	files->memory = tr_journal_borrow(LIST + TR_GATHER_BYTES);
	if (!files->memory)
		return false;
	files->strings = (char **)(void *)files->memory;
	files->free = files->memory + LIST;
	files->end = files->free + TR_GATHER_BYTES;
	return true;
}

static bool is_known(const struct tr_gathered *files, const char *name, size_t len)
{
	for (size_t i = 0; i < files->count; i += 2)
		if (strncmp(files->strings[i], name, len) == 0 && !files->strings[i][len])
			return true;
	return false;
}

/* Reads a file as a string into the free memory. False: it is no regular file, or too long. */
static bool read_file(struct tr_gathered *files, const char *path)
{
	struct stat64 st;
	long fd = tr_journal_syscall(SYS_openat, AT_FDCWD, path,
				     O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0);
	bool good = fd >= 0 && fstat64((int)fd, &st) == 0 && S_ISREG(st.st_mode);
	size_t room = (size_t)(files->end - files->free), len = 0;

	for (long n = 1; good && n; len += (size_t)n) {
		n = tr_journal_syscall(SYS_read, (int)fd, files->free + len, room - len);
		good = n >= 0 && len + (size_t)n < room;
		if (!good)
			break;
	}
	if (fd >= 0)
		tr_journal_syscall(SYS_close, (int)fd);
	if (!good || memchr(files->free, '\0', len))
		return false;
	files->free[len] = '\0';
	return true;
}

/* Adds a file, but none that is a descriptor of the program: reading that could take its input. */
static void add(struct tr_gathered *files, const char *name, size_t len)
{
	if (!len || !begin(files) || files->count == 2 * TR_GATHER_FILES ||
	    is_known(files, name, len) || len >= (size_t)(files->end - files->free) ||
	    strncmp(name, "/dev/", 5) == 0 || strncmp(name, "/proc/", 6) == 0)
		return;
	char *copy = files->free;
	memcpy(copy, name, len);
	copy[len] = '\0';
	files->free += len + 1;
	if (!read_file(files, copy)) {
		files->free = copy;
		return;
	}
	files->strings[files->count++] = copy;
	files->strings[files->count++] = files->free;
	files->free += strlen(files->free) + 1;
}

/* Adds the files that a response file names, unless the name contains an escape. */
static void add_nested(struct tr_gathered *files, const char *content)
{
	static const char blanks[] = " \t\r\n\v\f";

	for (const char *p = content; (p = strchr(p, '@')) != NULL; p++) {
		bool quoted = p > content && (p[-1] == '"' || p[-1] == '\'');
		const char *before = p - quoted;
		if (before > content && !strchr(blanks, before[-1]))
			continue;
		const char stop[] = { quoted ? p[-1] : ' ', '\n', '\r', quoted ? '\n' : '\t',
				      '\0' };
		size_t len = 0;
		while (!strchr(stop, p[1 + len])) /* the NUL is in it, too */
			len++;
		add(files, p + 1, len);
	}
}

void tr_gather(struct tr_gathered *files, char *const *argv)
{
	int saved = errno;

	for (char *const *p = argv; p && *p && *++p;)
		if (**p == '@')
			add(files, *p + 1, strlen(*p + 1));
	for (size_t i = 1; i < files->count; i += 2)
		add_nested(files, files->strings[i]);
	if (!files->count)
		tr_gather_end(files);
	errno = saved;
}

void tr_gather_end(struct tr_gathered *files)
{
	tr_journal_return(files->memory, LIST + TR_GATHER_BYTES);
	*files = (struct tr_gathered){ 0 };
}
