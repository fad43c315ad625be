/* SPDX-License-Identifier: MIT */
/*
 * The functions of libc that open, rename, link, pass on and close files. Each hook calls the
 * function that it replaces, and records the system call that strace would print. Reads and writes
 * are not recorded, because stdio makes them inside libc.
 *
 * dlopen searches the paths of its caller, so its hook must jump to it. It only notes that objects
 * will be loaded, and the next call of a hook records them.
 */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/single_threaded.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "preload/hooks.h"
#include "preload/lanes.h"

/* Functions that no header declares under these names. */
int __open(const char *path, int flags, ...);
int __open64(const char *path, int flags, ...);
int __open_2(const char *path, int flags);
int __open64_2(const char *path, int flags);
int __openat_2(int directory, const char *path, int flags);
int __openat64_2(int directory, const char *path, int flags);
int __close(int fd);
int __dup2(int fd, int other);
int __fcntl(int fd, int command, ...);
int close_range(unsigned first, unsigned last, int flags);
void closefrom(int first);
int __xmknod(int version, const char *path, mode_t mode, dev_t *device);
int __xmknodat(int version, int directory, const char *path, mode_t mode, dev_t *device);

/* clang-format off */
#define REPLACED(X) \
	X(open) X(open64) X(openat) X(openat64) X(__open) X(__open64) X(__open_2) X(__open64_2) \
	X(__openat_2) X(__openat64_2) X(creat) X(creat64) X(fopen) X(fopen64) X(freopen) \
	X(freopen64) X(opendir) X(closedir) X(tmpfile) X(tmpfile64) X(mkstemp) \
	X(mkstemp64) X(mkostemp) X(mkostemp64) X(mkstemps) X(mkstemps64) X(mkostemps) \
	X(mkostemps64) X(mkdtemp) X(shm_open) X(shm_unlink) X(memfd_create) X(close) X(__close) \
	X(close_range) X(closefrom) X(dup) X(dup2) X(__dup2) X(dup3) X(fcntl) X(fcntl64) \
	X(__fcntl) X(pipe) X(pipe2) X(socketpair) X(rename) X(renameat) X(renameat2) X(link) \
	X(linkat) X(symlink) X(symlinkat) X(unlink) X(unlinkat) X(remove) X(rmdir) X(mkdir) \
	X(mkdirat) X(mknod) X(mknodat) X(__xmknod) X(__xmknodat) X(mkfifo) X(mkfifoat) \
	X(truncate) X(truncate64) X(ftruncate) X(ftruncate64) X(sendmsg) X(recvmsg) \
	X(chroot) X(dlopen) X(dlclose)
/* clang-format on */

REPLACED(DECLARE_REAL)

static struct tr_lane_writer lanes;
static const struct tr_journal *session;
static volatile bool on;	/* file calls are recorded */
static volatile bool elsewhere; /* another root: paths lead to other files than in the recorder */

/* Records. */

/* Writes a record of this process, unless that is in another pid namespace. */
static void put(struct tr_call_record *record, const char *first, const char *second)
{
	record->pid = (uint32_t)tr_journal_getpid();
	if (record->pid != lanes.pid) {
		record->ppid = (uint32_t)tr_journal_syscall(SYS_getppid);
		if (tr_journal_is_outside(session, record->pid, record->ppid))
			return;
	}
	record->time = tr_journal_now(session);
	tr_lane_writer_put(&lanes, record, first, second);
}

static void report_objects(void);

/*
 * Whether the strings can be read. With most errors the kernel has read the first one, but it may
 * have looked that up before it read the second one.
 */
static bool can_read(int error, const char *first, const char *second)
{
	struct tr_journal_pages pages = { 0 };
	bool has_read = error != EINVAL && error != EPERM && error != ENOSYS && error != EBADF;

	return (!first || has_read || tr_journal_can_read_string(&pages, first)) &&
	       (!second || tr_journal_can_read_string(&pages, second));
}

/* Records a call that has returned. Strings that the kernel could not read are left out. */
static void note_two(int result, struct tr_call_record record, const char *first,
		     const char *second)
{
	int saved = errno;

	report_objects();
	record.result = result;
	record.error = result < 0 ? saved : 0;
	if (record.error == EFAULT || (record.error && !can_read(record.error, first, second)))
		first = second = NULL;
	put(&record, first, second);
	errno = saved;
}

static void note(int result, struct tr_call_record record, const char *path)
{
	note_two(result, record, path, NULL);
}

#define CALL(name, ...) \
	(struct tr_call_record) \
	{ \
		.kind = TR_CALL_##name, __VA_ARGS__ \
	}

enum { REAL_SIZE = 1024 };

/* Finds the path of an open file, if the recorder cannot know it. False: it is too long. */
static bool read_link(int fd, char path[REAL_SIZE])
{
	char link[] = "/proc/self/fd/0123456789", *p = link + sizeof "/proc/self/fd/" - 1;
	char digits[12];
	size_t count = 0;

	for (unsigned number = (unsigned)fd; number || !count; number /= 10)
		digits[count++] = (char)('0' + number % 10);
	while (count)
		*p++ = digits[--count];
	*p = '\0';
	long len = tr_journal_syscall(SYS_readlinkat, AT_FDCWD, link, path, REAL_SIZE - 1L);
	path[len > 0 ? len : 0] = '\0';
	return len > 0 && len < REAL_SIZE - 1 && *path == '/';
}

/* Not inlined, because few calls need so much of the stack. */
static __attribute__((noinline)) void note_elsewhere(int fd, struct tr_call_record record,
						     const char *path)
{
	char real[REAL_SIZE];
	int saved = errno;
	bool known = read_link(fd, real);

	errno = saved;
	note_two(fd, record, path, known ? real : NULL);
}

static void note_open_kind(int fd, struct tr_call_record record, const char *path)
{
	bool relative = record.fd != AT_FDCWD && fd >= 0 && *path != '/';

	if (fd >= 0 && (relative || elsewhere || record.size))
		note_elsewhere(fd, record, path);
	else
		note_two(fd, record, path, NULL);
}

/* Whether the last argument of the call is a mode. */
static bool asks_mode(int flags)
{
	return flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE;
}

static void note_open(int fd, int directory, const char *path, int flags, mode_t mode)
{
	note_open_kind(fd,
		       CALL(OPENAT, .fd = directory, .flags = (unsigned)flags,
			    .mode = asks_mode(flags) ? mode : 0),
		       path);
}

/* Libraries that were loaded. */

static volatile int expected;	    /* how often to look for new objects, after dlopen was called */
static unsigned long long reported; /* how many objects were added to the list, at the last look */

struct objects {
	unsigned long long added; /* to the list, since the program began */
	size_t count;
	size_t skip;
	int fd; /* the one that the loader has used for them */
};

static int count_object(struct dl_phdr_info *info, size_t size, void *data)
{
	struct objects *objects = data;

	(void)size;
	objects->added = info->dlpi_adds;
	objects->count++;
	return 0;
}

/* Whether the loader has opened the object: not the program, itself, this library or the vDSO. */
static int put_object(struct dl_phdr_info *info, size_t size, void *data)
{
	struct objects *objects = data;
	const char *name = info->dlpi_name;

	(void)size;
	if (objects->skip) {
		objects->skip--;
	} else if (name && strchr(name, '/') && info->dlpi_addr != getauxval(AT_BASE) &&
		   strcmp(name, session->own) != 0) {
		char *real = elsewhere ? tr_journal_borrow(REAL_SIZE) : NULL;
		bool known = false;
		if (real) {
			int fd = (int)tr_journal_syscall(SYS_openat, AT_FDCWD, name,
							 O_PATH | O_CLOEXEC, 0);
			known = fd >= 0 && read_link(fd, real);
			if (fd >= 0)
				tr_journal_syscall(SYS_close, fd);
		}
		put(&CALL(LOAD, .fd = AT_FDCWD, .flags = O_RDONLY | O_CLOEXEC,
			  .result = objects->fd),
		    name, known ? real : NULL);
		tr_journal_return(real, REAL_SIZE);
	}
	return 0;
}

static void put_objects(void)
{
	struct objects objects = { 0 };

	dl_iterate_phdr(count_object, &objects);
	if (objects.added == reported)
		return;
	if (objects.added - reported < objects.count)
		objects.skip = objects.count - (size_t)(objects.added - reported);
	reported = objects.added;
	expected = 0;
	while (tr_journal_syscall(SYS_fcntl, objects.fd, F_GETFD, 0) >= 0)
		objects.fd++;
	dl_iterate_phdr(put_object, &objects);
}

/* The child of a vfork leaves this to its parent, whose memory it shares. */
static void report_objects(void)
{
	if (!expected || lanes.pid != (uint32_t)tr_journal_getpid())
		return;
	expected--;
	put_objects();
}

void tr_files_loaded(void)
{
	int saved = errno;

	if (on)
		report_objects();
	errno = saved;
}

/* This must be a jump: the return address decides whose paths are searched. */
HOOK void *dlopen(const char *file, int mode)
{
	if (file)
		expected = 4;
	return REAL(dlopen)(file, mode);
}

/* Records loaded objects before dlclose removes them from the list. */
HOOK int dlclose(void *object)
{
	tr_files_loaded();
	return REAL(dlclose)(object);
}

/* Begin and end. */

static bool is_at(const char *path, const uint64_t place[2])
{
	struct stat64 st;

	return stat64(path, &st) == 0 && st.st_dev == place[0] && st.st_ino == place[1];
}

void tr_files_begin(const struct tr_journal *journal)
{
	if (!*journal->lanes)
		return;
	session = journal;
	lanes.path = journal->lanes;
	lanes.mark = journal->mark;
	if (!tr_lane_writer_begin(&lanes)) {
		if (session->page)
			session->page->lost++;
		return;
	}
	elsewhere =
		!is_at("/", lanes.page->root) || !is_at("/proc/self/ns/mnt", lanes.page->mounts);
	on = true;
	put_objects();
}

void tr_files_forked(void)
{
	lanes.pid = (uint32_t)tr_journal_getpid();
	expected = 0; /* a thread that does not exist here may hold the lock of the list */
}

bool tr_files_stop(void)
{
	bool before = on;

	on = false;
	return before;
}

void tr_files_continue(void)
{
	on = true;
}

/* Opening. The variants for large files set a flag in 32-bit programs only. */

#define MODE(flags, last) \
	mode_t mode = 0; \
	if (asks_mode(flags)) { \
		va_list list; \
		va_start(list, last); \
		mode = va_arg(list, mode_t); \
		va_end(list); \
	}

#define OPEN(name, more) \
	HOOK int name(const char *path, int flags, ...) \
	{ \
		MODE(flags, flags) \
		int fd = REAL(name)(path, flags, mode); \
		if (on) \
			note_open(fd, AT_FDCWD, path, flags | (more), mode); \
		return fd; \
	}
OPEN(open, 0)
OPEN(open64, O_LARGEFILE)
OPEN(__open, 0)
OPEN(__open64, O_LARGEFILE)

#define OPENAT(name, more) \
	HOOK int name(int directory, const char *path, int flags, ...) \
	{ \
		MODE(flags, flags) \
		int fd = REAL(name)(directory, path, flags, mode); \
		if (on) \
			note_open(fd, directory, path, flags | (more), mode); \
		return fd; \
	}
OPENAT(openat, 0)
OPENAT(openat64, O_LARGEFILE)

/* The variants that the compiler calls if the flags need no mode. */
#define OPEN_2(name, more) \
	HOOK int name(const char *path, int flags) \
	{ \
		int fd = REAL(name)(path, flags); \
		if (on) \
			note_open(fd, AT_FDCWD, path, flags | (more), 0); \
		return fd; \
	}
OPEN_2(__open_2, 0)
OPEN_2(__open64_2, O_LARGEFILE)

#define OPENAT_2(name, more) \
	HOOK int name(int directory, const char *path, int flags) \
	{ \
		int fd = REAL(name)(directory, path, flags); \
		if (on) \
			note_open(fd, directory, path, flags | (more), 0); \
		return fd; \
	}
OPENAT_2(__openat_2, 0)
OPENAT_2(__openat64_2, O_LARGEFILE)

#define CREAT(name) \
	HOOK int name(const char *path, mode_t mode) \
	{ \
		int fd = REAL(name)(path, mode); \
		if (on) \
			note_open_kind(fd, CALL(CREAT, .fd = AT_FDCWD, .mode = mode), path); \
		return fd; \
	}
CREAT(creat)
CREAT(creat64)

/* Returns the flags with which fopen opens a file. */
static int flags_of(const char *mode)
{
	int flags = *mode == 'r'   ? O_RDONLY
		    : *mode == 'w' ? O_WRONLY | O_CREAT | O_TRUNC
				   : O_WRONLY | O_CREAT | O_APPEND;

	for (int i = 1; i < 7 && mode[i] && mode[i] != ','; i++) {
		if (mode[i] == '+')
			flags = (flags & ~O_ACCMODE) | O_RDWR;
		else if (mode[i] == 'x')
			flags |= O_EXCL;
		else if (mode[i] == 'e')
			flags |= O_CLOEXEC;
	}
	return flags;
}

static void note_stream(FILE *stream, const char *path, const char *mode)
{
	if (stream || errno != EINVAL)
		note_open(stream ? fileno(stream) : -1, AT_FDCWD, path, flags_of(mode), 0666);
}

#define FOPEN(name) \
	HOOK FILE *name(const char *path, const char *mode) \
	{ \
		FILE *stream = REAL(name)(path, mode); \
		if (on) \
			note_stream(stream, path, mode); \
		return stream; \
	}
FOPEN(fopen)
FOPEN(fopen64)

/* Returns the descriptor of a stream; -1: it has none. */
static int descriptor_of(FILE *stream)
{
	int saved = errno, fd = fileno(stream);

	errno = saved;
	return fd;
}

/*
 * Records that a descriptor is about to be closed. That must come before the call, because another
 * thread may open, and record, the same number as soon as it is free.
 */
static void note_close(int fd)
{
	if (fd >= 0)
		note(0, CALL(CLOSE, .fd = fd), NULL);
}

/* Without a path, the stream keeps its file. */
#define FREOPEN(name) \
	HOOK FILE *name(const char *path, const char *mode, FILE *stream) \
	{ \
		bool records = on && path; \
		int before = records ? descriptor_of(stream) : -1; \
		FILE *result = REAL(name)(path, mode, stream); \
		if (!records) \
			return result; \
		if (!result || descriptor_of(result) != before) \
			note_close(before); \
		note_stream(result, path, mode); \
		return result; \
	}
FREOPEN(freopen)
FREOPEN(freopen64)

void tr_files_closed(FILE *stream)
{
	if (on)
		note_close(descriptor_of(stream));
}

HOOK DIR *opendir(const char *path)
{
	DIR *directory = REAL(opendir)(path);

	if (on)
		note_open(directory ? dirfd(directory) : -1, AT_FDCWD, path,
			  O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_DIRECTORY, 0);
	return directory;
}

HOOK int closedir(DIR *directory)
{
	DIR *volatile given = directory; /* may be NULL, though the header says that it is not */

	if (on && given)
		note_close(dirfd(given));
	return REAL(closedir)(directory);
}

/*
 * Records the name that libc made. It rejects a wrong pattern, with EINVAL, without a system call.
 */
static void note_temporary(int fd, const char *path, int flags)
{
	if (fd >= 0 || errno != EINVAL)
		note_open(fd, AT_FDCWD, path, (flags & ~O_ACCMODE) | O_RDWR | O_CREAT | O_EXCL,
			  0600);
}

#define MKSTEMP(name, parameters, arguments, flags) \
	HOOK int name parameters \
	{ \
		int fd = REAL(name) arguments; \
		if (on) \
			note_temporary(fd, path, flags); \
		return fd; \
	}
MKSTEMP(mkstemp, (char *path), (path), 0)
MKSTEMP(mkstemp64, (char *path), (path), 0)
MKSTEMP(mkostemp, (char *path, int flags), (path, flags), flags)
MKSTEMP(mkostemp64, (char *path, int flags), (path, flags), flags)
MKSTEMP(mkstemps, (char *path, int suffix), (path, suffix), 0)
MKSTEMP(mkstemps64, (char *path, int suffix), (path, suffix), 0)
MKSTEMP(mkostemps, (char *path, int suffix, int flags), (path, suffix, flags), flags)
MKSTEMP(mkostemps64, (char *path, int suffix, int flags), (path, suffix, flags), flags)

HOOK char *mkdtemp(char *path)
{
	char *result = REAL(mkdtemp)(path);

	if (on && (result || errno != EINVAL))
		note(result ? 0 : -1, CALL(MKDIR, .mode = 0700), path);
	return result;
}

#define TMPFILE(name) \
	HOOK FILE *name(void) \
	{ \
		FILE *stream = REAL(name)(); \
		if (on && stream) \
			note_open(fileno(stream), AT_FDCWD, P_tmpdir, O_RDWR | O_EXCL | O_TMPFILE, \
				  0600); \
		return stream; \
	}
TMPFILE(tmpfile)
TMPFILE(tmpfile64)

/* Makes "/dev/shm/" and the name of shared memory. False: it is too long. */
static bool shared_path(const char *name, char path[512])
{
	static const char directory[] = "/dev/shm/";

	while (*name == '/')
		name++;
	size_t len = strnlen(name, 512);
	if (len + sizeof directory > 512)
		return false;
	memcpy(path, directory, sizeof directory - 1);
	memcpy(path + sizeof directory - 1, name, len + 1);
	return true;
}

HOOK int shm_open(const char *name, int flags, mode_t mode)
{
	int fd = REAL(shm_open)(name, flags, mode);
	char path[512];

	if (on && (fd >= 0 || errno != EINVAL) && shared_path(name, path))
		note_open(fd, AT_FDCWD, path, flags | O_NOFOLLOW | O_CLOEXEC, mode);
	return fd;
}

HOOK int shm_unlink(const char *name)
{
	int result = REAL(shm_unlink)(name);
	char path[512];

	if (on && shared_path(name, path))
		note(result, CALL(UNLINK), path);
	return result;
}

HOOK int memfd_create(const char *name, unsigned flags)
{
	int fd = REAL(memfd_create)(name, flags);

	if (on)
		note(fd, CALL(MEMFD_CREATE, .flags = flags), name);
	return fd;
}

/* Descriptors. */

/* Whether the close of an open descriptor must be recorded before it is made: see note_close. */
static bool closes_early(int fd)
{
	return !__libc_single_threaded && tr_journal_syscall(SYS_fcntl, fd, F_GETFD, 0) >= 0;
}

#define CLOSE(name) \
	HOOK int name(int fd) \
	{ \
		bool early = on && closes_early(fd); \
		if (early) \
			note_close(fd); \
		int result = REAL(name)(fd); \
		if (on && !early) \
			note(result, CALL(CLOSE, .fd = fd), NULL); \
		return result; \
	}
CLOSE(close)
CLOSE(__close)

static void note_range(int result, unsigned first, unsigned last, unsigned flags)
{
	note(result, CALL(CLOSE_RANGE, .fd = (int)first, .other = (int)last, .flags = flags), NULL);
}

static int close_all(unsigned first, unsigned last, unsigned flags)
{
	enum { KNOWN = 2 | 4 /* CLOSE_RANGE_UNSHARE, CLOSE_RANGE_CLOEXEC */ };
	bool early = !__libc_single_threaded && first <= last && !(flags & ~(unsigned)KNOWN);

	if (early)
		note_range(0, first, last, flags);
	int result = REAL(close_range)
			     ? REAL(close_range)(first, last, (int)flags)
			     : (int)tr_journal_syscall(SYS_close_range, first, last, flags);
	if (!early)
		note_range(result, first, last, flags);
	return result;
}

HOOK int close_range(unsigned first, unsigned last, int flags)
{
	return on ? close_all(first, last, (unsigned)flags) : REAL(close_range)(first, last, flags);
}

HOOK void closefrom(int first)
{
	if (on)
		note_range(0, first < 0 ? 0 : (unsigned)first, ~0U, 0);
	REAL(closefrom)(first);
}

HOOK int dup(int fd)
{
	int result = REAL(dup)(fd);

	if (on)
		note(result, CALL(DUP, .fd = fd), NULL);
	return result;
}

#define DUP2(name) \
	HOOK int name(int fd, int other) \
	{ \
		int result = REAL(name)(fd, other); \
		if (on) \
			note(result, CALL(DUP2, .fd = fd, .other = other), NULL); \
		return result; \
	}
DUP2(dup2)
DUP2(__dup2)

HOOK int dup3(int fd, int other, int flags)
{
	int result = REAL(dup3)(fd, other, flags);

	if (on)
		note(result, CALL(DUP3, .fd = fd, .other = other, .flags = (unsigned)flags), NULL);
	return result;
}

static void note_control(int result, int fd, int command, long argument)
{
	if (command == F_DUPFD || command == F_DUPFD_CLOEXEC)
		note(result,
		     CALL(DUPFD, .fd = fd, .other = (int)argument,
			  .flags = command == F_DUPFD ? 0 : FD_CLOEXEC),
		     NULL);
	else if (command == F_SETFD)
		note(result, CALL(SETFD, .fd = fd, .flags = (unsigned)argument), NULL);
}

#define FCNTL(name) \
	HOOK int name(int fd, int command, ...) \
	{ \
		va_list list; \
		va_start(list, command); \
		void *argument = va_arg(list, void *); \
		va_end(list); \
		int result = REAL(name)(fd, command, argument); \
		if (on) \
			note_control(result, fd, command, (long)argument); \
		return result; \
	}
FCNTL(fcntl)
FCNTL(fcntl64)
FCNTL(__fcntl)

static void note_pipe(int result, const int ends[2], int flags)
{
	struct tr_call_record record = CALL(PIPE2, .flags = (unsigned)flags);

	if (result == 0) {
		record.fd = ends[0];
		record.other = ends[1];
	}
	note(result, record, NULL);
}

HOOK int pipe(int ends[2])
{
	int result = REAL(pipe)(ends);

	if (on)
		note_pipe(result, ends, 0);
	return result;
}

HOOK int pipe2(int ends[2], int flags)
{
	int result = REAL(pipe2)(ends, flags);

	if (on)
		note_pipe(result, ends, flags);
	return result;
}

HOOK int socketpair(int domain, int type, int protocol, int ends[2])
{
	int result = REAL(socketpair)(domain, type, protocol, ends);
	struct tr_call_record record = CALL(SOCKETPAIR, .flags = (unsigned)type,
					    .mode = (unsigned)domain, .size = protocol);

	if (result == 0) {
		record.fd = ends[0];
		record.other = ends[1];
	}
	if (on)
		note(result, record, NULL);
	return result;
}

/* Names. */

HOOK int rename(const char *from, const char *to)
{
	int result = REAL(rename)(from, to);

	if (on)
		note_two(result, CALL(RENAME), from, to);
	return result;
}

HOOK int renameat(int directory, const char *from, int other, const char *to)
{
	int result = REAL(renameat)(directory, from, other, to);

	if (on)
		note_two(result, CALL(RENAMEAT, .fd = directory, .other = other), from, to);
	return result;
}

HOOK int renameat2(int directory, const char *from, int other, const char *to, unsigned flags)
{
	int result = REAL(renameat2)(directory, from, other, to, flags);

	if (on)
		note_two(result, CALL(RENAMEAT2, .fd = directory, .other = other, .flags = flags),
			 from, to);
	return result;
}

HOOK int link(const char *from, const char *to)
{
	int result = REAL(link)(from, to);

	if (on)
		note_two(result, CALL(LINK), from, to);
	return result;
}

HOOK int linkat(int directory, const char *from, int other, const char *to, int flags)
{
	int result = REAL(linkat)(directory, from, other, to, flags);

	if (on)
		note_two(result,
			 CALL(LINKAT, .fd = directory, .other = other, .flags = (unsigned)flags),
			 from, to);
	return result;
}

HOOK int symlink(const char *target, const char *path)
{
	int result = REAL(symlink)(target, path);

	if (on)
		note_two(result, CALL(SYMLINK), target, path);
	return result;
}

HOOK int symlinkat(const char *target, int directory, const char *path)
{
	int result = REAL(symlinkat)(target, directory, path);

	if (on)
		note_two(result, CALL(SYMLINKAT, .fd = directory), target, path);
	return result;
}

HOOK int unlink(const char *path)
{
	int result = REAL(unlink)(path);

	if (on)
		note(result, CALL(UNLINK), path);
	return result;
}

HOOK int unlinkat(int directory, const char *path, int flags)
{
	int result = REAL(unlinkat)(directory, path, flags);

	if (on)
		note(result, CALL(UNLINKAT, .fd = directory, .flags = (unsigned)flags), path);
	return result;
}

/* libc calls unlink, or rmdir for a directory. */
HOOK int remove(const char *path)
{
	int result = REAL(remove)(path);

	if (on && result < 0 && (errno == ENOTEMPTY || errno == EBUSY)) {
		int saved = errno;
		errno = EISDIR;
		note(result, CALL(UNLINK), path);
		errno = saved;
		note(result, CALL(RMDIR), path);
	} else if (on) {
		note(result, CALL(UNLINK), path);
	}
	return result;
}

HOOK int rmdir(const char *path)
{
	int result = REAL(rmdir)(path);

	if (on)
		note(result, CALL(RMDIR), path);
	return result;
}

HOOK int mkdir(const char *path, mode_t mode)
{
	int result = REAL(mkdir)(path, mode);

	if (on)
		note(result, CALL(MKDIR, .mode = mode), path);
	return result;
}

HOOK int mkdirat(int directory, const char *path, mode_t mode)
{
	int result = REAL(mkdirat)(directory, path, mode);

	if (on)
		note(result, CALL(MKDIRAT, .fd = directory, .mode = mode), path);
	return result;
}

static void note_node(int result, int directory, const char *path, mode_t mode, dev_t device)
{
	note(result, CALL(MKNODAT, .fd = directory, .mode = mode, .size = (int64_t)device), path);
}

HOOK int mknod(const char *path, mode_t mode, dev_t device)
{
	int result = REAL(mknod)(path, mode, device);

	if (on)
		note_node(result, AT_FDCWD, path, mode, device);
	return result;
}

HOOK int mknodat(int directory, const char *path, mode_t mode, dev_t device)
{
	int result = REAL(mknodat)(directory, path, mode, device);

	if (on)
		note_node(result, directory, path, mode, device);
	return result;
}

HOOK int __xmknod(int version, const char *path, mode_t mode, dev_t *device)
{
	int result = REAL(__xmknod)(version, path, mode, device);

	if (on)
		note_node(result, AT_FDCWD, path, mode, *device);
	return result;
}

HOOK int __xmknodat(int version, int directory, const char *path, mode_t mode, dev_t *device)
{
	int result = REAL(__xmknodat)(version, directory, path, mode, device);

	if (on)
		note_node(result, directory, path, mode, *device);
	return result;
}

HOOK int mkfifo(const char *path, mode_t mode)
{
	int result = REAL(mkfifo)(path, mode);

	if (on)
		note_node(result, AT_FDCWD, path, mode | S_IFIFO, 0);
	return result;
}

HOOK int mkfifoat(int directory, const char *path, mode_t mode)
{
	int result = REAL(mkfifoat)(directory, path, mode);

	if (on)
		note_node(result, directory, path, mode | S_IFIFO, 0);
	return result;
}

#define TRUNCATE(name, type) \
	HOOK int name(const char *path, type size) \
	{ \
		int result = REAL(name)(path, size); \
		if (on) \
			note(result, CALL(TRUNCATE, .size = size), path); \
		return result; \
	}
TRUNCATE(truncate, off_t)
TRUNCATE(truncate64, off64_t)

#define FTRUNCATE(name, type) \
	HOOK int name(int fd, type size) \
	{ \
		int result = REAL(name)(fd, size); \
		if (on) \
			note(result, CALL(FTRUNCATE, .fd = fd, .size = size), NULL); \
		return result; \
	}
FTRUNCATE(ftruncate, off_t)
FTRUNCATE(ftruncate64, off64_t)

/* Messages. Only those that pass descriptors are recorded. */

/* Lists the descriptors in the first control message as "4, 5". False: there are none. */
static bool list_descriptors(const struct msghdr *message, char text[512], int64_t *bytes)
{
	char *to = text, digits[12];

	if (!message->msg_control || message->msg_controllen < sizeof(struct cmsghdr))
		return false;
	const struct cmsghdr *control = CMSG_FIRSTHDR(message);
	if (control->cmsg_level != SOL_SOCKET || control->cmsg_type != SCM_RIGHTS ||
	    control->cmsg_len > message->msg_controllen || control->cmsg_len < CMSG_LEN(0))
		return false;
	size_t count = (control->cmsg_len - CMSG_LEN(0)) / sizeof(int);
	*bytes = (int64_t)control->cmsg_len;
	for (size_t i = 0; i < count && to < text + 512 - 2 * sizeof digits; i++) {
		int fd, len = 0;
		memcpy(&fd, CMSG_DATA(control) + i * sizeof fd, sizeof fd);
		for (unsigned number = (unsigned)fd; number || !len; number /= 10)
			digits[len++] = (char)('0' + number % 10);
		if (i) {
			*to++ = ',';
			*to++ = ' ';
		}
		while (len)
			*to++ = digits[--len];
	}
	*to = '\0';
	return count;
}

static void note_message(ssize_t result, struct tr_call_record record, const struct msghdr *message)
{
	int saved = errno;
	char text[512];

	if (result >= 0 && list_descriptors(message, text, &record.size))
		note((int)result, record, text);
	errno = saved;
}

HOOK ssize_t sendmsg(int fd, const struct msghdr *message, int flags)
{
	ssize_t result = REAL(sendmsg)(fd, message, flags);

	if (on)
		note_message(result, CALL(SENDMSG, .fd = fd, .flags = (unsigned)flags), message);
	return result;
}

HOOK ssize_t recvmsg(int fd, struct msghdr *message, int flags)
{
	ssize_t result = REAL(recvmsg)(fd, message, flags);

	if (on)
		note_message(result, CALL(RECVMSG, .fd = fd, .flags = (unsigned)flags), message);
	return result;
}

/* The call is not recorded, because strace is not asked for it either. */
HOOK int chroot(const char *path)
{
	int result = REAL(chroot)(path);

	if (result == 0)
		elsewhere = true;
	return result;
}

/* Calls that libc makes in a process that it creates, before the program begins. */

static uint64_t token_of(const struct tr_launch *launch)
{
	return (uint64_t)launch->record.token_pid << 32 | launch->record.token;
}

static void put_action(const struct tr_spawn_action *action, uint64_t token)
{
	switch (action->tag) {
	case TR_SPAWN_CLOSES:
		put(&CALL(CLOSE, .fd = action->fd, .token = token), NULL, NULL);
		break;
	case TR_SPAWN_DUPLICATES:
		put(&CALL(DUP2, .fd = action->dup2.fd, .other = action->dup2.other,
			  .result = action->dup2.other, .token = token),
		    NULL, NULL);
		break;
	case TR_SPAWN_OPENS:
		put(&CALL(OPENAT, .fd = AT_FDCWD, .flags = (unsigned)action->open.flags,
			  .mode = action->open.mode, .result = action->open.fd, .token = token),
		    action->open.path, NULL);
		break;
	case TR_SPAWN_CLOSES_FROM:
		put(&CALL(CLOSE_RANGE, .fd = action->fd, .other = -1, .token = token), NULL, NULL);
		break;
	default: /* the program itself reports its directory */
		break;
	}
}

void tr_files_spawn(const struct tr_launch *launch, const posix_spawn_file_actions_t *actions)
{
	if (!on || !launch->announced || !actions)
		return;
	const struct tr_spawn_action *action = (const void *)actions->__actions;
	int saved = errno;
	for (int i = 0; i < actions->__used; i++)
		put_action(&action[i], token_of(launch));
	errno = saved;
}

/* Calls by number. */

struct how {
	uint64_t flags, mode, resolve;
};

static long open_how(int directory, const char *path, const struct how *how, size_t size)
{
	long fd = tr_journal_syscall(SYS_openat2, directory, path, how, size);

	if (fd >= 0 ||
	    (errno != EFAULT && tr_journal_can_read(&(struct tr_journal_pages){ 0 }, how)))
		note_open_kind((int)fd,
			       CALL(OPENAT2, .fd = directory, .flags = (unsigned)how->flags,
				    .mode = (unsigned)how->mode, .size = (int64_t)how->resolve),
			       path);
	return fd;
}

bool tr_files_syscall(long number, const long *a, long *result)
{
	if (!on)
		return false;
	switch (number) {
	case SYS_openat:
		*result = openat((int)a[0], (const char *)a[1], (int)a[2], (mode_t)a[3]);
		return true;
	case SYS_openat2:
		*result = open_how((int)a[0], (const char *)a[1], (const void *)a[2], (size_t)a[3]);
		return true;
	case SYS_close:
		*result = close((int)a[0]);
		return true;
	case SYS_close_range:
		*result = close_all((unsigned)a[0], (unsigned)a[1], (unsigned)a[2]);
		return true;
	case SYS_dup:
		*result = dup((int)a[0]);
		return true;
	case SYS_dup3:
		*result = dup3((int)a[0], (int)a[1], (int)a[2]);
		return true;
	case SYS_memfd_create:
		*result = tr_journal_syscall(number, a[0], a[1]);
		note((int)*result, CALL(MEMFD_CREATE, .flags = (unsigned)a[1]), (const char *)a[0]);
		return true;
	case SYS_renameat2:
		*result = tr_journal_syscall(number, a[0], a[1], a[2], a[3], a[4]);
		note_two((int)*result,
			 CALL(RENAMEAT2, .fd = (int)a[0], .other = (int)a[2],
			      .flags = (unsigned)a[4]),
			 (const char *)a[1], (const char *)a[3]);
		return true;
	case SYS_unlinkat:
		*result = unlinkat((int)a[0], (const char *)a[1], (int)a[2]);
		return true;
	default:
		return false;
	}
}
