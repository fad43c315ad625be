/* SPDX-License-Identifier: MIT */
/*
 * What the calls of the table do to which files: names, arguments and flags as tracers print them.
 */
#include "deps/file_call.h"

#include <inttypes.h>

#include "log.h"
#include "tap.h"

static const char *const ops[] = {
	[TR_FILE_OPEN] = "open",	 [TR_FILE_MEMORY] = "memory",
	[TR_FILE_CLOSE] = "close",	 [TR_FILE_CLOSE_RANGE] = "close-range",
	[TR_FILE_DUP] = "dup",		 [TR_FILE_CONTROL] = "control",
	[TR_FILE_PIPE] = "pipe",	 [TR_FILE_SOCKETS] = "sockets",
	[TR_FILE_RENAME] = "rename",	 [TR_FILE_LINK] = "link",
	[TR_FILE_SYMLINK] = "symlink",	 [TR_FILE_DELETE] = "delete",
	[TR_FILE_MKDIR] = "mkdir",	 [TR_FILE_MKNOD] = "mknod",
	[TR_FILE_TRUNCATE] = "truncate", [TR_FILE_STAT] = "stat",
	[TR_FILE_READLINK] = "readlink", [TR_FILE_LIST] = "list",
	[TR_FILE_CHDIR] = "chdir",	 [TR_FILE_READ] = "read",
	[TR_FILE_WRITE] = "write",	 [TR_FILE_COPY] = "copy",
	[TR_FILE_MAP] = "map",		 [TR_FILE_SEND] = "send",
	[TR_FILE_RECEIVE] = "receive",	 [TR_FILE_UNSHARE] = "unshare",
	[TR_FILE_CHROOT] = "chroot",	 [TR_FILE_MOUNT] = "mount",
	[TR_FILE_EXEC] = "exec",
};

/* A letter for each flag, from TR_FILE_READS on. */
static const char flags[] = "RWCXTADcnPUNFExSdfs";

/* Calls of one operation and their arguments. What each gives is the same but for the name. */
struct test {
	const char *names, *fields, *want;
};

static const struct test tests[] = {
	{ "open", "path=\"/a\" flags=O_RDONLY -> return=3", "open R /a =3" },
	{ "open", "path=\"a\" flags=O_WRONLY|O_CREAT|O_EXCL|O_TRUNC|O_APPEND -> return=3",
	  "open WCXTA a =3" },
	{ "open", "path=\"a\" flags=O_RDWR|O_CLOEXEC|O_NOFOLLOW|O_DIRECTORY -> return=3",
	  "open RWDcN a =3" },
	{ "open", "path=\"a\" flags=O_RDWR|O_TMPFILE|O_PATH|O_FUTURE -> return=3",
	  "open RWPU a =3" },
	/* as numbers: hex, decimal, and in the forms of strace -X raw and verbose */
	{ "open", "path=\"a\" flags=0x241 -> return=3", "open WCT a =3" },
	{ "open", "path=\"a\" flags=0x0041 -> return=3", "open WC a =3" },
	{ "open", "path=\"a\" flags=524288 -> return=3", "open Rc a =3" },
	{ "open", "path=\"a\" flags=?(0x2) -> return=3", "open RW a =3" },
	{ "open", "path=\"a\" flags=O_WRONLY|O_CREAT(0x41@M1) -> return=3", "open WC a =3" },
	{ "open", "path=\"a\" flags=0x3 -> return=3", "open RW a =3" },
	{ "creat", "path=\"a\" mode=0644 -> return=3", "open WCT a =3" },
	{ "openat", "dirfd=5 path=\"a\" flags=O_RDONLY -> return=3", "open R 5:a =3" },
	{ "openat", "dirfd=AT_FDCWD path=\"a\" flags=O_RDONLY -> return=3", "open R a =3" },
	{ "openat", "dirfd=<\"/d\";5> path=\"a\" flags=O_RDONLY -> return=<\"/d/a\";3>",
	  "open R 5</d>:a =3</d/a>" },
	{ "openat", "dirfd=<\"/cwd\";AT_FDCWD> path=\"a\" flags=O_RDONLY -> error=ENOENT",
	  "open R -100</cwd>:a error=ENOENT" },
	{ "openat2", "dirfd=5 path=\"a\" how={flags=O_WRONLY|O_CREAT,mode=0644} -> return=3",
	  "open WC 5:a =3" },
	{ "open", "path=\"a\" orig=\"./b\" flags=O_RDONLY -> return=3", "open R a orig=./b =3" },
	{ "open", "path=\"a\"... flags=O_RDONLY -> return=3", "open R =3" }, /* cut */
	{ "open", "path=\"a\\n\" flags=O_RDONLY failed=true", "open R a\n error=" },
	{ "memfd_create", "name=\"x\" flags=MFD_CLOEXEC -> return=4", "memory RWcU =4" },
	{ "close", "fd=3 -> return=0", "close fd=3 =0" },
	{ "close", "fd=<\"/a\";3>", "close fd=3</a>" },
	{ "close", "fd=<\"socket:[1]\";3>", "close fd=3" },
	{ "close", "fd=0x1f", "close fd=31" },
	{ "close", "fd=-1 -> error=EBADF", "close error=EBADF" },
	{ "close_range", "first=3 last=9 flags=CLOSE_RANGE_UNSHARE|CLOSE_RANGE_CLOEXEC",
	  "close-range cf fd=3 other=9" },
	{ "dup", "oldfd=3 -> return=4", "dup fd=3 =4" },
	{ "dup2 dup3", "oldfd=3 newfd=4 flags=O_CLOEXEC -> return=4", "dup c fd=3 other=4 =4" },
	{ "fcntl fcntl64", "fd=3 cmd=F_DUPFD arg=10 -> return=10", "control d fd=3 =10" },
	{ "fcntl", "fd=3 cmd=F_DUPFD_CLOEXEC arg=10 -> return=10", "control cd fd=3 =10" },
	{ "fcntl", "fd=3 cmd=F_SETFD arg=FD_CLOEXEC -> return=0", "control c fd=3 =0" },
	{ "fcntl", "fd=3 cmd=F_SETFD arg=0 -> return=0", "control n fd=3 =0" },
	{ "fcntl", "fd=3 cmd=F_GETFL", "-" },
	{ "pipe pipe2", "fds=[3,4] flags=O_CLOEXEC|O_NONBLOCK -> return=0", "pipe c [3,4] =0" },
	{ "pipe", "fds=[<\"pipe:[1]\";3>,<\"pipe:[1]\";4>]", "pipe [3,4]" },
	{ "socketpair", "fds=[5,6] flags=SOCK_STREAM|SOCK_CLOEXEC -> return=0",
	  "sockets c [5,6] =0" },
	{ "rename", "from=\"a\" to=\"b\" -> return=0", "rename N a b =0" },
	{ "renameat renameat2", "olddirfd=5 from=\"a\" newdirfd=6 to=\"b\" flags=RENAME_EXCHANGE",
	  "rename Nx 5:a 6:b" },
	{ "link", "from=\"a\" to=\"b\"", "link N a b" },
	{ "linkat",
	  "olddirfd=5 from=\"a\" newdirfd=6 to=\"b\" flags=AT_SYMLINK_FOLLOW|AT_EMPTY_PATH",
	  "link NFE 5:a 6:b" },
	{ "symlink", "target=\"a\" link=\"b\"", "symlink N a b" },
	{ "symlinkat", "target=\"a\" newdirfd=6 link=\"b\"", "symlink N a 6:b" },
	{ "unlink", "path=\"a\"", "delete N a" },
	{ "rmdir", "path=\"a\"", "delete DN a" },
	{ "unlinkat", "dirfd=5 path=\"a\" flags=AT_REMOVEDIR", "delete DN 5:a" },
	{ "mkdir", "path=\"a\" mode=0777", "mkdir N a" },
	{ "mkdirat", "dirfd=5 path=\"a\"", "mkdir N 5:a" },
	{ "mknod", "path=\"a\" mode=S_IFREG|0644", "mknod N a type=1" },
	{ "mknodat", "dirfd=5 path=\"a\" mode=S_IFIFO|0644", "mknod N 5:a type=4" },
	{ "truncate truncate64", "path=\"a\" length=0", "truncate a empty" },
	{ "ftruncate ftruncate64", "fd=3 length=10", "truncate fd=3" },
	{ "stat stat64", "path=\"a\" statbuf={st_mode=S_IFDIR|0755,st_size=1}", "stat a type=2" },
	{ "stat", "path=\"a\" statbuf={st_mode=S_IFREG|0755}", "stat a type=1" },
	{ "lstat lstat64", "path=\"a\" statbuf={st_mode=S_IFLNK|0777}", "stat N a" },
	{ "stat", "path=\"a\" statbuf={st_mode=S_IFCHR|0666}", "stat a type=3" },
	{ "stat", "path=\"a\" statbuf=0x7f", "stat a" },
	{ "fstat fstat64", "fd=3 statbuf={st_mode=S_IFIFO|0600}", "stat E fd=3 type=4" },
	{ "newfstatat fstatat64", "dirfd=5 path=\"\" statbuf={st_mode=S_IFREG} flags=AT_EMPTY_PATH",
	  "stat E 5: type=1" },
	{ "statx", "dirfd=5 path=\"a\" flags=AT_SYMLINK_NOFOLLOW statxbuf={stx_mode=S_IFDIR}",
	  "stat N 5:a type=2" },
	{ "access chmod chown utime utimes getxattr", "path=\"a\"", "stat a" },
	{ "lchown lgetxattr", "path=\"a\"", "stat N a" },
	{ "faccessat faccessat2 fchmodat fchmodat2 fchownat futimesat utimensat",
	  "dirfd=5 path=\"a\"", "stat 5:a" },
	{ "readlink", "path=\"a\" buf=\"t\" bufsize=9 -> return=1", "readlink N a t =1" },
	{ "readlinkat", "dirfd=5 path=\"a\" buf=\"t\" -> return=1", "readlink N 5:a t =1" },
	{ "getdents getdents64", "fd=3", "list fd=3" },
	{ "chdir", "path=\"a\"", "chdir a" },
	{ "fchdir", "fd=3", "chdir fd=3" },
	{ "read readv pread64 preadv preadv2 recvfrom", "fd=3 -> return=7", "read fd=3 =7" },
	{ "write writev pwrite64 pwritev pwritev2 sendto vmsplice fallocate", "fd=3 -> return=7",
	  "write fd=3 =7" },
	{ "copy_file_range splice tee", "fd_in=3 fd_out=4", "copy fd=3 other=4" },
	{ "sendfile sendfile64", "out_fd=4 in_fd=3", "copy fd=3 other=4" },
	{ "mmap mmap2", "addr=NULL length=10 prot=PROT_READ|PROT_EXEC flags=MAP_PRIVATE fd=3",
	  "map R fd=3" },
	{ "mmap", "prot=PROT_READ|PROT_WRITE flags=MAP_SHARED fd=3", "map RWS fd=3" },
	{ "mmap", "prot=PROT_WRITE flags=MAP_SHARED_VALIDATE fd=3", "map WS fd=3" },
	{ "sendmsg", "fd=3 msg={msg_control=[{cmsg_type=SCM_RIGHTS,cmsg_data=[5,6]}]}",
	  "send fd=3 [5,6]" },
	{ "recvmsg",
	  "fd=3 msg={msg_control=[{cmsg_type=SCM_RIGHTS,cmsg_data=[<\"/a]\";7>]}]} "
	  "flags=MSG_CMSG_CLOEXEC",
	  "receive c fd=3 [7]" },
	{ "recvmsg", "fd=3 msg={msg_control=[{cmsg_type=SCM_CREDENTIALS,cmsg_data=[5]}]}",
	  "receive fd=3" },
	{ "unshare", "flags=CLONE_FILES|CLONE_FS|CLONE_NEWNS", "unshare fs" },
	{ "unshare", "flags=CLONE_NEWUSER", "unshare s" },
	{ "chroot", "path=\"a\"", "chroot a" },
	{ "mount move_mount pivot_root", "source=\"a\" target=\"b\"", "mount" },
	{ "ioctl", "fd=4 op=FICLONE arg=3", "copy fd=3 other=4" },
	{ "ioctl", "fd=4 op=FICLONERANGE arg={src_fd=3,src_offset=0}", "copy fd=3 other=4" },
	{ "ioctl", "fd=4 op=FICLONERANGE arg=0x7ffe", "-" },
	{ "ioctl", "fd=4 op=TCGETS arg=3", "-" },
	{ "execve", "path=\"/bin/a\" error=ENOENT", "exec /bin/a error=ENOENT" },
	{ "execveat", "dirfd=5 path=\"a\" error=EACCES", "exec 5:a error=EACCES" },
	/* other calls, also such whose names only begin or look like those of the table */
	{ "getpid clos closed opened openbt renameat3 copy_file_rangf x dup4 tre "
	  "a_name_that_is_longer_than_all",
	  "fd=3 path=\"a\"", "-" },
	/* keys that only look like those of the table, a key twice, columns that are no fields */
	{ "open", "pbth=\"x\" fla=O_RDWR flagz=O_RDWR path=\"a\" flags=O_RDONLY", "open R a" },
	{ "open", "path=\"a\" path=\"b\" flags=O_RDONLY", "open R b" },
	{ "open", "path path=\"a\" =3 flags=O_RDONLY", "open R a" },
};

static void put_path(const struct tr_file_path *path, struct tr_buffer *to)
{
	char number[32];

	if (!path->text.data)
		return;
	tr_buffer_put_byte(to, ' ');
	if (path->dir != TR_FD_CWD || path->dir_text.data) {
		snprintf(number, sizeof number, "%" PRId64, path->dir);
		tr_buffer_put_text(to, tr_text_from(number));
		if (path->dir_text.data) {
			tr_buffer_put_byte(to, '<');
			tr_buffer_put_text(to, path->dir_text);
			tr_buffer_put_byte(to, '>');
		}
		tr_buffer_put_byte(to, ':');
	}
	tr_buffer_put_text(to, path->text);
}

static void put_fd(const char *name, int64_t fd, struct tr_text path, struct tr_buffer *to)
{
	char number[32];

	if (fd == TR_FD_NONE)
		return;
	snprintf(number, sizeof number, " %s=%" PRId64, name, fd);
	tr_buffer_put_text(to, tr_text_from(number));
	if (path.data) {
		tr_buffer_put_byte(to, '<');
		tr_buffer_put_text(to, path);
		tr_buffer_put_byte(to, '>');
	}
}

static void put_call(const struct tr_file_call *call, struct tr_buffer *to)
{
	tr_buffer_put_text(to, tr_text_from(ops[call->op]));
	if (call->flags)
		tr_buffer_put_byte(to, ' ');
	for (unsigned i = 0; i < sizeof flags - 1; i++)
		if (call->flags >> i & 1)
			tr_buffer_put_byte(to, flags[i]);
	put_path(&call->path[0], to);
	put_path(&call->path[1], to);
	if (call->original.data) {
		tr_buffer_put_literal(to, " orig=");
		tr_buffer_put_text(to, call->original);
	}
	put_fd("fd", call->fd, call->fd_text, to);
	put_fd("other", call->other_fd, call->other_fd_text, to);
	for (unsigned i = 0; i < call->fd_count; i++) {
		tr_buffer_put_text(to, i ? TR_TEXT(",") : TR_TEXT(" ["));
		tr_buffer_put_decimal(to, (uint64_t)call->fds[i]);
	}
	if (call->fd_count)
		tr_buffer_put_byte(to, ']');
	if (call->type) {
		tr_buffer_put_literal(to, " type=");
		tr_buffer_put_decimal(to, call->type);
	}
	if (call->empty)
		tr_buffer_put_literal(to, " empty");
	put_fd("", call->result, call->result_text, to);
	if (call->error.data) {
		tr_buffer_put_literal(to, " error=");
		tr_buffer_put_text(to, call->error);
	}
}

/* Reads a call of that name; what it changes in the structure must not depend on what was there. */
static bool gives(struct tr_text name, const char *fields, const char *want)
{
	char text[512], line[512];
	const char *at = text;
	struct tr_arena arena = TR_ARENA_INIT;
	struct tr_record record;
	struct tr_file_call call;
	struct tr_buffer got = TR_BUFFER_INIT;
	struct tr_error err;

	memset(&call, 0x55, sizeof call);
	snprintf(text, sizeof text, "sys 1 %.*s %s", (int)name.len, name.data, fields);
	if (log_record(&at, 0, line, sizeof line, &record, &arena) &&
	    tr_file_call_read(&record, &call, &err) == TR_OK)
		put_call(&call, &got);
	else
		tr_buffer_put_byte(&got, '-');
	bool same = tr_text_is(tr_buffer_text(&got), want);
	if (!same)
		diag("got %.*s\nnot %s", (int)got.len, got.data, want);
	tr_buffer_free(&got);
	tr_arena_free(&arena);
	return same;
}

/* The other two functions know the same calls. */
static bool is_known(struct tr_text name, const char *want)
{
	bool call = tr_text_starts(tr_text_from(want), TR_TEXT("control")) || *want != '-';
	bool state = tr_text_starts(tr_text_from(want), TR_TEXT("chdir")) ||
		     tr_text_starts(tr_text_from(want), TR_TEXT("exec")) ||
		     tr_text_starts(tr_text_from(want), TR_TEXT("unshare")) ||
		     tr_text_starts(tr_text_from(want), TR_TEXT("chroot")) ||
		     tr_text_starts(tr_text_from(want), TR_TEXT("mount"));

	return tr_text_starts(name, TR_TEXT("fcntl")) || tr_text_is(name, "ioctl") ||
	       (tr_file_call_concerns(name) == call && tr_file_call_uses(name) == (call && !state));
}

int main(void)
{
	for (size_t i = 0; i < sizeof tests / sizeof *tests; i++) {
		const struct test *t = &tests[i];
		bool good = true;
		for (const char *p = t->names; *p;) {
			struct tr_text name = { p, strcspn(p, " ") };
			good &= gives(name, t->fields, t->want) && is_known(name, t->want);
			p += name.len + (p[name.len] == ' ');
		}
		ok(good, "%s %s", t->names, t->fields);
	}
	return done_testing();
}
