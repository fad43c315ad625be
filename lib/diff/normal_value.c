/* SPDX-License-Identifier: MIT */
/*
 * The normal text of a value. What a number is depends on the record: in system calls it can be a
 * descriptor, an address, the id of a task, or a reading such as a time, an inode number or random
 * bytes; in API calls, an object of OpenGL.
 *
 * The same descriptor is another name after it was closed and opened again, and so is an address
 * where something else is mapped. Therefore each process has a table of what is open and mapped. A
 * child process does not inherit the table: what it uses without opening it gets names of its own.
 * All tables are in one map, which keeps what a process has not closed until the segment ends.
 */
#include "diff/normal_private.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * Classes of values. Those of OpenGL's objects are hashes of their names. ORDINARY to ENTRIES are
 * also the classes of fields in the tables below.
 */
enum class {
	ORDINARY,    /* a number is compared as it is, an address as a name */
	FILE_NAME,   /* the random part of a file name */
	KERNEL_FILE, /* the number that the kernel gives to a pipe or socket */
	ADDRESS,
	DESCRIPTOR, /* compared as a name from 3 on */
	OPENED,	    /* a descriptor that the call opens */
	PIPED,	    /* a descriptor that the call opens for a pipe, or as a copy of another one */
	CLOSED,	    /* a descriptor that the call closes */
	TASK,	    /* the id of a process, a thread or a process group */
	READING,    /* of a clock or the state of the machine: not compared */
	NUMBER,	    /* compared as it is, even if it looks like an address */
	MAPPED,	    /* an address where the call maps memory */
	UNMAPPED,   /* an address where the call unmaps memory */
	ENTRIES,    /* of a directory, depends on how many files are in it: a reading */
};

struct key {
	struct tr_text text;
	enum class class;
};

/* A system call, and those of its fields whose class differs from that in other calls. */
struct tr_normal_call {
	struct tr_text name;
	struct key keys[2];
};

#define KEY(key) \
	{ \
		key, sizeof(key) - 1 \
	}
#define IS(key, class) \
	{ \
		KEY(key), class \
	}

/* Sorted by name. */
/* clang-format off */
static const struct tr_normal_call calls[] = {
	{ KEY("accept"), { IS("return", OPENED) } },
	{ KEY("accept4"), { IS("return", OPENED) } },
	{ KEY("clock_gettime"), { IS("tp", READING) } },
	{ KEY("clock_nanosleep"), { IS("remain", READING) } },
	{ KEY("close"), { IS("fd", CLOSED) } },
	{ KEY("creat"), { IS("return", OPENED) } },
	{ KEY("dup"), { IS("return", PIPED) } },
	{ KEY("dup2"), { IS("return", PIPED) } },
	{ KEY("dup3"), { IS("return", PIPED) } },
	{ KEY("epoll_create"), { IS("return", OPENED) } },
	{ KEY("epoll_create1"), { IS("return", OPENED) } },
	{ KEY("eventfd"), { IS("return", OPENED) } },
	{ KEY("eventfd2"), { IS("return", OPENED) } },
	{ KEY("fanotify_init"), { IS("return", OPENED) } },
	{ KEY("fcntl"), { IS("return", PIPED) } },
	{ KEY("fcntl64"), { IS("return", PIPED) } },
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
	{ KEY("pipe"), { IS("fds", PIPED) } },
	{ KEY("pipe2"), { IS("fds", PIPED) } },
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
	{ KEY("socketpair"), { IS("fds", PIPED) } },
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

/* Fields, and members of structures, that have the same class in all calls; sorted. */
static const struct key keys[] = {
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
	IS("st_blocks", ENTRIES), IS("st_ctime", READING), IS("st_ctime_nsec", READING),
	IS("st_dev", READING),
	IS("st_ino", READING), IS("st_mtime", READING), IS("st_mtime_nsec", READING),
	IS("st_nlink", ENTRIES), IS("st_size", ENTRIES), IS("stx_blocks", ENTRIES),
	IS("stx_dev_major", READING), IS("stx_dev_minor", READING), IS("stx_ino", READING),
	IS("stx_mnt_id", READING), IS("stx_nlink", ENTRIES), IS("stx_size", ENTRIES),
	IS("tid", TASK), IS("to_dirfd", DESCRIPTOR),
	IS("writefds", DESCRIPTOR),
};
/* clang-format on */

/* Like tr_text_compare, but most words differ in their first byte. */
static inline int compare(struct tr_text word, struct tr_text text)
{
	int order = text.len ? (unsigned char)*word.data - (unsigned char)*text.data : 1;

	return order ? order : tr_text_compare(word, text);
}

/* Returns NULL for a call that has no fields of its own classes. */
static const struct tr_normal_call *find_call(struct tr_text name)
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

void tr_normal_set_call(struct tr_normal *n)
{
	if (n->in_process) {
		uint64_t name = tr_text_hash(n->rules->seed, n->name);
		struct tr_normal_known_call *known = &n->calls[name % TR_NORMAL_CALLS];
		if (known->name != name)
			*known = (struct tr_normal_known_call){ name, find_call(n->name) };
		n->call = known->call;
	} else if (!n->rules->objects) {
		struct tr_text rest = n->name;
		if (tr_text_skip(&rest, TR_TEXT("glGen")) ||
		    tr_text_skip(&rest, TR_TEXT("glCreate")))
			n->makes = rest;
	}
}

/* Returns the class of a field of a system call, or of a member of a structure in one. */
static enum class find_class(const struct tr_normal_call *call, struct tr_text key) {
	size_t low = 0, high = sizeof keys / sizeof *keys;

	for (unsigned i = 0; call && i < sizeof call->keys / sizeof *call->keys;
	     i++){ if (tr_text_equal(call->keys[i].text, key)) return call->keys[i].class; }
while (low < high)
{
	size_t middle = low + (high - low) / 2;
	int order = compare(keys[middle].text, key);
	if (order == 0)
		return keys[middle].class;
	if (order < 0)
		low = middle + 1;
	else
		high = middle;
}
return ORDINARY;
}

/* As find_class, but remembers the keys, of which a trace has few. */
static enum class class_of_key(struct tr_normal *n, struct tr_text key) {
	uint64_t hash = tr_text_hash(tr_number_hash(n->rules->seed, (uintptr_t)n->call), key);
	struct tr_normal_known_key *known = &n->keys[hash % TR_NORMAL_KEYS];

	if (known->key != hash) *known = (struct tr_normal_known_key){ hash,
								       find_class(n->call, key) };
	return (enum class)known->class;
}

/* As class_of_key, but ORDINARY for what --as-is compares as it is. */
static enum class class_of(struct tr_normal *n, struct tr_text key, const char *value) {
	static const char dup[] = "\tcmd=F_DUPFD"; enum class class = class_of_key(n, key);

	switch (class){
		case READING : return n->rules->readings ? ORDINARY : READING;
		case TASK : return n->rules->tasks ? ORDINARY : TASK;
		case DESCRIPTOR : case CLOSED : return n->rules->descriptors ? ORDINARY : class;
		case OPENED : return n->rules->descriptors ? ORDINARY : OPENED;
		case PIPED :
			/* most calls of fcntl return something else */
			if (!n->rules->descriptors && tr_text_starts(n->name, TR_TEXT("fcntl")) &&
			    !memmem(n->name.data, (size_t)(value - n->name.data), dup,
				    sizeof dup - 1)) return NUMBER;
		return n->rules->descriptors ? ORDINARY : PIPED;
		default : return class;
	}
}

/* Returns the class of the member of a structure whose value begins at p, after "=". */
static enum class class_of_member(struct tr_normal *n, const char *value, const char *p) {
	const char *end = p - 1, *begin = end;

	while (begin > value && (tr_is_alphanumeric(begin[-1]) || begin[-1] == '_')) begin--;
	return class_of(n, tr_text_span(begin, end), p);
}

/*
 * Sets *class to that of a member, as above, and returns true if it is not compared. end: of the
 * line, in which only a directory has this mode.
 */
static bool is_reading(struct tr_normal *n, const char *value, const char *p, const char *end,
		       uint64_t *class)
{
	static const char mode[] = "mode=S_IFDIR";

	*class = class_of_member(n, value, p);
	if (*class == ENTRIES && !n->rules->readings &&
	    memmem(value, (size_t)(end - value), mode, sizeof mode - 1))
		*class = READING;
	return *class == READING;
}

static bool is_descriptor(uint64_t class)
{
	return class == DESCRIPTOR || class == OPENED || class == PIPED || class == CLOSED;
}

/* Open files and mapped memory. */

/* The numbers of what is open are apart by NUMBERS, and the lower bits say what it is. */
enum { IS_FILE = 1, IS_UNKNOWN = 2, NUMBERS = 4 };

/*
 * Returns the number of the table of a task, a new one if it has none; the threads of a process
 * share it. 0: memory is exhausted.
 */
static uint32_t table_of(struct tr_open_files *files, uint64_t task)
{
	uint32_t table;

	if (tr_number_map_get(&files->tables, task, &table))
		return table;
	if (!tr_number_map_put(&files->tables, task, files->table_count + 1))
		return 0;
	return ++files->table_count;
}

/*
 * Sets *number to that of the open file or the mapping that a process knows by a key; no other one
 * has this number. 0: nothing was mapped at the address. False: memory is exhausted.
 */
static bool number_of(struct tr_open_files *files, uint64_t key, enum class class, uint64_t *number)
{
	bool ends = class == CLOSED || class == UNMAPPED;
	uint32_t known;

	if (!(ends || class == DESCRIPTOR || class == ADDRESS) ||
	    !tr_number_map_get(&files->names, key, &known))
		known = 0;
	if (ends && known)
		tr_number_map_take(&files->names, key);
	*number = known;
	if (known || class == ADDRESS || class == UNMAPPED)
		return true;
	if (files->count > UINT32_MAX - 2 * NUMBERS)
		return false;
	files->count += NUMBERS;
	known = files->count + (class == OPENED				 ? IS_FILE
				: class == DESCRIPTOR || class == CLOSED ? IS_UNKNOWN
									 : 0);
	*number = known;
	return ends || tr_number_map_put(&files->names, key, known);
}

/*
 * A new thread uses the table of its parent, also if records of the thread, such as its
 * set_robust_list, precede the return of the call that made it. False: memory is exhausted.
 */
static bool share_table(struct tr_open_files *files, uint64_t parent, uint64_t child)
{
	uint32_t table = table_of(files, parent);

	return table && tr_number_map_put(&files->tables, child, table);
}

void tr_normal_follow_task(struct tr_normal *n, struct tr_text fields)
{
	static const char shared[] = "CLONE_FILES";
	uint64_t seed = n->rules->seed;

	if (n->known->class == TR_DIFF_EXIT)
		tr_number_map_take(&n->files.tables, tr_normal_task_hash(seed, n->task));
	else if (n->in_process && n->child.data &&
		 memmem(fields.data, fields.len, shared, sizeof shared - 1))
		n->failed |= !share_table(&n->files, tr_normal_task_hash(seed, n->task),
					  tr_normal_task_hash(seed, n->child));
}

void tr_normal_forget_files(struct tr_normal *n)
{
	tr_number_map_free(&n->files.tables);
	tr_number_map_free(&n->files.names);
}

/* Names. */

/*
 * Returns the seed for the hash of a name. Descriptors and addresses are those of a process; which
 * file or mapping they are is known only to tr_normal_hash, which reads records in order.
 */
static uint64_t name_seed(struct tr_normal *n, uint64_t class, uint64_t number)
{
	uint64_t group = class, name = 0;

	if (is_descriptor(class))
		group = DESCRIPTOR;
	else if (class == MAPPED || class == UNMAPPED)
		group = ADDRESS;
	uint64_t seed = tr_number_hash(n->rules->seed, group);
	if (!n->in_order || !n->in_process || class == FILE_NAME || class == TASK)
		return seed;
	if (!n->table)
		n->table = table_of(&n->files, tr_normal_task_hash(n->rules->seed, n->task));
	if (!n->table) {
		n->failed = true;
		return seed;
	}
	if (class != KERNEL_FILE) {
		uint64_t place =
			tr_number_hash(n->rules->seed, group == ADDRESS ? ~number : number);
		uint64_t key = tr_near_hash(place, n->table);
		n->failed |= !number_of(&n->files, key, (enum class) class, &name);
		if (is_descriptor(class))
			n->descriptors |= name & IS_FILE      ? TR_USES_FILE
					  : name & IS_UNKNOWN ? TR_USES_UNKNOWN
							      : TR_USES_PIPE;
	}
	return tr_number_hash(seed, name ? name : ~n->table);
}

/* number: the value of a descriptor or address */
static void add_name(struct tr_normal *n, uint64_t class, struct tr_text text, uint64_t number)
{
	if (!tr_array_room(n->names, n->name_count, n->name_cap)) {
		n->failed = true;
		return;
	}
	uint64_t hash = tr_text_hash(name_seed(n, class, number), text);
	n->names[n->name_count++] =
		(struct tr_run_name){ hash & ~(uint64_t)TR_RUN_NAME_OPENED, text };
	if (class == OPENED)
		n->opened = n->name_count;
	tr_buffer_put_byte(&n->text, '*');
}

void tr_normal_add_file(struct tr_normal *n, struct tr_text text, bool kernel)
{
	add_name(n, kernel ? KERNEL_FILE : FILE_NAME, text, 0);
}

/* Objects of OpenGL. */

/*
 * Returns the class of objects with a name in singular or plural: "texture" or "textures". The map
 * of classes has them as pointers, too, which are not 0 and may have 32 bits.
 */
static uint64_t object_class(const struct tr_normal *n, struct tr_text name)
{
	char word[32];
	size_t len = 0;

	for (; len < name.len && len < sizeof word; len++)
		word[len] = tr_lower(name.data[len]);
	if (len && word[len - 1] == 's')
		len--;
	return (uintptr_t)tr_text_hash(n->rules->seed, (struct tr_text){ word, len }) | 1;
}

/* Adds a class to those that are known. False: it was known. */
static bool add_object_class(struct tr_normal *n, uint64_t class)
{
	if (tr_id_map_get(&n->objects, class))
		return false;
	/* the map has no pointers, but the classes themselves */
	n->failed |= !tr_id_map_put(&n->objects, class, (void *)(uintptr_t) class);
	/* what was compared as a number before may be a name from now on */
	if (n->memo)
		memset(n->memo, 0, TR_NORMAL_MEMOS * sizeof *n->memo);
	return true;
}

bool tr_normal_add_object_classes(struct tr_normal *n, const struct tr_normal *from)
{
	bool added = false;
	size_t position = 0;

	for (void *class; (class = tr_id_map_next(&from->objects, &position));)
		added |= add_object_class(n, (uintptr_t) class);
	return added;
}

/*
 * Returns the class of the objects in a field of an API call, or 0. OpenGL numbers its objects:
 * glGenTextures(textures=[1,2]) and glCreateShader() return these numbers, and other calls have
 * them in arguments of the same name.
 */
static uint64_t class_of_objects(struct tr_normal *n, const struct tr_normal_field *field,
				 char value)
{
	bool list = value == '[', number = value >= '0' && value <= '9';
	bool created = n->makes.data && field->result;

	if ((!created && !n->objects.count) || (!list && !number && value != '{'))
		return 0;
	uint64_t class = object_class(
		n, created && number && tr_text_is(field->key, "return") ? n->makes : field->key);
	if (created && (list || number))
		add_object_class(n, class);
	return tr_id_map_get(&n->objects, class) ? class : 0;
}

/* Values. */

static const char *skip_hex(const char *p, const char *end, uint64_t *number)
{
	for (*number = 0; p < end && tr_hex_digit(*p) >= 0; p++)
		*number = *number << 4 | (unsigned)tr_hex_digit(*p);
	return p;
}

/* Returns the end of a member of a structure that is a string or a number. */
static const char *member_end(const char *p, const char *end)
{
	if (*p == '"')
		return tr_normal_string_end(p, end);
	while (p < end && tr_is_in_file_name(*p))
		p++;
	return p;
}

/*
 * True if a decimal number is a name. Descriptors below 3 and task 1 mean the same in all runs.
 */
static bool is_name(uint64_t class, struct tr_text number, char before)
{
	if (class == ORDINARY || class == NUMBER || class == MAPPED || class == UNMAPPED ||
	    class == ENTRIES || *number.data == '0' || before == '(')
		return false;
	if (tr_is_in_file_name(before) && !(class == TASK && before == '-'))
		return false;
	bool small = number.len == 1 && *number.data <= '2';
	return !small || !(is_descriptor(class) || class == TASK);
}

/*
 * Returns the next part of the value of MAKEFLAGS from p on that is left out, and sets *after to its
 * end; NULL: there is none. It is the option for make's job server, because a make without -j has
 * none, and its descriptors or pipe have other names in each run; or one of two blanks, or the last
 * one, which remain where gcc removed the option.
 */
static const char *find_job_server(const char *begin, const char *p, const char *stop,
				   const char **after)
{
	for (; (p = memchr(p, ' ', (size_t)(stop - p))); p++) {
		struct tr_text rest = tr_text_span(p, stop);
		*after = p + 1;
		if (tr_text_starts(rest, TR_TEXT(" --jobserver-auth=")) ||
		    tr_text_starts(rest, TR_TEXT(" --jobserver-fds="))) {
			const char *blank = memchr(p + 1, ' ', rest.len - 1);
			*after = blank ? blank : stop;
			return p;
		}
		bool escaped = p > begin && p[-1] == '\\';
		if (!escaped && (*after == stop || **after == ' '))
			return p;
	}
	return NULL;
}

/* Reads the value of MAKEFLAGS, whose quote is at p, up to the quote that closes it, or the end. */
static const char *put_make_flags(struct tr_normal *n, const char *p, const char *end, bool first)
{
	const char *stop = tr_normal_string_end(p, end) - 1, *begin = ++p, *gap, *after;

	while (p < stop && (gap = find_job_server(begin, p, stop, &after))) {
		tr_normal_put_string(n, p, gap, first);
		tr_normal_flush(n, gap);
		n->copied = p = after;
	}
	return tr_normal_put_string(n, p, end, first);
}

/* Appends the value of MAKEFLAGS, whose quote is at p, without what put_make_flags leaves out. */
static void copy_make_flags(const char *p, const char *end, struct tr_buffer *to)
{
	const char *stop = tr_normal_string_end(p, end) - 1, *begin = ++p, *gap, *after;

	while ((gap = find_job_server(begin, p, stop, &after))) {
		tr_buffer_put_text(to, tr_text_span(p, gap));
		p = after;
	}
	tr_buffer_put_text(to, tr_text_span(p, stop));
}

/* Returns the entry of a map that begins like this, which is a name and a quote, or NULL. */
static const char *find_entry(struct tr_text map, struct tr_text start)
{
	const char *p = map.data, *end = p + map.len;

	while ((p = memmem(p, (size_t)(end - p), start.data, start.len)) && p[-1] != '{' &&
	       p[-1] != ',')
		p++;
	return p;
}

bool tr_normal_drop_job_server(struct tr_normal *n, struct tr_text before, struct tr_buffer *map)
{
	static const struct tr_text starts[] = { KEY("\"MAKEFLAGS\":\""), KEY("\"MFLAGS\":\"") };
	size_t len = map->len;

	for (size_t i = 0; i < sizeof starts / sizeof *starts && !n->rules->descriptors; i++) {
		const char *end = map->data + map->len, *entry, *other;
		if (!(entry = find_entry(tr_buffer_text(map), starts[i])) ||
		    !(other = find_entry(before, starts[i])))
			continue;
		const char *value = entry + starts[i].len - 1;
		tr_buffer_reset(&n->scratch);
		copy_make_flags(value, end, &n->scratch);
		size_t half = n->scratch.len;
		copy_make_flags(other + starts[i].len - 1, before.data + before.len, &n->scratch);
		n->failed |= n->scratch.failed;
		struct tr_text both = tr_buffer_text(&n->scratch);
		if (!tr_text_equal((struct tr_text){ both.data, half },
				   tr_text_span(both.data + half, both.data + both.len)))
			continue;
		/* with one of the commas beside it */
		const char *after = tr_normal_string_end(value, end);
		entry -= *after != ',' && entry[-1] == ',';
		after += *after == ',';
		size_t at = (size_t)(entry - map->data);
		memmove(map->data + at, after, (size_t)(end - after));
		map->len -= (size_t)(after - entry);
	}
	return map->len < len;
}

/* Reads a string, and an entry of a map whose name it is if the value of that needs care. */
static const char *put_string(struct tr_normal *n, struct tr_text key, const char *begin,
			      const char *end, bool first)
{
	const char *p = tr_normal_put_string(n, begin + 1, end, first);

	p += p < end;
	if (end - p < 2 || *p != ':' || p[1] != '"')
		return p;
	struct tr_text name = tr_text_span(begin, p);
	if (tr_text_is(name, "\"mtime\"") && tr_text_is(key, "extra")) {
		/* when an output was made, in the log of ninja */
		tr_normal_flush(n, p);
		n->copied = p = tr_normal_string_end(p + 1, end);
	} else if (!n->rules->descriptors &&
		   (tr_text_is(name, "\"MAKEFLAGS\"") || tr_text_is(name, "\"MFLAGS\""))) {
		p = put_make_flags(n, p + 1, end, first);
		p += p < end;
	}
	return p;
}

/*
 * Reads the hexadecimal number at p. A number below a page is no address, but it can be a
 * descriptor, in calls whose arguments strace did not interpret.
 */
static const char *put_hex(struct tr_normal *n, uint64_t class, const char *begin, const char *end)
{
	enum { PAGE = 4096 };
	uint64_t number;
	const char *p = skip_hex(begin + 2, end, &number);

	bool descriptor = is_descriptor(class) && number > STDERR_FILENO && number < PAGE;
	if (!descriptor && (n->rules->addresses || number < PAGE || class == NUMBER))
		return p;
	tr_normal_flush(n, begin);
	add_name(n, descriptor || class == MAPPED || class == UNMAPPED ? class : ADDRESS,
		 tr_text_span(begin, p), number);
	return n->copied = p;
}

static const char *put_decimal(struct tr_normal *n, uint64_t class, char before, const char *begin,
			       const char *end)
{
	const char *p = tr_skip_digits(begin, end);
	struct tr_text digits = tr_text_span(begin, p);
	uint64_t number = 0;

	if (!is_name(class, digits, before))
		return p;
	tr_normal_flush(n, begin);
	tr_decimal_read(digits, UINT64_MAX, &number);
	if (class == TASK && tr_text_equal(digits, n->task))
		tr_buffer_put_literal(&n->text, "self");
	else
		add_name(n, class, digits, number);
	return n->copied = p;
}

const char *tr_normal_put_value(struct tr_normal *n, const struct tr_normal_field *field,
				const char *value, const char *end, bool first)
{
	static const bool stops[256] = {
		['\n'] = true, ['\t'] = true, ['"'] = true, ['@'] = true, ['0'] = true,
		['1'] = true,  ['2'] = true,  ['3'] = true, ['4'] = true, ['5'] = true,
		['6'] = true,  ['7'] = true,  ['8'] = true, ['9'] = true,
	};
	const char *p = value;
	uint64_t class = ORDINARY;
	bool skips = !tr_text_is(field->key, "extra"); /* see put_string */

	if (n->in_process)
		class = class_of(n, field->key, value);
	else if (value < end && (n->makes.data || n->objects.count))
		class = class_of_objects(n, field, *value);
	if (class == READING) {
		p = memchr(value, '\t', (size_t)(end - value));
		n->copied = p = p ? p : end;
		tr_buffer_put_byte(&n->text, '*');
		return p;
	}
	for (;;) {
		/* the LF at the end stops as well */
		while (!stops[(unsigned char)*p])
			p++;
		if (p == end || *p == '\t')
			return p;
		char before = p > value ? p[-1] : '=';
		uint64_t of = class;
		if (n->in_process && before == '=' && p > value &&
		    is_reading(n, value, p, end, &of)) {
			tr_normal_flush(n, p);
			n->copied = p = member_end(p, end);
		} else if (*p == '"' && is_descriptor(class) &&
			   (before == '[' || (before >= '0' && before <= '9'))) {
			p++; /* a set of select: ["3 5"] */
		} else if (*p == '"') {
			const char *quote = p;
			if (skips)
				p = tr_normal_skip_strings(n, p, end, first);
			if (p == quote || *p == '"')
				p = put_string(n, field->key, p, end, first);
		} else if (*p == '@') {
			/* the number of a definition (@E3), which each trace counts for itself */
			tr_normal_flush(n, p);
			p += p + 1 < end && p[1] != '\t' ? 2 : 1;
			n->copied = p = tr_skip_digits(p, end);
		} else if (*p == '0' && end - p > 2 && p[1] == 'x' && before != '(' &&
			   before != '|' && !tr_is_in_file_name(before)) {
			p = put_hex(n, of, p, end);
		} else {
			p = put_decimal(n, of, before, p, end);
		}
	}
}
