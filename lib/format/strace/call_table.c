/* SPDX-License-Identifier: MIT */
/*
 * System calls by name, with the names of their arguments, and the flags of clone. The names of
 * calls also tell strace's logs from source code and from other logs: the bid counts them.
 */
#include "format/strace/strace.h"

/*
 * A row is a call and the names of its arguments in order, separated by blanks; "" if strace prints
 * the names itself. Sorted by call, for a search. trec(5) has one word in all formats for these:
 * path, from, to, target, link, fd, flags, mode. The others are those of the manual pages.
 */
static const struct {
	const char *call, *names;
} table[] = {
	{ "accept", "fd addr addrlen" },
	{ "accept4", "fd addr addrlen flags" },
	{ "access", "path mode" },
	{ "acct", "path" },
	{ "alarm", "seconds" },
	{ "arch_prctl", "code addr" },
	{ "bind", "fd addr addrlen" },
	{ "bpf", "cmd attr size" },
	{ "brk", "addr" },
	{ "capget", "hdrp datap" },
	{ "capset", "hdrp datap" },
	{ "chdir", "path" },
	{ "chmod", "path mode" },
	{ "chown", "path owner group" },
	{ "chroot", "path" },
	{ "clock_getres", "clockid res" },
	{ "clock_gettime", "clockid tp" },
	{ "clock_nanosleep", "clockid flags request remain" },
	{ "clock_settime", "clockid tp" },
	{ "clone", "" },
	{ "clone3", "cl_args size" },
	{ "close", "fd" },
	{ "close_range", "first last flags" },
	{ "connect", "fd addr addrlen" },
	{ "copy_file_range", "fd_in off_in fd_out off_out len flags" },
	{ "creat", "path mode" },
	{ "delete_module", "name flags" },
	{ "dup", "oldfd" },
	{ "dup2", "oldfd newfd" },
	{ "dup3", "oldfd newfd flags" },
	{ "epoll_create", "size" },
	{ "epoll_create1", "flags" },
	{ "epoll_ctl", "epfd op fd event" },
	{ "epoll_pwait", "epfd events maxevents timeout sigmask sigsetsize" },
	{ "epoll_pwait2", "epfd events maxevents timeout sigmask sigsetsize" },
	{ "epoll_wait", "epfd events maxevents timeout" },
	{ "eventfd", "initval" },
	{ "eventfd2", "initval flags" },
	{ "execve", "path argv envp" },
	{ "execveat", "dirfd path argv envp flags" },
	{ "exit", "status" },
	{ "exit_group", "status" },
	{ "faccessat", "dirfd path mode flags" },
	{ "faccessat2", "dirfd path mode flags" },
	{ "fadvise64", "fd offset len advice" },
	{ "fallocate", "fd mode offset len" },
	{ "fanotify_init", "flags event_f_flags" },
	{ "fanotify_mark", "fanotify_fd flags mask dirfd path" },
	{ "fchdir", "fd" },
	{ "fchmod", "fd mode" },
	{ "fchmodat", "dirfd path mode flags" },
	{ "fchmodat2", "dirfd path mode flags" },
	{ "fchown", "fd owner group" },
	{ "fchownat", "dirfd path owner group flags" },
	{ "fcntl", "fd cmd arg" },
	{ "fcntl64", "fd cmd arg" },
	{ "fdatasync", "fd" },
	{ "fgetxattr", "fd name value size" },
	{ "finit_module", "fd param_values flags" },
	{ "flistxattr", "fd list size" },
	{ "flock", "fd operation" },
	{ "fork", "" },
	{ "fremovexattr", "fd name" },
	{ "fsconfig", "fd cmd key value aux" },
	{ "fsetxattr", "fd name value size flags" },
	{ "fsmount", "fd flags attr_flags" },
	{ "fsopen", "fsname flags" },
	{ "fstat", "fd statbuf" },
	{ "fstatfs", "fd buf" },
	{ "fsync", "fd" },
	{ "ftruncate", "fd length" },
	{ "ftruncate64", "fd length" },
	{ "futex", "uaddr op val timeout uaddr2 val3" },
	{ "futex_waitv", "waiters nr_futexes flags timeout clockid" },
	{ "futimesat", "dirfd path times" },
	{ "get_robust_list", "pid head_ptr len_ptr" },
	{ "getcpu", "cpu node tcache" },
	{ "getcwd", "buf size" },
	{ "getdents", "fd dirp count" },
	{ "getdents64", "fd dirp count" },
	{ "getegid", "" },
	{ "geteuid", "" },
	{ "getgid", "" },
	{ "getgroups", "size list" },
	{ "getitimer", "which curr_value" },
	{ "getpeername", "fd addr addrlen" },
	{ "getpgid", "pid" },
	{ "getpgrp", "" },
	{ "getpid", "" },
	{ "getppid", "" },
	{ "getpriority", "which who" },
	{ "getrandom", "buf buflen flags" },
	{ "getresgid", "rgid egid sgid" },
	{ "getresuid", "ruid euid suid" },
	{ "getrlimit", "resource rlim" },
	{ "getrusage", "who usage" },
	{ "getsid", "pid" },
	{ "getsockname", "fd addr addrlen" },
	{ "getsockopt", "fd level optname optval optlen" },
	{ "gettid", "" },
	{ "gettimeofday", "tv tz" },
	{ "getuid", "" },
	{ "getxattr", "path name value size" },
	{ "init_module", "module_image len param_values" },
	{ "inotify_add_watch", "fd path mask" },
	{ "inotify_init", "" },
	{ "inotify_init1", "flags" },
	{ "inotify_rm_watch", "fd wd" },
	{ "io_uring_enter", "fd to_submit min_complete flags sig" },
	{ "io_uring_register", "fd opcode arg nr_args" },
	{ "io_uring_setup", "entries p" },
	{ "ioctl", "fd op arg" },
	{ "ioprio_get", "which who" },
	{ "ioprio_set", "which who ioprio" },
	{ "kcmp", "pid1 pid2 type idx1 idx2" },
	{ "keyctl", "operation arg2 arg3 arg4 arg5" },
	{ "kill", "pid sig" },
	{ "landlock_create_ruleset", "attr size flags" },
	{ "lchown", "path owner group" },
	{ "lgetxattr", "path name value size" },
	{ "link", "from to" },
	{ "linkat", "olddirfd from newdirfd to flags" },
	{ "listen", "fd backlog" },
	{ "listxattr", "path list size" },
	{ "llistxattr", "path list size" },
	{ "lremovexattr", "path name" },
	{ "lseek", "fd offset whence" },
	{ "lsetxattr", "path name value size flags" },
	{ "lstat", "path statbuf" },
	{ "madvise", "addr length advice" },
	{ "mbind", "addr len mode nodemask maxnode flags" },
	{ "membarrier", "cmd flags cpu_id" },
	{ "memfd_create", "name flags" },
	{ "memfd_secret", "flags" },
	{ "mincore", "addr length vec" },
	{ "mkdir", "path mode" },
	{ "mkdirat", "dirfd path mode" },
	{ "mknod", "path mode dev" },
	{ "mknodat", "dirfd path mode dev" },
	{ "mlock", "addr len" },
	{ "mlockall", "flags" },
	{ "mmap", "addr length prot flags fd offset" },
	{ "modify_ldt", "func ptr bytecount" },
	{ "mount", "source target type flags data" },
	{ "mount_setattr", "dirfd path flags attr size" },
	{ "move_mount", "from_dirfd from to_dirfd to flags" },
	{ "mprotect", "addr len prot" },
	{ "mremap", "old_address old_size new_size flags new_address" },
	{ "msync", "addr length flags" },
	{ "munlock", "addr len" },
	{ "munlockall", "" },
	{ "munmap", "addr length" },
	{ "name_to_handle_at", "dirfd path handle mount_id flags" },
	{ "nanosleep", "duration rem" },
	{ "newfstatat", "dirfd path statbuf flags" },
	{ "open", "path flags mode" },
	{ "open_by_handle_at", "mount_fd handle flags" },
	{ "open_tree", "dirfd path flags" },
	{ "openat", "dirfd path flags mode" },
	{ "openat2", "dirfd path how size" },
	{ "pause", "" },
	{ "perf_event_open", "attr pid cpu group_fd flags" },
	{ "personality", "persona" },
	{ "pidfd_getfd", "pidfd targetfd flags" },
	{ "pidfd_open", "pid flags" },
	{ "pidfd_send_signal", "pidfd sig info flags" },
	{ "pipe", "fds" },
	{ "pipe2", "fds flags" },
	{ "pivot_root", "new_root put_old" },
	{ "pkey_mprotect", "addr len prot pkey" },
	{ "poll", "fds nfds timeout" },
	{ "ppoll", "fds nfds tmo_p sigmask sigsetsize" },
	{ "prctl", "op arg2 arg3 arg4 arg5" },
	{ "pread64", "fd buf count offset" },
	{ "preadv", "fd iov iovcnt offset" },
	{ "preadv2", "fd iov iovcnt offset flags" },
	{ "prlimit64", "pid resource new_limit old_limit" },
	{ "process_madvise", "pidfd iovec vlen advice flags" },
	{ "process_vm_readv", "pid local_iov liovcnt remote_iov riovcnt flags" },
	{ "pselect6", "nfds readfds writefds exceptfds timeout sigmask" },
	{ "ptrace", "op pid addr data" },
	{ "pwrite64", "fd buf count offset" },
	{ "pwritev", "fd iov iovcnt offset" },
	{ "pwritev2", "fd iov iovcnt offset flags" },
	{ "quotactl", "op path id addr" },
	{ "read", "fd buf count" },
	{ "readahead", "fd offset count" },
	{ "readdir", "fd dirp count" },
	{ "readlink", "path buf bufsiz" },
	{ "readlinkat", "dirfd path buf bufsiz" },
	{ "readv", "fd iov iovcnt" },
	{ "reboot", "magic magic2 op arg" },
	{ "recvfrom", "fd buf len flags addr addrlen" },
	{ "recvmmsg", "fd msgvec vlen flags timeout" },
	{ "recvmsg", "fd msg flags" },
	{ "removexattr", "path name" },
	{ "rename", "from to" },
	{ "renameat", "olddirfd from newdirfd to" },
	{ "renameat2", "olddirfd from newdirfd to flags" },
	{ "restart_syscall", "" },
	{ "rmdir", "path" },
	{ "rseq", "rseq rseq_len flags sig" },
	{ "rt_sigaction", "signum act oldact sigsetsize" },
	{ "rt_sigpending", "set sigsetsize" },
	{ "rt_sigprocmask", "how set oldset sigsetsize" },
	{ "rt_sigqueueinfo", "tgid sig info" },
	{ "rt_sigreturn", "mask" },
	{ "rt_sigsuspend", "mask sigsetsize" },
	{ "rt_sigtimedwait", "set info timeout sigsetsize" },
	{ "sched_getaffinity", "pid cpusetsize mask" },
	{ "sched_getattr", "pid attr size flags" },
	{ "sched_getparam", "pid param" },
	{ "sched_getscheduler", "pid" },
	{ "sched_setaffinity", "pid cpusetsize mask" },
	{ "sched_setattr", "pid attr flags" },
	{ "sched_setparam", "pid param" },
	{ "sched_setscheduler", "pid policy param" },
	{ "sched_yield", "" },
	{ "seccomp", "operation flags args" },
	{ "select", "nfds readfds writefds exceptfds timeout" },
	{ "sendfile", "out_fd in_fd offset count" },
	{ "sendmmsg", "fd msgvec vlen flags" },
	{ "sendmsg", "fd msg flags" },
	{ "sendto", "fd buf len flags addr addrlen" },
	{ "set_mempolicy", "mode nodemask maxnode" },
	{ "set_robust_list", "head len" },
	{ "set_tid_address", "tidptr" },
	{ "setdomainname", "name len" },
	{ "setfsgid", "fsgid" },
	{ "setfsuid", "fsuid" },
	{ "setgid", "gid" },
	{ "setgroups", "size list" },
	{ "sethostname", "name len" },
	{ "setitimer", "which new_value old_value" },
	{ "setns", "fd nstype" },
	{ "setpgid", "pid pgid" },
	{ "setpriority", "which who prio" },
	{ "setregid", "rgid egid" },
	{ "setresgid", "rgid egid sgid" },
	{ "setresuid", "ruid euid suid" },
	{ "setreuid", "ruid euid" },
	{ "setrlimit", "resource rlim" },
	{ "setsid", "" },
	{ "setsockopt", "fd level optname optval optlen" },
	{ "setuid", "uid" },
	{ "setxattr", "path name value size flags" },
	{ "shutdown", "fd how" },
	{ "sigaltstack", "ss old_ss" },
	{ "signalfd", "fd mask sizemask" },
	{ "signalfd4", "fd mask sizemask flags" },
	{ "socket", "domain type protocol" },
	{ "socketpair", "domain type protocol fds" },
	{ "splice", "fd_in off_in fd_out off_out len flags" },
	{ "stat", "path statbuf" },
	{ "statfs", "path buf" },
	{ "statx", "dirfd path flags mask statxbuf" },
	{ "swapoff", "path" },
	{ "swapon", "path flags" },
	{ "symlink", "target link" },
	{ "symlinkat", "target newdirfd link" },
	{ "sync", "" },
	{ "sync_file_range", "fd offset nbytes flags" },
	{ "syncfs", "fd" },
	{ "sysinfo", "info" },
	{ "syslog", "type bufp len" },
	{ "tee", "fd_in fd_out len flags" },
	{ "tgkill", "tgid tid sig" },
	{ "time", "tloc" },
	{ "timer_create", "clockid sevp timerid" },
	{ "timer_delete", "timerid" },
	{ "timer_settime", "timerid flags new_value old_value" },
	{ "timerfd_create", "clockid flags" },
	{ "timerfd_gettime", "fd curr_value" },
	{ "timerfd_settime", "fd flags new_value old_value" },
	{ "times", "buf" },
	{ "tkill", "tid sig" },
	{ "truncate", "path length" },
	{ "truncate64", "path length" },
	{ "umask", "mask" },
	{ "umount", "target" },
	{ "umount2", "target flags" },
	{ "uname", "buf" },
	{ "unlink", "path" },
	{ "unlinkat", "dirfd path flags" },
	{ "unshare", "flags" },
	{ "userfaultfd", "flags" },
	{ "ustat", "dev ubuf" },
	{ "utime", "path times" },
	{ "utimensat", "dirfd path times flags" },
	{ "utimes", "path times" },
	{ "vfork", "" },
	{ "vhangup", "" },
	{ "vmsplice", "fd iov nr_segs flags" },
	{ "wait4", "pid wstatus options rusage" },
	{ "waitid", "idtype id infop options rusage" },
	{ "write", "fd buf count" },
	{ "writev", "fd iov iovcnt" },
};

const char *tr_strace_argument_names(struct tr_text call)
{
	size_t low = 0, high = sizeof table / sizeof *table;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const char *name = table[middle].call;
		int order = strncmp(name, call.data, call.len);
		if (order == 0 && name[call.len] == '\0')
			return table[middle].names;
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

bool tr_strace_is_exec(struct tr_text call)
{
	return tr_text_is(call, "execve") || tr_text_is(call, "execveat");
}

bool tr_strace_is_fork(struct tr_text call)
{
	return tr_text_is(call, "clone") || tr_text_is(call, "clone3") ||
	       tr_text_is(call, "vfork") || tr_text_is(call, "fork") || tr_text_is(call, "clone2");
}

/* The flags of Linux, as in clone(2), without CLONE_; the bits are in the order of their numbers. */
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
		const char *comment = memmem(p, (size_t)(end - p), "/*", 2);
		if (comment && bar && comment < bar) { /* with bars of its own */
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

	for (unsigned i = 0; i < FLAGS; i++) {
		if (!(flags >> (FIRST_FLAG + i) & 1))
			continue;
		tr_buffer_put_text(to, tr_text_from(before));
		tr_buffer_put_text(to, tr_text_from(flag_names[i]));
		before = "|CLONE_";
	}
}
