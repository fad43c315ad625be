/* SPDX-License-Identifier: MIT */
#include "diff/run_value.h"

#include <stdlib.h>

#define KEY(key) \
	{ \
		key, sizeof(key) - 1 \
	}
#define IS(key, value) \
	{ \
		KEY(key), TR_RUN_##value \
	}

/* Sorted, for a search. */
/* clang-format off */
static const struct tr_run_call calls[] = {
	{ KEY("accept"), { IS("return", OPENED) } },
	{ KEY("accept4"), { IS("return", OPENED) } },
	{ KEY("clock_gettime"), { IS("tp", READING) } },
	{ KEY("clock_nanosleep"), { IS("remain", READING) } },
	{ KEY("close"), { IS("fd", CLOSED) } },
	{ KEY("creat"), { IS("return", OPENED) } },
	{ KEY("dup"), { IS("return", OPENED) } },
	{ KEY("dup2"), { IS("return", OPENED) } },
	{ KEY("dup3"), { IS("return", OPENED) } },
	{ KEY("epoll_create"), { IS("return", OPENED) } },
	{ KEY("epoll_create1"), { IS("return", OPENED) } },
	{ KEY("eventfd"), { IS("return", OPENED) } },
	{ KEY("eventfd2"), { IS("return", OPENED) } },
	{ KEY("fanotify_init"), { IS("return", OPENED) } },
	{ KEY("fcntl"), { IS("return", OPENED) } },
	{ KEY("fcntl64"), { IS("return", OPENED) } },
	{ KEY("fsmount"), { IS("return", OPENED) } },
	{ KEY("fsopen"), { IS("return", OPENED) } },
	{ KEY("futex"), { IS("timeout", READING) } },
	{ KEY("futimesat"), { IS("times", READING) } },
	{ KEY("getcpu"), { IS("cpu", READING), IS("node", READING) } },
	{ KEY("getcwd"), { IS("return", READING) } },
	{ KEY("getitimer"), { IS("curr_value", READING) } },
	{ KEY("getpgid"), { IS("return", TASK) } },
	{ KEY("getpgrp"), { IS("return", TASK) } },
	{ KEY("getpid"), { IS("return", TASK) } },
	{ KEY("getppid"), { IS("return", READING) } },
	{ KEY("getrandom"), { IS("buf", READING) } },
	{ KEY("getrusage"), { IS("usage", READING) } },
	{ KEY("getsid"), { IS("return", TASK) } },
	{ KEY("gettid"), { IS("return", TASK) } },
	{ KEY("gettimeofday"), { IS("tv", READING) } },
	{ KEY("inotify_init"), { IS("return", OPENED) } },
	{ KEY("inotify_init1"), { IS("return", OPENED) } },
	{ KEY("io_uring_setup"), { IS("return", OPENED) } },
	{ KEY("memfd_create"), { IS("return", OPENED) } },
	{ KEY("memfd_secret"), { IS("return", OPENED) } },
	{ KEY("mmap"), { IS("return", MAPPED) } },
	{ KEY("mmap2"), { IS("return", MAPPED) } },
	{ KEY("mremap"), { IS("old_address", UNMAPPED), IS("return", MAPPED) } },
	{ KEY("munmap"), { IS("addr", UNMAPPED) } },
	{ KEY("nanosleep"), { IS("rem", READING) } },
	{ KEY("open"), { IS("return", OPENED) } },
	{ KEY("open_by_handle_at"), { IS("return", OPENED) } },
	{ KEY("open_tree"), { IS("return", OPENED) } },
	{ KEY("openat"), { IS("return", OPENED) } },
	{ KEY("openat2"), { IS("return", OPENED) } },
	{ KEY("perf_event_open"), { IS("return", OPENED) } },
	{ KEY("pidfd_getfd"), { IS("return", OPENED) } },
	{ KEY("pidfd_open"), { IS("return", OPENED) } },
	{ KEY("pipe"), { IS("fds", OPENED) } },
	{ KEY("pipe2"), { IS("fds", OPENED) } },
	{ KEY("poll"), { IS("info", READING) } },
	{ KEY("ppoll"), { IS("info", READING) } },
	{ KEY("pselect6"), { IS("info", READING), IS("nfds", READING) } },
	{ KEY("rt_sigreturn"), { IS("return", READING) } },
	{ KEY("select"), { IS("info", READING), IS("nfds", READING) } },
	{ KEY("set_tid_address"), { IS("return", TASK) } },
	{ KEY("setsid"), { IS("return", TASK) } },
	{ KEY("shmat"), { IS("return", MAPPED) } },
	{ KEY("signalfd"), { IS("return", OPENED) } },
	{ KEY("signalfd4"), { IS("return", OPENED) } },
	{ KEY("socket"), { IS("return", OPENED) } },
	{ KEY("socketpair"), { IS("fds", OPENED) } },
	{ KEY("statx"), { IS("tv_nsec", READING), IS("tv_sec", READING) } },
	{ KEY("sysinfo"), { IS("info", READING) } },
	{ KEY("time"), { IS("return", READING), IS("tloc", READING) } },
	{ KEY("timerfd_create"), { IS("return", OPENED) } },
	{ KEY("timerfd_gettime"), { IS("curr_value", READING) } },
	{ KEY("times"), { IS("buf", READING), IS("return", READING) } },
	{ KEY("userfaultfd"), { IS("return", OPENED) } },
	{ KEY("utime"), { IS("times", READING) } },
	{ KEY("utimensat"), { IS("times", READING) } },
	{ KEY("utimes"), { IS("times", READING) } },
	{ KEY("wait4"), { IS("return", TASK), IS("rusage", READING) } },
	{ KEY("waitid"), { IS("id", TASK), IS("rusage", READING) } },
	{ KEY("waitpid"), { IS("return", TASK) } },
};

/* Fields, and members of structures, that are the same in all calls; sorted. */
static const struct tr_run_key keys[] = {
	IS("d_ino", READING), IS("d_off", READING), IS("dirfd", DESCRIPTOR),
	IS("epfd", DESCRIPTOR), IS("exceptfds", DESCRIPTOR), IS("f_bavail", READING),
	IS("f_bfree", READING), IS("f_ffree", READING), IS("f_fsid", READING),
	IS("fanotify_fd", DESCRIPTOR), IS("fd", DESCRIPTOR), IS("fd_in", DESCRIPTOR),
	IS("fd_out", DESCRIPTOR), IS("fds", DESCRIPTOR), IS("flags", NUMBER),
	IS("from_dirfd", DESCRIPTOR), IS("group_fd", DESCRIPTOR), IS("in_fd", DESCRIPTOR),
	IS("len", NUMBER), IS("length", NUMBER), IS("mode", NUMBER), IS("mount_fd", DESCRIPTOR),
	IS("newdirfd", DESCRIPTOR), IS("newfd", DESCRIPTOR), IS("offset", NUMBER),
	IS("olddirfd", DESCRIPTOR), IS("oldfd", DESCRIPTOR), IS("out_fd", DESCRIPTOR),
	IS("pgid", TASK), IS("pid", TASK), IS("pid1", TASK), IS("pid2", TASK),
	IS("pidfd", DESCRIPTOR), IS("readfds", DESCRIPTOR), IS("si_pid", TASK),
	IS("si_stime", READING), IS("si_utime", READING), IS("sid", TASK), IS("sig", NUMBER),
	IS("size", NUMBER), IS("st_atime", READING), IS("st_atime_nsec", READING),
	IS("st_ctime", READING), IS("st_ctime_nsec", READING), IS("st_dev", READING),
	IS("st_ino", READING), IS("st_mtime", READING), IS("st_mtime_nsec", READING),
	IS("stx_dev_major", READING), IS("stx_dev_minor", READING), IS("stx_ino", READING),
	IS("stx_mnt_id", READING), IS("tid", TASK), IS("to_dirfd", DESCRIPTOR),
	IS("writefds", DESCRIPTOR),
};
/* clang-format on */

/* Like tr_text_compare; most words differ in their first byte. */
static inline int compare(struct tr_text word, struct tr_text text)
{
	int order = text.len ? (unsigned char)*word.data - (unsigned char)*text.data : 1;

	return order ? order : tr_text_compare(word, text);
}

const struct tr_run_call *tr_run_call(struct tr_text name)
{
	size_t low = 0, high = sizeof calls / sizeof *calls;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		int order = compare(calls[middle].name, name);
		if (order == 0)
			return &calls[middle];
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

enum tr_run_value tr_run_value(const struct tr_run_call *call, struct tr_text key)
{
	size_t low = 0, high = sizeof keys / sizeof *keys;

	for (unsigned i = 0; call && i < TR_RUN_KEYS; i++) {
		if (tr_text_equal(call->keys[i].key, key))
			return call->keys[i].value;
	}
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		int order = compare(keys[middle].key, key);
		if (order == 0)
			return keys[middle].value;
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return TR_RUN_PLAIN;
}

struct tr_open_table *tr_open_files_of(struct tr_open_files *files, uint64_t task)
{
	struct tr_open_table *table = tr_id_map_get(&files->tasks, task);

	if (table || !(table = calloc(1, sizeof *table)))
		return table;
	table->users = 1;
	table->id = ++files->count;
	table->opened.seed = task;
	if (tr_id_map_put(&files->tasks, task, table))
		return table;
	free(table);
	return NULL;
}

static void release(struct tr_open_table *table)
{
	if (!table || --table->users)
		return;
	tr_id_map_free(&table->opened);
	free(table);
}

bool tr_open_files_name(struct tr_open_files *files, struct tr_open_table *table, uint64_t key,
			enum tr_run_value value, uint64_t *name)
{
	bool closed = value == TR_RUN_CLOSED || value == TR_RUN_UNMAPPED;

	/* the values of this map are no addresses */
	*name = 0;
	if (closed)
		*name = (uintptr_t)tr_id_map_take(&table->opened, key);
	else if (value == TR_RUN_DESCRIPTOR || value == TR_RUN_PLAIN)
		*name = (uintptr_t)tr_id_map_get(&table->opened, key);
	if (*name || value == TR_RUN_PLAIN || value == TR_RUN_UNMAPPED)
		return true;
	*name = ++files->count;
	return closed || tr_id_map_put(&table->opened, key, (void *)(uintptr_t)*name);
}

bool tr_open_files_share(struct tr_open_files *files, uint64_t parent, uint64_t child)
{
	struct tr_open_table *table;

	/* records of the child may have come before that of its creation */
	if (tr_id_map_get(&files->tasks, child))
		return true;
	if (!(table = tr_open_files_of(files, parent)) ||
	    !tr_id_map_put(&files->tasks, child, table))
		return false;
	table->users++;
	return true;
}

void tr_open_files_end(struct tr_open_files *files, uint64_t task)
{
	release(tr_id_map_take(&files->tasks, task));
}

void tr_open_files_free(struct tr_open_files *files)
{
	size_t position = 0;

	for (void *table; (table = tr_id_map_next(&files->tasks, &position));)
		release(table);
	tr_id_map_free(&files->tasks);
}
