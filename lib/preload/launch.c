/* SPDX-License-Identifier: MIT */
/* Announces programs, and adds the variables that make them load the library. */
#include "preload/launch.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define LIST "LD_PRELOAD=" /* the list of libraries that the loader loads first */

enum {
	HEAD = 1024,	/* bytes that are read of the file of a program */
	POINTERS = 160, /* a larger environment needs memory of its own */
};

/*
 * The memory of a launch, which is not on the stack because that may be an alternate signal stack
 * of 8 KiB. Most launches touch two pages of it.
 */
struct tr_launch_room {
	char variable[128 + 2 * TR_JOURNAL_PATH + TR_JOURNAL_LIBRARY];
	char list[512]; /* LD_PRELOAD */
	char *pointers[POINTERS];
	struct iovec pieces[TR_JOURNAL_FEW + 1];
	struct tr_journal_cwd cwd;
	char head[HEAD + 1];
	char link[32];		  /* the path of a descriptor in /proc */
	char path[PATH_MAX];	  /* of a program that was found in PATH or by a descriptor */
	char directory[PATH_MAX]; /* in which the program begins, if libc changes it */
};

/* Text in memory of a fixed size; it is cut where that ends. */
struct text {
	char *at, *end;
};

static void put(struct text *text, const char *bytes, size_t len)
{
	size_t room = (size_t)(text->end - text->at);

	if (len > room)
		len = room;
	memcpy(text->at, bytes, len);
	text->at += len;
}

static void put_string(struct text *text, const char *string)
{
	put(text, string, strlen(string) + 1); /* the NUL may be overwritten */
	if (text->at[-1] == '\0')
		text->at--;
}

static void put_hex(struct text *text, uint32_t number)
{
	char digits[8];

	for (int i = 7; i >= 0; i--, number >>= 4)
		digits[i] = "0123456789abcdef"[number & 15];
	put(text, digits, sizeof digits);
	put(text, ":", 1);
}

static bool read_hex(const char **p, uint32_t *number)
{
	int digits = 0;

	for (*number = 0; **p && **p != ':' && digits <= 8; ++*p, digits++) {
		char c = **p;
		if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f')))
			return false;
		*number = *number << 4 | (uint32_t)(c <= '9' ? c - '0' : c - 'a' + 10);
	}
	return digits && *(*p)++ == ':';
}

/* Reads a path up to the colon after it. */
static bool read_path(const char **p, char path[TR_JOURNAL_PATH])
{
	const char *end = strchr(*p, ':');
	size_t len = end ? (size_t)(end - *p) : TR_JOURNAL_PATH;

	if (len >= TR_JOURNAL_PATH)
		return false;
	memcpy(path, *p, len);
	path[len] = '\0';
	*p += len + 1;
	return true;
}

bool tr_launch_set_library(struct tr_journal *journal, const char *library)
{
	static const char before[] = ".so", after[] = "32.so";
	size_t len = strlen(library), end = sizeof before - 1;

	if (len + sizeof after > TR_JOURNAL_LIBRARY || len < end ||
	    memcmp(library + len - end, before, end) != 0)
		return false;
	memcpy(journal->library, library, len + 1);
	memcpy(journal->second, library, len - end);
	memcpy(journal->second + len - end, after, sizeof after);
#ifdef TREC_PRELOAD_SECOND
	journal->own = journal->second;
#else
	journal->own = journal->library;
#endif
	return true;
}

bool tr_launch_read(const char *value, struct tr_launch_token *token, struct tr_journal *journal)
{
	uint32_t flags, high, low;

	if (!read_hex(&value, &flags) || !read_hex(&value, &token->pid) ||
	    !read_hex(&value, &token->number) || !read_hex(&value, &token->hash) ||
	    !read_hex(&value, &journal->mark) || !read_hex(&value, &journal->namespace) ||
	    !read_hex(&value, &high) || !read_hex(&value, &low))
		return false;
	token->flags = flags;
	journal->epoch = (uint64_t)high << 32 | low;
	return read_path(&value, journal->path) && *journal->path &&
	       read_path(&value, journal->lanes) && tr_launch_set_library(journal, value);
}

void tr_launch_mark(char *value, unsigned flags)
{
	struct text text = { value, value + 8 }; /* the digits alone */

	put_hex(&text, flags);
}

/* The properties of a program, from its file. */

enum { LEVELS = 5 /* of scripts whose interpreter is a script */ };

/* The kinds of programs that can load one of the libraries. */
struct kind {
	unsigned char class;
	uint16_t machine;
	unsigned flags; /* of these programs */
};

static const struct kind kinds[] = {
#if defined __x86_64__ && defined __LP64__ || defined TREC_PRELOAD_SECOND
	{ ELFCLASS64, EM_X86_64, 0 },
	{ ELFCLASS32, EM_386, TR_JOURNAL_SECOND },
#else
	{ 0, 0, 0 }, /* the kind of this program or library */
#endif
};

/* The ELF header of this program or library; the linker defines this name. */
extern const ElfW(Ehdr) __ehdr_start __attribute__((visibility("hidden")));

/* Headers of 32 and 64 bits begin with the same members. */
static const struct kind *find_kind(const char *head)
{
	const ElfW(Ehdr) *own = &__ehdr_start;
	Elf32_Ehdr elf;

	memcpy(&elf, head, sizeof elf);
	if (elf.e_ident[EI_DATA] != own->e_ident[EI_DATA])
		return NULL;
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		bool is_own = !kinds[i].class;
		if (elf.e_ident[EI_CLASS] == (is_own ? own->e_ident[EI_CLASS] : kinds[i].class) &&
		    elf.e_machine == (is_own ? own->e_machine : kinds[i].machine))
			return &kinds[i];
	}
	return NULL;
}

/* An entry of the program headers. */
struct part {
	uint32_t type;
	uint64_t offset, size;
};

/* Count and read the program headers. read_part: false: the entry is not within len bytes. */
#define PARTS(bits) \
	static size_t count_parts_##bits(const char *head) \
	{ \
		Elf##bits##_Ehdr elf; \
		memcpy(&elf, head, sizeof elf); \
		return elf.e_phnum; \
	} \
	static bool read_part_##bits(const char *head, size_t len, size_t i, struct part *part) \
	{ \
		Elf##bits##_Ehdr elf; \
		Elf##bits##_Phdr found; \
		memcpy(&elf, head, sizeof elf); \
		size_t before = i * elf.e_phentsize; \
		if (elf.e_phoff > len || before + sizeof found > len - elf.e_phoff) \
			return false; \
		memcpy(&found, head + elf.e_phoff + before, sizeof found); \
		*part = (struct part){ found.p_type, found.p_offset, found.p_filesz }; \
		return true; \
	}
PARTS(32)
PARTS(64)

/* Returns the flags for an ELF file that begins with these bytes. */
static unsigned flags_of_elf(const char *head, size_t len)
{
	const struct kind *kind = len < sizeof(Elf64_Ehdr) ? NULL : find_kind(head);
	bool interpreted = false, wide = kind && head[EI_CLASS] == ELFCLASS64;

	if (!kind)
		return TR_JOURNAL_CLOSED;
	size_t count = wide ? count_parts_64(head) : count_parts_32(head);
	for (size_t i = 0; i < count; i++) {
		struct part part = { 0 };
		if (!(wide ? read_part_64(head, len, i, &part) : read_part_32(head, len, i, &part)))
			return kind->flags; /* not known, and most programs are dynamic */
		if (part.type != PT_INTERP)
			continue;
		interpreted = true;
		const char *name = head + part.offset;
		if (part.offset < len && part.size <= len - part.offset &&
		    !memmem(name, (size_t)part.size, "/ld-linux", 9) &&
		    !memmem(name, (size_t)part.size, "/ld64.so", 8) &&
		    !memmem(name, (size_t)part.size, "/ld.so", 6))
			return TR_JOURNAL_CLOSED; /* of another libc */
	}
	return kind->flags | (interpreted ? 0 : TR_JOURNAL_STATIC);
}

/* Whether the program gains rights, so that the loader ignores LD_PRELOAD. */
static bool gains_rights(int fd, const struct stat64 *st)
{
#ifdef SYS_getuid32
	enum { GETUID = SYS_getuid32, GETGID = SYS_getgid32 };
#else
	enum { GETUID = SYS_getuid, GETGID = SYS_getgid };
#endif
	char capabilities[64];

	if ((st->st_mode & S_ISUID) && (long)st->st_uid != tr_journal_syscall(GETUID))
		return true;
	if ((st->st_mode & (S_ISGID | S_IXGRP)) == (S_ISGID | S_IXGRP) &&
	    (long)st->st_gid != tr_journal_syscall(GETGID))
		return true;
	return tr_journal_syscall(GETUID) != 0 &&
	       tr_journal_syscall(SYS_fgetxattr, fd, "security.capability", capabilities,
				  sizeof capabilities) > 0;
}

/* Finds the interpreter that a script names after "#!". False: the file is not a script. */
static bool read_interpreter(char *head, size_t len, char **name)
{
	char *p = head + 2, *end = memchr(head, '\n', len);

	if (len < 2 || memcmp(head, "#!", 2) != 0)
		return false;
	if (!end)
		end = head + len;
	while (p < end && (*p == ' ' || *p == '\t'))
		p++;
	*name = p;
	while (p < end && *p != ' ' && *p != '\t')
		p++;
	*p = '\0'; /* there is room for it */
	return true;
}

/*
 * Whether the limit of descriptors allows only the three standard ones. Then the loader of the
 * program can open no library, and would print an error for the preloaded one.
 */
static bool can_open_nothing(void)
{
	struct rlimit64 limit;

	return tr_journal_syscall(SYS_prlimit64, 0, RLIMIT_NOFILE, NULL, &limit) == 0 &&
	       limit.rlim_cur <= STDERR_FILENO + 1;
}

/* Finds the flags of a program, following the interpreters of scripts. False: it does not exist. */
static bool examine(struct tr_launch_room *room, int directory, const char *path, unsigned *flags)
{
	char *head = room->head;
	struct stat64 st;

	*flags = 0;
	for (int level = 0; level < LEVELS; level++) {
		long fd = tr_journal_syscall(
			SYS_openat, directory, path,
			O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | O_LARGEFILE, 0);
		if (fd < 0 && errno == EMFILE && can_open_nothing())
			*flags = TR_JOURNAL_CLOSED | TR_JOURNAL_SECURE;
		if (fd < 0 && !*path)
			return true; /* a descriptor */
		if (fd < 0)
			return level ||
			       tr_journal_syscall(SYS_faccessat, directory, path, X_OK) == 0;
		long len = tr_journal_syscall(SYS_pread64, (int)fd, head, (long)HEAD,
					      TR_JOURNAL_OFFSET(0));
		bool good = fstat64((int)fd, &st) == 0 && S_ISREG(st.st_mode) &&
			    (st.st_mode & (S_IXUSR | S_IXGRP | S_IXOTH));
		bool secure = good && gains_rights((int)fd, &st);
		tr_journal_syscall(SYS_close, (int)fd);
		if (!good || len < 0)
			return level;
		char *name;
		if (len >= SELFMAG && memcmp(head, ELFMAG, SELFMAG) == 0) {
			*flags = secure ? TR_JOURNAL_CLOSED | TR_JOURNAL_SECURE
					: flags_of_elf(head, (size_t)len);
			return true;
		}
		if (!read_interpreter(head, (size_t)len, &name))
			return true;
		memmove(head, name, strlen(name) + 1);
		directory = AT_FDCWD;
		path = head;
	}
	return true;
}

/* Searches PATH as execvp does, and sets the flags of the program. NULL: it does not exist. */
static const char *search(struct tr_launch_room *room, const struct tr_launch_program *program,
			  unsigned *flags)
{
	extern char **environ;
	const char *list = NULL, *name = program->path;
	size_t name_len = strlen(name);

	for (char **p = environ; p && *p && !list; p++)
		if (strncmp(*p, "PATH=", 5) == 0)
			list = *p + 5;
	if (!list)
		list = "/bin:/usr/bin";
	for (bool more = *name; more;) {
		const char *end = strchr(list, ':');
		size_t len = end ? (size_t)(end - list) : strlen(list);
		struct text text = { room->path, room->path + PATH_MAX };
		if (len + 1 + name_len < PATH_MAX) {
			put(&text, list, len);
			if (len)
				put(&text, "/", 1);
			put_string(&text, name);
			if (examine(room, program->directory, room->path, flags))
				return room->path;
		}
		more = end;
		list += len + 1;
	}
	return NULL;
}

/* Returns the length without the remark that the kernel adds to the path of a deleted file. */
static long without_remark(char *path, long len)
{
	static const char remark[] = " (deleted)";
	long before = len - (long)(sizeof remark - 1);

	path[len] = '\0';
	if (before <= 0 || strcmp(path + before, remark) != 0 ||
	    tr_journal_syscall(SYS_faccessat, AT_FDCWD, path, F_OK) == 0)
		return len;
	return before;
}

/*
 * Writes the path of a descriptor, followed by "/" and path, to whole, which has PATH_MAX bytes.
 * room->link becomes a path that leads to the descriptor. NULL: the path is unknown.
 */
static const char *from_descriptor(struct tr_launch_room *room, char *whole, int fd,
				   const char *path)
{
	char digits[12], *p = digits + sizeof digits;
	struct text link = { room->link, room->link + sizeof room->link };
	unsigned number = (unsigned)fd;

	*--p = '\0';
	do
		*--p = (char)('0' + number % 10);
	while ((number /= 10) != 0);
	put_string(&link, "/proc/self/fd/");
	put_string(&link, p);
	long len = tr_journal_syscall(SYS_readlinkat, AT_FDCWD, room->link, whole, PATH_MAX - 1L);
	if (len <= 0)
		return NULL;
	len = without_remark(whole, len);
	for (;; path += 2) { /* "./" and "../" at its beginning are resolved */
		if (strncmp(path, "../", 3) == 0) {
			while (len > 1 && whole[--len] != '/')
				;
			path++;
		} else if (strncmp(path, "./", 2) != 0) {
			break;
		}
	}
	struct text text = { whole + len, whole + PATH_MAX };
	if (*path)
		put(&text, "/", 1);
	put_string(&text, path);
	whole[PATH_MAX - 1] = '\0';
	return whole;
}

/* Returns the path of the program, and sets its flags. NULL: it does not exist. */
static const char *resolve(struct tr_launch_room *room, const struct tr_launch_program *program,
			   unsigned *flags)
{
	if (program->search && !strchr(program->path, '/'))
		return search(room, program, flags);
	if (!examine(room, program->directory, program->path, flags))
		return NULL;
	if (program->directory == AT_FDCWD || *program->path == '/' || program->enters)
		return program->path;
	const char *path = from_descriptor(room, room->path, program->directory, program->path);
	if (path && !*program->path)
		examine(room, AT_FDCWD, room->link, flags); /* the file may have no path */
	return path;
}

/* Memory. */

/*
 * A child of vfork cannot free memory if its exec succeeds, so its memory is kept for the next
 * child of the same thread. Only one of these runs at a time, and a signal handler in it borrows
 * its own.
 */
static __thread struct {
	struct tr_launch_room *room;
	char **pointers;
	size_t size;   /* of pointers, in bytes */
	uint32_t user; /* the process that uses this memory */
} kept __attribute__((tls_model("initial-exec")));

/* The memory of the last launch, for the next one in any thread, because new pages cost time. */
static struct tr_launch_room *_Atomic spare;

/* Borrows the memory of a launch. False: there is none. */
static bool borrow_room(struct tr_launch *launch, uint32_t pid)
{
	launch->keeps = pid != launch->journal->pid && pid != kept.user;
	if (!launch->keeps) {
		launch->room = atomic_exchange(&spare, NULL);
		if (!launch->room)
			launch->room = tr_journal_borrow(sizeof *launch->room);
		return launch->room;
	}
	if (!kept.room)
		kept.room = tr_journal_borrow(sizeof *kept.room);
	launch->room = kept.room;
	kept.user = pid;
	return launch->room;
}

static void return_room(struct tr_launch *launch)
{
	if (launch->keeps)
		kept.user = 0;
	else if (launch->room)
		tr_journal_return(atomic_exchange(&spare, launch->room), sizeof *launch->room);
}

/* The environment. */

/* Whether the value of LD_PRELOAD already contains the library. */
static bool has_library(const char *list, const char *library)
{
	const char *found = strstr(list, library);
	char after = found ? found[strlen(library)] : '?';

	return after == '\0' || after == ':' || after == ' ';
}

/* Makes LD_PRELOAD with the library in it. others: the program's own list, or NULL. */
static bool make_list(struct tr_launch *launch, const char *others)
{
	const char *library = launch->library;
	size_t need = sizeof LIST + (others ? strlen(others) + 1 : 0) + strlen(library);
	char *to = launch->room->list;

	if (need > sizeof launch->room->list)
		return false;
	struct text text = { to, to + need };
	put_string(&text, LIST);
	if (others && *others) {
		put_string(&text, others);
		put(&text, ":", 1);
	}
	put_string(&text, library);
	return true;
}

static char **borrow_pointers(struct tr_launch *launch, size_t count)
{
	size_t size = count * sizeof(char *);

	if (!launch->keeps) {
		launch->size = size;
		launch->memory = tr_journal_borrow(size);
		return launch->memory;
	}
	if (kept.size < size) {
		tr_journal_return(kept.pointers, kept.size);
		kept.pointers = tr_journal_borrow(size);
		kept.size = kept.pointers ? size : 0;
	}
	return kept.pointers;
}

static void make_variable(struct tr_launch *launch, uint32_t hash)
{
	char *variable = launch->room->variable, *end = variable + sizeof launch->room->variable;
	struct text text = { variable, end };

	put_string(&text, TR_PRELOAD_VARIABLE);
	put_hex(&text, launch->record.flags);
	put_hex(&text, launch->record.token_pid);
	put_hex(&text, launch->record.token);
	put_hex(&text, hash);
	put_hex(&text, launch->journal->mark);
	put_hex(&text, launch->journal->namespace);
	put_hex(&text, (uint32_t)(launch->journal->epoch >> 32));
	put_hex(&text, (uint32_t)launch->journal->epoch);
	put_string(&text, launch->journal->path);
	put(&text, ":", 1);
	put_string(&text, launch->journal->lanes);
	put(&text, ":", 1);
	put_string(&text, launch->journal->library);
	end[-1] = '\0';
}

/*
 * Makes the environment: the caller's variables, then ours, which the library can hide there
 * without moving others. False: there is no room, or env belongs to a recording inside this one.
 */
static bool make_env(struct tr_launch *launch, char *const *env, uint32_t hash)
{
	char **to = launch->room->pointers;
	const char *others = NULL;
	size_t count = 4;

	for (char *const *p = env; p && *p; p++, count++) {
		if (strncmp(*p, TR_PRELOAD_VARIABLE, sizeof TR_PRELOAD_VARIABLE - 1) == 0 &&
		    !strstr(*p, launch->journal->path))
			return false;
		if (!others && strncmp(*p, LIST, sizeof LIST - 1) == 0)
			others = *p + sizeof LIST - 1;
	}
	bool listed = others && has_library(others, launch->library);
	if (!listed && !make_list(launch, others))
		return false;
	if (count > POINTERS) {
		to = borrow_pointers(launch, count);
		if (!to)
			return false;
	}
	launch->env = to;
	make_variable(launch, hash);
	for (char *const *p = env; p && *p; p++) {
		if (strncmp(*p, TR_PRELOAD_VARIABLE, sizeof TR_PRELOAD_VARIABLE - 1) == 0)
			continue;
		if (others && !listed && *p == others - (sizeof LIST - 1))
			*to++ = launch->room->list;
		else
			*to++ = *p;
	}
	*to++ = launch->room->variable;
	if (launch->start)
		*to++ = launch->start;
	if (!others)
		*to++ = launch->room->list;
	*to = NULL;
	return true;
}

/* Programs that the library cannot watch; if the recorder allows it, strace watches them. */

/* A small dynamic program in which the library waits for strace before it starts another one. */
#define STARTER "/bin/true"

enum { START_SIZE = sizeof TR_PRELOAD_START + PATH_MAX };

/* Whether any program traces this process. */
static bool is_traced(struct tr_launch_room *room)
{
	static const char field[] = "TracerPid:\t";
	char *status = room->head;
	long fd = tr_journal_syscall(SYS_openat, AT_FDCWD, "/proc/self/status",
				     O_RDONLY | O_CLOEXEC, 0);
	long len = fd < 0 ? -1 : tr_journal_syscall(SYS_read, (int)fd, status, (long)HEAD);

	if (fd >= 0)
		tr_journal_syscall(SYS_close, (int)fd);
	const char *found = len > 0 ? memmem(status, (size_t)len, field, sizeof field - 1) : NULL;
	return found && found + sizeof field - 1 < status + len && found[sizeof field - 1] != '0';
}

/*
 * Whether this thread is stopped at system calls. strace becomes the tracer a moment before it asks
 * for these stops, and would miss an exec in between. A stop is a voluntary context switch.
 */
static bool stops_at_calls(void)
{
	struct rusage before = { 0 }, after = { 0 };

	tr_journal_syscall(SYS_getrusage, RUSAGE_THREAD, &before);
	tr_journal_syscall(SYS_getrusage, RUSAGE_THREAD, &after);
	return after.ru_nvcsw != before.ru_nvcsw;
}

/* Waits a few seconds for strace to watch this process. False: it does not. */
static bool attach(const struct tr_launch *launch)
{
	const struct tr_journal *journal = launch->journal;
	enum { TRIES = 3000 };
	struct tr_journal_record record = { .kind = TR_JOURNAL_ATTACH,
					    .pid = (uint32_t)tr_journal_getpid(),
					    .ppid = (uint32_t)tr_journal_syscall(SYS_getppid) };

	if (is_traced(launch->room))
		return false; /* by another program */
	tr_journal_syscall(SYS_prctl, PR_SET_PTRACER, (long)journal->page->tracer, 0, 0, 0);
	tr_journal_append(journal, &record, NULL);
	for (int i = 0; i < TRIES && journal->page->refused != record.pid; i++) {
		struct timespec moment = { .tv_nsec = 1000000 }; /* the kernel changes it */
		tr_journal_syscall(SYS_ppoll, NULL, 0L, &moment, NULL, 0L);
		if (is_traced(launch->room) && stops_at_calls())
			return true;
	}
	return false;
}

/* Returns the directory in which the program begins, "" if unknown; room holds it. */
static const char *directory_of(struct tr_launch_room *room,
				const struct tr_launch_program *program)
{
	if (!program->enters)
		return tr_journal_cwd(&room->cwd);
	room->cwd.memory = NULL;
	const char *path = from_descriptor(room, room->directory, program->directory, "");
	return path ? path : "";
}

static struct tr_journal_record make_announcement(unsigned flags)
{
	static _Atomic uint32_t numbers;
	uint32_t pid = (uint32_t)tr_journal_getpid();

	return (struct tr_journal_record){
		.kind = TR_JOURNAL_EXEC,
		.flags = (uint16_t)flags,
		.pid = pid,
		.ppid = (uint32_t)tr_journal_syscall(SYS_getppid),
		.token_pid = pid,
		.token = atomic_fetch_add(&numbers, 1),
	};
}

/*
 * Announces STARTER in a new process; the library in it starts the program at path. False: it could
 * not load the library, and would run in place of the program.
 */
static bool start_instead(struct tr_launch *launch, const struct tr_launch_program *program,
			  const char *path)
{
	unsigned flags = 0;

	if (!examine(launch->room, AT_FDCWD, STARTER, &flags) || flags ||
	    tr_journal_syscall(SYS_faccessat, AT_FDCWD, launch->journal->library, R_OK) != 0)
		return false;
	launch->start = tr_journal_borrow(START_SIZE);
	if (!launch->start)
		return false;
	struct text text = { launch->start, launch->start + START_SIZE };
	put_string(&text, TR_PRELOAD_START);
	put_string(&text, path);
	launch->record = make_announcement(TR_JOURNAL_START | TR_JOURNAL_IN_CHILD);
	launch->library = launch->journal->library;
	if (!make_env(launch, program->env, 0)) {
		tr_journal_return(launch->start, START_SIZE);
		launch->start = NULL;
		launch->env = program->env;
		return false;
	}
	launch->instead = STARTER;
	launch->announced = true;
	struct tr_journal_record record = launch->record;
	const char *cwd = program->enters ? directory_of(launch->room, program) : NULL;
	tr_journal_append(launch->journal, &record, &(struct tr_journal_text){ .cwd = cwd });
	return true;
}

/* Whether the recorder can attach strace to a program with these flags. */
static bool is_traceable(const struct tr_journal *journal, unsigned flags)
{
	return (flags & (TR_JOURNAL_STATIC | TR_JOURNAL_CLOSED)) && !(flags & TR_JOURNAL_SECURE) &&
	       journal->page && journal->page->tracer &&
	       tr_journal_syscall(SYS_faccessat, AT_FDCWD, journal->path, W_OK) == 0;
}

static bool can_read_list(struct tr_journal_pages *pages, char *const *list)
{
	for (; list; list++) {
		if (!tr_journal_can_read(pages, list))
			return false;
		if (!*list)
			break;
		if (!tr_journal_can_read_string(pages, *list))
			return false;
	}
	return true;
}

static bool can_read(const struct tr_launch_program *program)
{
	struct tr_journal_pages pages = { 0 };

	return tr_journal_can_read_string(&pages, program->path) &&
	       can_read_list(&pages, program->argv) && can_read_list(&pages, program->env);
}

void tr_launch_begin(struct tr_launch *launch, const struct tr_journal *journal,
		     const struct tr_launch_program *program)
{
	int saved = errno;
	uint32_t pid = (uint32_t)tr_journal_getpid();
	uint32_t ppid = (uint32_t)tr_journal_syscall(SYS_getppid);
	unsigned flags = 0;

	launch->journal = journal;
	launch->env = program->env;
	launch->announced = false;
	launch->memory = NULL;
	launch->start = NULL;
	launch->instead = NULL;
	launch->size = 0;
	launch->room = NULL;
	launch->keeps = false;
	if (!can_read(program)) { /* the call will fail */
		errno = saved;
		return;
	}
	if (!borrow_room(launch, pid)) {
		if (journal->page)
			journal->page->lost++;
		errno = saved;
		return;
	}
	const char *path = resolve(launch->room, program, &flags);
	/* below another root there may be no library */
	launch->library = flags & TR_JOURNAL_SECOND ? journal->second : journal->library;
	if (tr_journal_syscall(SYS_faccessat, AT_FDCWD, launch->library, R_OK) != 0)
		flags |= TR_JOURNAL_CLOSED;
	if (path && tr_journal_is_outside(journal, pid, ppid)) {
		struct tr_journal_record record = { .kind = TR_JOURNAL_OUTSIDE,
						    .pid = journal->pid };
		if (journal->page)
			journal->page->outside++;
		if (journal->pid != pid)
			tr_journal_append(journal, &record, NULL);
	} else if (path && is_traceable(journal, flags) && program->flags == TR_JOURNAL_IN_CHILD &&
		   start_instead(launch, program, path)) {
		;
	} else if (path) {
		if (!program->flags && is_traceable(journal, flags) && attach(launch))
			flags |= TR_JOURNAL_TRACED | TR_JOURNAL_CLOSED;
		launch->announced = true;
		launch->record = make_announcement(flags | program->flags);
		if (!(flags & TR_JOURNAL_CLOSED) &&
		    !make_env(launch, program->env, tr_journal_hash(path)))
			launch->record.flags |= TR_JOURNAL_CLOSED;
		struct tr_journal_record record = launch->record;
		struct tr_gathered files = { 0 };
		if (launch->record.flags & (TR_JOURNAL_STATIC | TR_JOURNAL_CLOSED))
			tr_gather(&files, program->argv); /* others do it themselves */
		tr_journal_append(journal, &record,
				  &(struct tr_journal_text){ directory_of(launch->room, program),
							     path, program->argv, program->env,
							     files.strings, launch->room->pieces });
		tr_journal_end_cwd(&launch->room->cwd);
		tr_gather_end(&files);
	}
	errno = saved;
}

static void report(struct tr_launch *launch, enum tr_journal_kind kind, int value, int child)
{
	struct tr_journal_record record = launch->record;

	if (!launch->announced)
		return;
	record.kind = (uint16_t)kind;
	record.value = value;
	record.child = (uint32_t)child;
	tr_journal_append(launch->journal, &record, NULL);
}

void tr_launch_failed(struct tr_launch *launch, int error)
{
	report(launch, TR_JOURNAL_FAILED, error, 0);
	tr_launch_end(launch);
	errno = error;
}

void tr_launch_spawned(struct tr_launch *launch, int pid)
{
	report(launch, TR_JOURNAL_SPAWNED, 0, pid);
}

void tr_launch_end(struct tr_launch *launch)
{
	tr_journal_return(launch->memory, launch->size);
	tr_journal_return(launch->start, START_SIZE);
	return_room(launch);
	launch->memory = NULL;
	launch->start = NULL;
	launch->room = NULL;
	launch->keeps = false;
}

/* Response files: see launch.h. Each argument @FILE is taken as one. */

enum { GATHER_LIST = (2 * TR_GATHER_FILES + 1) * sizeof(char *) };

static bool begin_gathering(struct tr_gathered *files)
{
	if (files->memory)
		return true;
	files->memory = tr_journal_borrow(GATHER_LIST + TR_GATHER_BYTES);
	if (!files->memory)
		return false;
	files->strings = (char **)(void *)files->memory;
	files->free = files->memory + GATHER_LIST;
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

/* Reads a file as a string into the free memory. False: it is not a regular file, or too long. */
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
static void add_file(struct tr_gathered *files, const char *name, size_t len)
{
	if (!len || !begin_gathering(files) || files->count == 2 * TR_GATHER_FILES ||
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
		add_file(files, p + 1, len);
	}
}

void tr_gather(struct tr_gathered *files, char *const *argv)
{
	int saved = errno;

	for (char *const *p = argv; p && *p && *++p;)
		if (**p == '@')
			add_file(files, *p + 1, strlen(*p + 1));
	for (size_t i = 1; i < files->count; i += 2)
		add_nested(files, files->strings[i]);
	if (!files->count)
		tr_gather_end(files);
	errno = saved;
}

void tr_gather_end(struct tr_gathered *files)
{
	tr_journal_return(files->memory, GATHER_LIST + TR_GATHER_BYTES);
	*files = (struct tr_gathered){ 0 };
}
