/* SPDX-License-Identifier: MIT */
/*
 * System calls by name: the names of their arguments, what the reader does with them, and the flags
 * of clone. The names of calls also tell strace's logs from source code and from other logs: the
 * bid counts them.
 */
#include "format/strace/strace.h"

/*
 * Sorted by name, for a search. The names of arguments are "" if strace prints them itself. trec(5)
 * has one word in all formats for these: path, from, to, target, link, fd, flags, mode. The others
 * are those of the manual pages. Effect 0 is none.
 */
static const struct tr_strace_syscall table[] = {
	{ "accept", "fd addr addrlen", 0 },
	{ "accept4", "fd addr addrlen flags", 0 },
	{ "access", "path mode", 0 },
	{ "acct", "path", 0 },
	{ "alarm", "seconds", 0 },
	{ "arch_prctl", "code addr", 0 },
	{ "bind", "fd addr addrlen", 0 },
	{ "bpf", "cmd attr size", 0 },
	{ "brk", "addr", 0 },
	{ "capget", "hdrp datap", 0 },
	{ "capset", "hdrp datap", 0 },
	{ "chdir", "path", TR_STRACE_CHDIR },
	{ "chmod", "path mode", 0 },
	{ "chown", "path owner group", 0 },
	{ "chroot", "path", 0 },
	{ "clock_getres", "clockid res", 0 },
	{ "clock_gettime", "clockid tp", 0 },
	{ "clock_nanosleep", "clockid flags request remain", 0 },
	{ "clock_settime", "clockid tp", 0 },
	{ "clone", "", TR_STRACE_FORK },
	{ "clone2", "", TR_STRACE_FORK },
	{ "clone3", "cl_args size", TR_STRACE_FORK },
	{ "close", "fd", TR_STRACE_CLOSE },
	{ "close_range", "first last flags", 0 },
	{ "connect", "fd addr addrlen", 0 },
	{ "copy_file_range", "fd_in off_in fd_out off_out len flags", 0 },
	{ "creat", "path mode", 0 },
	{ "delete_module", "name flags", 0 },
	{ "dup", "oldfd", TR_STRACE_DUP },
	{ "dup2", "oldfd newfd", TR_STRACE_DUP },
	{ "dup3", "oldfd newfd flags", TR_STRACE_DUP },
	{ "epoll_create", "size", 0 },
	{ "epoll_create1", "flags", 0 },
	{ "epoll_ctl", "epfd op fd event", 0 },
	{ "epoll_pwait", "epfd events maxevents timeout sigmask sigsetsize", 0 },
	{ "epoll_pwait2", "epfd events maxevents timeout sigmask sigsetsize", 0 },
	{ "epoll_wait", "epfd events maxevents timeout", 0 },
	{ "eventfd", "initval", 0 },
	{ "eventfd2", "initval flags", 0 },
	{ "execve", "path argv envp", TR_STRACE_EXECVE },
	{ "execveat", "dirfd path argv envp flags", TR_STRACE_EXECVEAT },
	{ "exit", "status", 0 },
	{ "exit_group", "status", TR_STRACE_EXIT_GROUP },
	{ "faccessat", "dirfd path mode flags", 0 },
	{ "faccessat2", "dirfd path mode flags", 0 },
	{ "fadvise64", "fd offset len advice", 0 },
	{ "fallocate", "fd mode offset len", 0 },
	{ "fanotify_init", "flags event_f_flags", 0 },
	{ "fanotify_mark", "fanotify_fd flags mask dirfd path", 0 },
	{ "fchdir", "fd", TR_STRACE_FCHDIR },
	{ "fchmod", "fd mode", 0 },
	{ "fchmodat", "dirfd path mode flags", 0 },
	{ "fchmodat2", "dirfd path mode flags", 0 },
	{ "fchown", "fd owner group", 0 },
	{ "fchownat", "dirfd path owner group flags", 0 },
	{ "fcntl", "fd cmd arg", TR_STRACE_FCNTL },
	{ "fcntl64", "fd cmd arg", TR_STRACE_FCNTL },
	{ "fdatasync", "fd", 0 },
	{ "fgetxattr", "fd name value size", 0 },
	{ "finit_module", "fd param_values flags", 0 },
	{ "flistxattr", "fd list size", 0 },
	{ "flock", "fd operation", 0 },
	{ "fork", "", TR_STRACE_FORK },
	{ "fremovexattr", "fd name", 0 },
	{ "fsconfig", "fd cmd key value aux", 0 },
	{ "fsetxattr", "fd name value size flags", 0 },
	{ "fsmount", "fd flags attr_flags", 0 },
	{ "fsopen", "fsname flags", 0 },
	{ "fstat", "fd statbuf", 0 },
	{ "fstatfs", "fd buf", 0 },
	{ "fsync", "fd", 0 },
	{ "ftruncate", "fd length", 0 },
	{ "ftruncate64", "fd length", 0 },
	{ "futex", "uaddr op val timeout uaddr2 val3", 0 },
	{ "futex_waitv", "waiters nr_futexes flags timeout clockid", 0 },
	{ "futimesat", "dirfd path times", 0 },
	{ "get_robust_list", "pid head_ptr len_ptr", 0 },
	{ "getcpu", "cpu node tcache", 0 },
	{ "getcwd", "buf size", TR_STRACE_GETCWD },
	{ "getdents", "fd dirp count", 0 },
	{ "getdents64", "fd dirp count", 0 },
	{ "getegid", "", 0 },
	{ "geteuid", "", 0 },
	{ "getgid", "", 0 },
	{ "getgroups", "size list", 0 },
	{ "getitimer", "which curr_value", 0 },
	{ "getpeername", "fd addr addrlen", 0 },
	{ "getpgid", "pid", 0 },
	{ "getpgrp", "", 0 },
	{ "getpid", "", 0 },
	{ "getppid", "", 0 },
	{ "getpriority", "which who", 0 },
	{ "getrandom", "buf buflen flags", 0 },
	{ "getresgid", "rgid egid sgid", 0 },
	{ "getresuid", "ruid euid suid", 0 },
	{ "getrlimit", "resource rlim", 0 },
	{ "getrusage", "who usage", 0 },
	{ "getsid", "pid", 0 },
	{ "getsockname", "fd addr addrlen", 0 },
	{ "getsockopt", "fd level optname optval optlen", 0 },
	{ "gettid", "", 0 },
	{ "gettimeofday", "tv tz", 0 },
	{ "getuid", "", 0 },
	{ "getxattr", "path name value size", 0 },
	{ "init_module", "module_image len param_values", 0 },
	{ "inotify_add_watch", "fd path mask", 0 },
	{ "inotify_init", "", 0 },
	{ "inotify_init1", "flags", 0 },
	{ "inotify_rm_watch", "fd wd", 0 },
	{ "io_uring_enter", "fd to_submit min_complete flags sig", 0 },
	{ "io_uring_register", "fd opcode arg nr_args", 0 },
	{ "io_uring_setup", "entries p", 0 },
	{ "ioctl", "fd op arg", 0 },
	{ "ioprio_get", "which who", 0 },
	{ "ioprio_set", "which who ioprio", 0 },
	{ "kcmp", "pid1 pid2 type idx1 idx2", 0 },
	{ "keyctl", "operation arg2 arg3 arg4 arg5", 0 },
	{ "kill", "pid sig", 0 },
	{ "landlock_create_ruleset", "attr size flags", 0 },
	{ "lchown", "path owner group", 0 },
	{ "lgetxattr", "path name value size", 0 },
	{ "link", "from to", 0 },
	{ "linkat", "olddirfd from newdirfd to flags", 0 },
	{ "listen", "fd backlog", 0 },
	{ "listxattr", "path list size", 0 },
	{ "llistxattr", "path list size", 0 },
	{ "lremovexattr", "path name", 0 },
	{ "lseek", "fd offset whence", 0 },
	{ "lsetxattr", "path name value size flags", 0 },
	{ "lstat", "path statbuf", 0 },
	{ "madvise", "addr length advice", 0 },
	{ "mbind", "addr len mode nodemask maxnode flags", 0 },
	{ "membarrier", "cmd flags cpu_id", 0 },
	{ "memfd_create", "name flags", 0 },
	{ "memfd_secret", "flags", 0 },
	{ "mincore", "addr length vec", 0 },
	{ "mkdir", "path mode", 0 },
	{ "mkdirat", "dirfd path mode", 0 },
	{ "mknod", "path mode dev", 0 },
	{ "mknodat", "dirfd path mode dev", 0 },
	{ "mlock", "addr len", 0 },
	{ "mlockall", "flags", 0 },
	{ "mmap", "addr length prot flags fd offset", 0 },
	{ "modify_ldt", "func ptr bytecount", 0 },
	{ "mount", "source target type flags data", 0 },
	{ "mount_setattr", "dirfd path flags attr size", 0 },
	{ "move_mount", "from_dirfd from to_dirfd to flags", 0 },
	{ "mprotect", "addr len prot", 0 },
	{ "mremap", "old_address old_size new_size flags new_address", 0 },
	{ "msync", "addr length flags", 0 },
	{ "munlock", "addr len", 0 },
	{ "munlockall", "", 0 },
	{ "munmap", "addr length", 0 },
	{ "name_to_handle_at", "dirfd path handle mount_id flags", 0 },
	{ "nanosleep", "duration rem", 0 },
	{ "newfstatat", "dirfd path statbuf flags", 0 },
	{ "open", "path flags mode", TR_STRACE_OPEN },
	{ "open_by_handle_at", "mount_fd handle flags", 0 },
	{ "open_tree", "dirfd path flags", 0 },
	{ "openat", "dirfd path flags mode", TR_STRACE_OPENAT },
	{ "openat2", "dirfd path how size", TR_STRACE_OPENAT },
	{ "pause", "", 0 },
	{ "perf_event_open", "attr pid cpu group_fd flags", 0 },
	{ "personality", "persona", 0 },
	{ "pidfd_getfd", "pidfd targetfd flags", 0 },
	{ "pidfd_open", "pid flags", 0 },
	{ "pidfd_send_signal", "pidfd sig info flags", 0 },
	{ "pipe", "fds", 0 },
	{ "pipe2", "fds flags", 0 },
	{ "pivot_root", "new_root put_old", 0 },
	{ "pkey_mprotect", "addr len prot pkey", 0 },
	{ "poll", "fds nfds timeout", 0 },
	{ "ppoll", "fds nfds tmo_p sigmask sigsetsize", 0 },
	{ "prctl", "op arg2 arg3 arg4 arg5", 0 },
	{ "pread64", "fd buf count offset", 0 },
	{ "preadv", "fd iov iovcnt offset", 0 },
	{ "preadv2", "fd iov iovcnt offset flags", 0 },
	{ "prlimit64", "pid resource new_limit old_limit", 0 },
	{ "process_madvise", "pidfd iovec vlen advice flags", 0 },
	{ "process_vm_readv", "pid local_iov liovcnt remote_iov riovcnt flags", 0 },
	{ "pselect6", "nfds readfds writefds exceptfds timeout sigmask", 0 },
	{ "ptrace", "op pid addr data", 0 },
	{ "pwrite64", "fd buf count offset", 0 },
	{ "pwritev", "fd iov iovcnt offset", 0 },
	{ "pwritev2", "fd iov iovcnt offset flags", 0 },
	{ "quotactl", "op path id addr", 0 },
	{ "read", "fd buf count", 0 },
	{ "readahead", "fd offset count", 0 },
	{ "readdir", "fd dirp count", 0 },
	{ "readlink", "path buf bufsiz", 0 },
	{ "readlinkat", "dirfd path buf bufsiz", 0 },
	{ "readv", "fd iov iovcnt", 0 },
	{ "reboot", "magic magic2 op arg", 0 },
	{ "recvfrom", "fd buf len flags addr addrlen", 0 },
	{ "recvmmsg", "fd msgvec vlen flags timeout", 0 },
	{ "recvmsg", "fd msg flags", 0 },
	{ "removexattr", "path name", 0 },
	{ "rename", "from to", 0 },
	{ "renameat", "olddirfd from newdirfd to", 0 },
	{ "renameat2", "olddirfd from newdirfd to flags", 0 },
	{ "restart_syscall", "", 0 },
	{ "rmdir", "path", 0 },
	{ "rseq", "rseq rseq_len flags sig", 0 },
	{ "rt_sigaction", "signum act oldact sigsetsize", 0 },
	{ "rt_sigpending", "set sigsetsize", 0 },
	{ "rt_sigprocmask", "how set oldset sigsetsize", 0 },
	{ "rt_sigqueueinfo", "tgid sig info", 0 },
	{ "rt_sigreturn", "mask", 0 },
	{ "rt_sigsuspend", "mask sigsetsize", 0 },
	{ "rt_sigtimedwait", "set info timeout sigsetsize", 0 },
	{ "sched_getaffinity", "pid cpusetsize mask", 0 },
	{ "sched_getattr", "pid attr size flags", 0 },
	{ "sched_getparam", "pid param", 0 },
	{ "sched_getscheduler", "pid", 0 },
	{ "sched_setaffinity", "pid cpusetsize mask", 0 },
	{ "sched_setattr", "pid attr flags", 0 },
	{ "sched_setparam", "pid param", 0 },
	{ "sched_setscheduler", "pid policy param", 0 },
	{ "sched_yield", "", 0 },
	{ "seccomp", "operation flags args", 0 },
	{ "select", "nfds readfds writefds exceptfds timeout", 0 },
	{ "sendfile", "out_fd in_fd offset count", 0 },
	{ "sendmmsg", "fd msgvec vlen flags", 0 },
	{ "sendmsg", "fd msg flags", 0 },
	{ "sendto", "fd buf len flags addr addrlen", 0 },
	{ "set_mempolicy", "mode nodemask maxnode", 0 },
	{ "set_robust_list", "head len", 0 },
	{ "set_tid_address", "tidptr", 0 },
	{ "setdomainname", "name len", 0 },
	{ "setfsgid", "fsgid", 0 },
	{ "setfsuid", "fsuid", 0 },
	{ "setgid", "gid", 0 },
	{ "setgroups", "size list", 0 },
	{ "sethostname", "name len", 0 },
	{ "setitimer", "which new_value old_value", 0 },
	{ "setns", "fd nstype", 0 },
	{ "setpgid", "pid pgid", 0 },
	{ "setpriority", "which who prio", 0 },
	{ "setregid", "rgid egid", 0 },
	{ "setresgid", "rgid egid sgid", 0 },
	{ "setresuid", "ruid euid suid", 0 },
	{ "setreuid", "ruid euid", 0 },
	{ "setrlimit", "resource rlim", 0 },
	{ "setsid", "", 0 },
	{ "setsockopt", "fd level optname optval optlen", 0 },
	{ "setuid", "uid", 0 },
	{ "setxattr", "path name value size flags", 0 },
	{ "shutdown", "fd how", 0 },
	{ "sigaltstack", "ss old_ss", 0 },
	{ "signalfd", "fd mask sizemask", 0 },
	{ "signalfd4", "fd mask sizemask flags", 0 },
	{ "socket", "domain type protocol", 0 },
	{ "socketpair", "domain type protocol fds", 0 },
	{ "splice", "fd_in off_in fd_out off_out len flags", 0 },
	{ "stat", "path statbuf", 0 },
	{ "statfs", "path buf", 0 },
	{ "statx", "dirfd path flags mask statxbuf", 0 },
	{ "swapoff", "path", 0 },
	{ "swapon", "path flags", 0 },
	{ "symlink", "target link", 0 },
	{ "symlinkat", "target newdirfd link", 0 },
	{ "sync", "", 0 },
	{ "sync_file_range", "fd offset nbytes flags", 0 },
	{ "syncfs", "fd", 0 },
	{ "sysinfo", "info", 0 },
	{ "syslog", "type bufp len", 0 },
	{ "tee", "fd_in fd_out len flags", 0 },
	{ "tgkill", "tgid tid sig", 0 },
	{ "time", "tloc", 0 },
	{ "timer_create", "clockid sevp timerid", 0 },
	{ "timer_delete", "timerid", 0 },
	{ "timer_settime", "timerid flags new_value old_value", 0 },
	{ "timerfd_create", "clockid flags", 0 },
	{ "timerfd_gettime", "fd curr_value", 0 },
	{ "timerfd_settime", "fd flags new_value old_value", 0 },
	{ "times", "buf", 0 },
	{ "tkill", "tid sig", 0 },
	{ "truncate", "path length", 0 },
	{ "truncate64", "path length", 0 },
	{ "umask", "mask", 0 },
	{ "umount", "target", 0 },
	{ "umount2", "target flags", 0 },
	{ "uname", "buf", 0 },
	{ "unlink", "path", 0 },
	{ "unlinkat", "dirfd path flags", 0 },
	{ "unshare", "flags", TR_STRACE_UNSHARE },
	{ "userfaultfd", "flags", 0 },
	{ "ustat", "dev ubuf", 0 },
	{ "utime", "path times", 0 },
	{ "utimensat", "dirfd path times flags", 0 },
	{ "utimes", "path times", 0 },
	{ "vfork", "", TR_STRACE_FORK },
	{ "vhangup", "", 0 },
	{ "vmsplice", "fd iov nr_segs flags", 0 },
	{ "wait4", "pid wstatus options rusage", TR_STRACE_WAIT },
	{ "waitid", "idtype id infop options rusage", TR_STRACE_WAITID },
	{ "waitpid", "pid wstatus options", TR_STRACE_WAIT },
	{ "write", "fd buf count", 0 },
	{ "writev", "fd iov iovcnt", 0 },
};

const struct tr_strace_syscall *tr_strace_syscall(struct tr_text name)
{
	static const struct tr_strace_syscall unknown = { "", NULL, TR_STRACE_NO_EFFECT };
	const size_t count = sizeof table / sizeof *table;
	size_t i = tr_array_search(row, 0, count,
				   tr_text_compare(tr_text_from(table[row].name), name) < 0);

	return i < count && tr_text_is(name, table[i].name) ? &table[i] : &unknown;
}

const struct tr_strace_syscall *tr_strace_syscall_again(struct tr_strace_recent *recent,
							struct tr_text name)
{
	const unsigned char *bytes = (const unsigned char *)name.data;
	size_t hash = name.len ? bytes[0] + bytes[name.len / 2] * 5u + bytes[name.len - 1] * 23u +
					 name.len * 11
			       : 0;
	const struct tr_strace_syscall **slot = &recent->slots[hash % TR_STRACE_RECENT];

	if (!*slot || strncmp((*slot)->name, name.data, name.len) != 0 || (*slot)->name[name.len])
		*slot = tr_strace_syscall(name);
	return *slot;
}

/*
 * The flags of Linux, as in clone(2), without CLONE_; the bits are in the order of their numbers.
 */
static const char *const flag_names[] = {
	"NEWTIME",	 "VM",	       "FS",	       "FILES",		"SIGHAND",
	"PIDFD",	 "PTRACE",     "VFORK",	       "PARENT",	"THREAD",
	"NEWNS",	 "SYSVSEM",    "SETTLS",       "PARENT_SETTID", "CHILD_CLEARTID",
	"DETACHED",	 "UNTRACED",   "CHILD_SETTID", "NEWCGROUP",	"NEWUTS",
	"NEWIPC",	 "NEWUSER",    "NEWPID",       "NEWNET",	"IO",
	"CLEAR_SIGHAND", "INTO_CGROUP"
};

enum {
	FLAGS = sizeof flag_names / sizeof *flag_names,
	FIRST_FLAG = 7, /* the bit of the first name */
	SIGNAL = 0xff,	/* bits that hold the signal at the end of the child */
};

/*
 * Returns the bits of one part of A|B|0x10|17, which may have a comment of -X verbose after it.
 * Names that are unknown have no bits, and the signal in a number is removed.
 */
static uint64_t read_flag(struct tr_text text)
{
	unsigned long long number;
	const char *p = text.data, *end = p;

	while (end < text.data + text.len && *end != ' ' && *end != '/')
		end++;
	if (tr_strace_number(tr_text_span(p, end), &number))
		return number & ~(uint64_t)SIGNAL;
	bool named = tr_strace_take(&p, end, TR_TEXT("CLONE_"));
	for (unsigned i = 0; named && i < FLAGS; i++)
		if (tr_text_is(tr_text_span(p, end), flag_names[i]))
			return UINT64_C(1) << (FIRST_FLAG + i);
	return 0;
}

uint64_t tr_strace_clone_flags(struct tr_text name, struct tr_text arguments)
{
	const char *p = arguments.data, *end = p + arguments.len;
	uint64_t flags = 0;

	if (tr_text_is(name, "vfork"))
		return 0x100 | 0x4000;	    /* CLONE_VM, CLONE_VFORK */
	if (!tr_text_is(name, "unshare")) { /* which has nothing else */
		p = arguments.len ? memmem(p, arguments.len, "flags=", 6) : NULL;
		if (!p)
			return 0;
		p += 6;
	}
	end = tr_strace_item_end(p, end);
	while (p < end) {
		const char *bar = memchr(p, '|', (size_t)(end - p));
		const char *comment = bar ? memmem(p, (size_t)(bar - p), "/*", 2) : NULL;
		if (comment) { /* with bars of its own */
			const char *close = memmem(comment, (size_t)(end - comment), "*/", 2);
			bar = close ? memchr(close, '|', (size_t)(end - close)) : NULL;
		}
		const char *stop = bar ? bar : end;
		flags |= read_flag(tr_text_span(p, stop));
		p = bar ? bar + 1 : end;
	}
	return flags;
}

void tr_strace_put_clone_flags(uint64_t flags, struct tr_buffer *to)
{
	const char *before = "\tflags=CLONE_";

	flags = flags >> FIRST_FLAG & (((uint64_t)1 << FLAGS) - 1);
	for (; flags; flags &= flags - 1) {
		tr_buffer_put_text(to, tr_text_from(before));
		tr_buffer_put_text(to, tr_text_from(flag_names[__builtin_ctzll(flags)]));
		before = "|CLONE_";
	}
}
