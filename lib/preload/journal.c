/* SPDX-License-Identifier: MIT */
/* Appends records to the journal, from any program and in any context. */
#include "preload/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
	FEWEST = 8,	    /* strings of a record that need no memory besides the stack */
	LARGEST = 1 << 30,  /* bytes of a record */
	HEADER = 2 * 4 + 8, /* of a record: what the sum does not include */
};

uint64_t tr_journal_sum(uint64_t sum, const void *data, size_t len)
{
	const uint64_t factor = UINT64_C(0x9fb21c651e98df25);
	const char *p = data;
	uint64_t word;

	sum += len;
	for (; len >= sizeof word; len -= sizeof word, p += sizeof word) {
		memcpy(&word, p, sizeof word);
		sum = (sum ^ word) * factor;
		sum ^= sum >> 29;
	}
	word = 0;
	memcpy(&word, p, len);
	sum = (sum ^ word) * factor;
	return sum ^ sum >> 32;
}

uint64_t tr_journal_sum_record(const struct tr_journal_record *record)
{
	return tr_journal_sum(record->mark, (const char *)record + HEADER, sizeof *record - HEADER);
}

uint32_t tr_journal_hash(const char *path)
{
	return (uint32_t)tr_journal_sum(0, path, strlen(path));
}

#ifdef TR_JOURNAL_NEEDS_SYSCALL

long (*tr_journal_syscall)(long number, ...) = syscall;

#else

long tr_journal_syscall(long number, ...)
{
	va_list list;
	long a[6], result;

	va_start(list, number);
	for (size_t i = 0; i < sizeof a / sizeof *a; i++)
		a[i] = va_arg(list, long); /* the maximum that the kernel uses */
	va_end(list);
	register long fourth __asm__("r10") = a[3], fifth __asm__("r8") = a[4],
			     sixth __asm__("r9") = a[5];
	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(number), "D"(a[0]), "S"(a[1]), "d"(a[2]), "r"(fourth), "r"(fifth),
			   "r"(sixth)
			 : "rcx", "r11", "memory");
	if (result < 0 && result > -4096) {
		errno = (int)-result;
		return -1;
	}
	return result;
}

#endif

static uint64_t time_of(const struct tr_journal *journal, const struct timespec *now)
{
	return journal->epoch + (uint64_t)now->tv_sec * 1000000000 + (uint64_t)now->tv_nsec;
}

uint64_t tr_journal_now(const struct tr_journal *journal)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return time_of(journal, &now);
}

/*
 * As tr_journal_now, for the few records of a small program, for which a system call costs less
 * than the page of the kernel's time.
 */
static uint64_t ask_time(const struct tr_journal *journal)
{
#ifndef TR_JOURNAL_NEEDS_SYSCALL
	struct timespec now;

	if (tr_journal_syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &now) == 0)
		return time_of(journal, &now);
#endif
	return tr_journal_now(journal);
}

int tr_journal_getpid(void)
{
	return (int)tr_journal_syscall(SYS_getpid);
}

uint32_t tr_journal_parent(uint32_t pid)
{
	static const char before[] = "/proc/", after[] = "/stat";
	char path[32], stat[128], *p = path + sizeof path - sizeof after;
	uint32_t parent = 0;

	memcpy(p, after, sizeof after);
	do
		*--p = (char)('0' + pid % 10);
	while ((pid /= 10) != 0);
	p -= sizeof before - 1;
	memcpy(p, before, sizeof before - 1);
	long fd = tr_journal_syscall(SYS_openat, AT_FDCWD, p, O_RDONLY | O_CLOEXEC, 0);
	long len = fd < 0 ? -1 : tr_journal_syscall(SYS_read, (int)fd, stat, sizeof stat - 1);
	if (fd >= 0)
		tr_journal_syscall(SYS_close, (int)fd);
	stat[len > 0 ? len : 0] = '\0';
	/* after the name, which may contain anything */
	for (p = strchr(stat, '\0'); p > stat && *p != ')'; p--)
		;
	if (strlen(p) < 5)
		return 0;
	for (p += 4; *p >= '0' && *p <= '9'; p++) /* ") S " */
		parent = parent * 10 + (uint32_t)(*p - '0');
	return parent;
}

bool tr_journal_is_outside(const struct tr_journal *journal, uint32_t pid, uint32_t ppid)
{
	struct stat64 st;

	if (ppid == 0) /* the first process of a namespace has no parent there */
		return true;
	return pid != journal->pid && ppid != journal->pid && journal->namespace &&
	       stat64("/proc/self/ns/pid", &st) == 0 && st.st_ino != journal->namespace;
}

enum { PAGE = 4096 /* there are larger ones */ };

static uintptr_t given, given_size; /* memory with which the program has begun */

void tr_journal_set_given(const void *first, const void *last)
{
	given = (uintptr_t)first;
	given_size = (uintptr_t)last > given ? (uintptr_t)last - given : 0;
}

/*
 * Before Linux 5.14, and for a page of an unusual kind, the second call decides, which takes
 * longer. With other calls that read memory at an address, valgrind would report the bytes around
 * it.
 */
static bool can_read_page(uintptr_t page)
{
	enum { POPULATE_READ = 22 };
	char byte;
	struct iovec to = { &byte, 1 }, from = { (void *)page, 1 };

	if (tr_journal_syscall(SYS_madvise, page, (long)PAGE, (long)POPULATE_READ) == 0)
		return true;
	if (errno == ENOMEM || errno == EFAULT)
		return false;
	return tr_journal_syscall(SYS_process_vm_readv, tr_journal_getpid(), &to, 1L, &from, 1L,
				  0L) == 1 ||
	       errno != EFAULT;
}

bool tr_journal_can_read(struct tr_journal_pages *pages, const void *address)
{
	uintptr_t page = (uintptr_t)address / PAGE * PAGE;
	uintptr_t *found = &pages->found[page / PAGE % (sizeof pages->found / sizeof *found)];

	if ((uintptr_t)address - given < given_size || *found == page + 1)
		return true;
	if (!can_read_page(page))
		return false;
	*found = page + 1;
	return true;
}

bool tr_journal_can_read_string(struct tr_journal_pages *pages, const char *string)
{
	for (;;) {
		size_t rest = PAGE - (uintptr_t)string % PAGE;
		if (!tr_journal_can_read(pages, string))
			return false;
		if (memchr(string, '\0', rest))
			return true;
		string += rest;
	}
}

void *tr_journal_borrow(size_t size)
{
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return memory == MAP_FAILED ? NULL : memory;
}

void tr_journal_return(void *memory, size_t size)
{
	if (memory)
		munmap(memory, size);
}

static bool read_cwd(char *directory, size_t size)
{
	return tr_journal_syscall(SYS_getcwd, directory, size) > 0 && *directory == '/';
}

const char *tr_journal_cwd(struct tr_journal_cwd *cwd)
{
	cwd->memory = NULL;
	if (read_cwd(cwd->few, sizeof cwd->few))
		return cwd->few;
	if (errno == ERANGE)
		cwd->memory = tr_journal_borrow(PATH_MAX);
	return cwd->memory && read_cwd(cwd->memory, PATH_MAX) ? cwd->memory : "";
}

void tr_journal_end_cwd(struct tr_journal_cwd *cwd)
{
	tr_journal_return(cwd->memory, PATH_MAX);
}

static size_t count(char *const *list)
{
	size_t n = 0;

	while (list && list[n])
		n++;
	return n;
}

/* Collects the strings of a record: as pieces, or as one copy if there are too many. */
struct strings {
	struct iovec *pieces; /* the first is the record */
	size_t used;
	char *copy, *end; /* NULL: there are pieces */
	uint64_t sum;
	size_t bytes;
};

static void add(struct strings *strings, const char *string)
{
	size_t len = strlen(string) + 1;

	strings->sum = tr_journal_sum(strings->sum, string, len);
	strings->bytes += len;
	if (strings->copy) {
		if (len > (size_t)(strings->end - strings->copy))
			return; /* another thread makes it longer: the sum will be wrong */
		memcpy(strings->copy, string, len);
		strings->copy += len;
	} else {
		strings->pieces[strings->used++] = (struct iovec){ (char *)string, len };
	}
}

/* Whether the variable belongs to a recording and not to the program. */
static bool is_ours(const char *variable)
{
	return strncmp(variable, TR_PRELOAD_VARIABLE, sizeof TR_PRELOAD_VARIABLE - 1) == 0;
}

static void add_all(struct strings *strings, const struct tr_journal_text *text)
{
	if (text->cwd)
		add(strings, text->cwd);
	if (text->path)
		add(strings, text->path);
	for (char *const *p = text->argv; p && *p; p++)
		add(strings, *p);
	for (char *const *p = text->env; p && *p; p++)
		if (!is_ours(*p))
			add(strings, *p);
	for (char *const *p = text->files; p && *p; p++)
		add(strings, *p);
}

static size_t size_of(const struct tr_journal_text *text)
{
	size_t size =
		(text->cwd ? strlen(text->cwd) + 1 : 0) + (text->path ? strlen(text->path) + 1 : 0);

	for (char *const *p = text->argv; p && *p; p++)
		size += strlen(*p) + 1;
	for (char *const *p = text->env; p && *p; p++)
		size += strlen(*p) + 1;
	for (char *const *p = text->files; p && *p; p++)
		size += strlen(*p) + 1;
	return size;
}

/*
 * Writes the pieces. If the journal is longer than the limit for files of the program, the kernel
 * sends SIGXFSZ, which would kill the program: the signal is discarded.
 */
static long write_pieces(int fd, const struct iovec *pieces, int used)
{
	const uint64_t signal = UINT64_C(1) << (SIGXFSZ - 1); /* as the kernel has sets */
	const struct timespec at_once = { 0 };
	struct rlimit64 limit;
	uint64_t before = 0;

	if (tr_journal_syscall(SYS_prlimit64, 0, RLIMIT_FSIZE, NULL, &limit) != 0 ||
	    limit.rlim_cur == RLIM64_INFINITY)
		return tr_journal_syscall(SYS_writev, fd, pieces, used);
	tr_journal_syscall(SYS_rt_sigprocmask, SIG_BLOCK, &signal, &before, sizeof signal);
	long written = tr_journal_syscall(SYS_writev, fd, pieces, used);
	if (written < 0 && errno == EFBIG && !(before & signal))
		tr_journal_syscall(SYS_rt_sigtimedwait, &signal, NULL, &at_once, sizeof signal);
	tr_journal_syscall(SYS_rt_sigprocmask, SIG_SETMASK, &before, NULL, sizeof before);
	return written;
}

static long open_journal(const struct tr_journal *journal, int access)
{
	return tr_journal_syscall(
		SYS_openat, AT_FDCWD, journal->path,
		access | O_APPEND | O_CLOEXEC | O_NOCTTY | O_NOFOLLOW | O_LARGEFILE, 0);
}

static struct tr_journal_page *map_page(long fd)
{
	void *page = mmap(NULL, TR_JOURNAL_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, (int)fd, 0);

	return page == MAP_FAILED ? NULL : page;
}

/* page: where to map the page of the journal, or NULL; other users cannot read it. */
static bool write_all(const struct tr_journal *journal, struct tr_journal_page **page,
		      const struct iovec *pieces, size_t used, size_t bytes)
{
	long fd = page ? open_journal(journal, O_RDWR) : -1;

	if (fd >= 0)
		*page = map_page(fd);
	else
		fd = open_journal(journal, O_WRONLY);
	if (fd < 0)
		return false;
	/* one call, because other processes append, too, and would come between two */
	long written = write_pieces((int)fd, pieces, (int)used);
	tr_journal_syscall(SYS_close, (int)fd);
	return written >= 0 && (size_t)written == bytes;
}

static void append(const struct tr_journal *journal, struct tr_journal_page **page,
		   struct tr_journal_record *record, const struct tr_journal_text *text)
{
	static const struct tr_journal_text none;
	struct iovec few[FEWEST + 1];
	struct strings strings = { .pieces = few, .used = 1 };
	int saved = errno;
	size_t envc = 0, size = 0;
	char *memory = NULL;
	bool good = true;

	if (!text)
		text = &none;
	for (char *const *p = text->env; p && *p; p++)
		envc += !is_ours(*p);
	record->mark = journal->mark;
	record->time = ask_time(journal);
	record->argc = (uint32_t)count(text->argv);
	record->envc = (uint32_t)envc;
	record->files = (uint32_t)count(text->files);
	record->strings = (uint32_t)((text->cwd != NULL) + (text->path != NULL)) + record->argc +
			  record->envc + record->files;
	if (text->pieces)
		strings.pieces = text->pieces;
	if (record->strings > (text->pieces ? TR_JOURNAL_FEW : FEWEST)) {
		size = size_of(text);
		memory = tr_journal_borrow(size);
		good = memory && size <= LARGEST;
		strings.copy = memory;
		strings.end = memory + size;
	}
	if (good) {
		strings.sum = tr_journal_sum_record(record);
		add_all(&strings, text);
		record->length = (uint32_t)(sizeof *record + strings.bytes);
		record->checksum = strings.sum;
		strings.pieces[0] = (struct iovec){ record, sizeof *record };
		if (strings.copy)
			strings.pieces[strings.used++] =
				(struct iovec){ memory, (size_t)(strings.copy - memory) };
		good = write_all(journal, page, strings.pieces, strings.used, record->length);
	}
	if (!good && journal->page)
		journal->page->lost++;
	tr_journal_return(memory, size);
	errno = saved;
}

void tr_journal_append(const struct tr_journal *journal, struct tr_journal_record *record,
		       const struct tr_journal_text *text)
{
	append(journal, NULL, record, text);
}

void tr_journal_begin(struct tr_journal *journal, struct tr_journal_record *record,
		      const struct tr_journal_text *text)
{
	append(journal, journal->page ? NULL : &journal->page, record, text);
}

void tr_journal_map(struct tr_journal *journal)
{
	long fd = open_journal(journal, O_RDWR);

	if (fd < 0)
		return;
	journal->page = map_page(fd);
	tr_journal_syscall(SYS_close, (int)fd);
}
