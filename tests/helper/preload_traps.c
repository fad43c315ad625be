/* SPDX-License-Identifier: MIT */
/*
 * Programs that a preloaded library must survive: preload_traps NAME [ARGUMENT...]. Each
 * prints the result, or runs its arguments as a command, and exits with 0.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static char **arguments, **inherited;

#ifdef GO_NOTE /* the mark of programs in Go */
__asm__(".pushsection .note.go.buildid, \"a\", %note\n"
	"	.balign 4\n"
	"	.long 4, 4, 4\n"
	"	.asciz \"Go\\0\", \"id\\0\"\n"
	".popsection\n");
#endif

static int wait_for(pid_t pid)
{
	int status;

	return waitpid(pid, &status, 0) == pid && WIFEXITED(status) ? WEXITSTATUS(status) : 9;
}

/* Every form of exec, each in a child. */
static int forms(void)
{
	static const char true_path[] = "/bin/true";
	char *const argv[] = { "true", "v", NULL }, *const env[] = { "E=1", NULL };
	int bad = 0;

	for (int form = 0; form < 10; form++) {
		pid_t pid = fork();
		int fd;
		if (pid) {
			bad += wait_for(pid);
			continue;
		}
		switch (form) {
		case 0:
			execl(true_path, "true", "l", NULL);
			break;
		case 1:
			execlp("true", "true", "lp", NULL);
			break;
		case 2:
			execle(true_path, "true", "le", NULL, env);
			break;
		case 3:
			execv(true_path, argv);
			break;
		case 4:
			execvp("true", argv);
			break;
		case 5:
			execve(true_path, argv, env);
			break;
		case 6:
			execvpe("true", argv, env);
			break;
		case 7:
			fd = open(true_path, O_RDONLY | O_CLOEXEC);
			fexecve(fd, argv, env);
			break;
		case 8:
			execveat(AT_FDCWD, true_path, argv, env, 0);
			break;
		default:
			syscall(SYS_execve, true_path, argv, NULL);
		}
		_exit(1);
	}
	return bad;
}

static int spawns(void)
{
	char *const argv[] = { "true", NULL };
	posix_spawn_file_actions_t actions;
	char line[16];
	pid_t pid;
	int bad = 0;

	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addchdir_np(&actions, "/");
	bad += posix_spawn(&pid, "/bin/true", &actions, NULL, argv, NULL) || wait_for(pid);
	posix_spawn_file_actions_destroy(&actions);
	bad += posix_spawnp(&pid, "true", NULL, NULL, argv, environ) || wait_for(pid);
	bad += posix_spawnp(&pid, "no-such-program", NULL, NULL, argv, environ) == 0;
	bad += system("exit 3") != 3 << 8;
	FILE *stream = popen("echo line; exit 4", "r");
	bad += !stream || !fgets(line, sizeof line, stream) || strcmp(line, "line\n") != 0;
	bad += pclose(stream) != 4 << 8;
	return bad;
}

/* Programs whose names are relative to directories that only the new processes enter. */
static int directories(void)
{
	static char *const argv[] = { "true", NULL }, *const env[] = { NULL };
	posix_spawn_file_actions_t actions;
	pid_t pid;
	int bad = 0;

	for (int kind = 0; kind < 7; kind++) {
		int fd = open("/", O_RDONLY | O_CLOEXEC), other = open("/usr", O_RDONLY);
		posix_spawn_file_actions_init(&actions);
		switch (kind) {
		case 0:
			posix_spawn_file_actions_addchdir_np(&actions, "/usr");
			break;
		case 1:
			posix_spawn_file_actions_addchdir_np(&actions, "/usr/share");
			posix_spawn_file_actions_addchdir_np(&actions, "..");
			break;
		case 2:
			posix_spawn_file_actions_addfchdir_np(&actions, other);
			break;
		case 3:
			posix_spawn_file_actions_addfchdir_np(&actions, fd);
			posix_spawn_file_actions_addopen(&actions, 20, "usr", O_RDONLY, 0);
			posix_spawn_file_actions_adddup2(&actions, 20, 21);
			posix_spawn_file_actions_addfchdir_np(&actions, 21);
			break;
		case 4:
			posix_spawn_file_actions_addchdir_np(&actions, "/usr");
			bad += posix_spawnp(&pid, "bin/true", &actions, NULL, argv, env) ||
			       wait_for(pid);
			break;
		case 5:
			setenv("PATH", "no:bin", 1);
			posix_spawn_file_actions_addchdir_np(&actions, "/usr");
			bad += posix_spawnp(&pid, "true", &actions, NULL, argv, env) ||
			       wait_for(pid);
			break;
		default:
			posix_spawn_file_actions_addchdir_np(&actions, "/no/such/directory");
			bad += posix_spawn(&pid, "bin/true", &actions, NULL, argv, env) == 0;
		}
		if (kind < 4)
			bad += posix_spawn(&pid, "bin/true", &actions, NULL, argv, env) ||
			       wait_for(pid);
		posix_spawn_file_actions_destroy(&actions);
		bad += close(fd) | close(other) | (open("/", O_RDONLY) != fd) | close(fd);
	}
	return bad;
}

/* A process that daemon(3) starts. It is in another directory, without the output of this one. */
static int daemons(void)
{
	char *const argv[] = { "true", "daemon", NULL };
	pid_t pid = fork();

	if (pid)
		return wait_for(pid);
	if (daemon(0, 0) != 0 || isatty(0) || isatty(1) || open("/", O_RDONLY) < 3)
		_exit(9);
	pid = fork();
	if (pid)
		_exit(wait_for(pid));
	execv("/bin/true", argv);
	_exit(9);
}

/* Programs whose files have no name any more, or never had one. */
static int nameless(void)
{
	static char *const argv[] = { "true", NULL }, *const env[] = { NULL };
	char bytes[4096];
	int bad = 0;

	for (int kind = 0; kind < 2; kind++) {
		int from = open(arguments[0], O_RDONLY | O_CLOEXEC);
		int fd = kind ? memfd_create("m", MFD_CLOEXEC)
			      : open("nameless", O_WRONLY | O_CREAT, 0700);
		for (ssize_t n; (n = read(from, bytes, sizeof bytes)) > 0;)
			bad += write(fd, bytes, (size_t)n) != n;
		fchmod(fd, 0700);
		if (!kind) {
			close(fd);
			fd = open("nameless", O_RDONLY | O_CLOEXEC);
			unlink("nameless");
		}
		pid_t pid = fork();
		if (pid == 0) {
			fexecve(fd, argv, env);
			_exit(1);
		}
		bad += wait_for(pid);
		close(fd);
		close(from);
	}
	return bad;
}

/* Memory that cannot be read: none at all, protected, or of a file that is shorter. */
static char *unreadable(char *page, const char *kind)
{
	int fd = memfd_create("empty", MFD_CLOEXEC);

	if (strcmp(kind, "none") == 0)
		munmap(page, 4096);
	else if (strcmp(kind, "protected") == 0)
		mprotect(page, 4096, PROT_NONE);
	else
		mmap(page, 4096, PROT_READ, MAP_SHARED | MAP_FIXED, fd, 0);
	close(fd);
	return page;
}

/* Every call fails as it would without the library: prints the errors. */
static int addresses(void)
{
	static char end[8192] __attribute__((aligned(4096)));
	char *volatile none = NULL, *volatile wrong; /* for the compiler */
	char **volatile no_list = NULL;
	char *open_end = end + 4096 - 2;
	char *const list[] = { "true", end + 4096 + 8, NULL };
	char *const cut[] = { "true", open_end, NULL };
	posix_spawn_file_actions_t actions;
	pid_t pid;

	wrong = unreadable(end + 4096, arguments[0]) + 8;
	memset(end, 'x', 4096);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addchdir_np(&actions, "/");
	for (int call = 0; call < 30; call++) {
		long result = 0;
		errno = 0;
		switch (call) {
		case 0:
			result = execve(none, arguments, environ);
			break;
		case 1:
			result = execve(wrong, arguments, environ);
			break;
		case 2:
			result = execve("/bin/true", (char **)wrong, environ);
			break;
		case 3:
			result = execve("/bin/true", list, environ);
			break;
		case 4:
			result = execve("/bin/true", arguments, (char **)wrong);
			break;
		case 5:
			result = execve("/bin/true", arguments, list);
			break;
		case 6:
			result = execve("/bin/true", cut, environ);
			break;
		case 7:
			result = execve(open_end, arguments, environ);
			break;
		case 8:
			result = execveat(-1, none, arguments, environ, AT_EMPTY_PATH);
			break;
		case 9:
			result = syscall(SYS_execve, none, arguments, environ);
			break;
		case 10:
			result = posix_spawn(&pid, none, &actions, NULL, arguments, environ);
			break;
		case 11:
			result = posix_spawn(&pid, "/bin/true", NULL, NULL, list, environ);
			break;
		case 12:
			result = system(wrong);
			break;
		case 13:
			if ((pid = fork()) == 0)
				_exit(3);
			result = wait((int *)wrong);
			break;
		case 14:
			if ((pid = fork()) == 0)
				_exit(3);
			result = wait4(-1, NULL, 0, (struct rusage *)wrong);
			break;
		case 15:
			if ((pid = fork()) == 0)
				_exit(3);
			result = waitid(P_PID, (id_t)pid, (siginfo_t *)wrong, WEXITED);
			break;
		case 16:
			result = chdir(none) + chdir(wrong);
			break;
		case 17:
			result = open(none, O_RDONLY) + open(wrong, O_CREAT, 0);
			break;
		case 18:
			result = unlinkat(AT_FDCWD, wrong, -1);
			break;
		case 19:
			result = syscall(SYS_renameat2, -1, wrong, -1, wrong, -1);
			break;
		case 20:
			result = linkat(-1, wrong, -1, open_end, -1);
			break;
		case 21:
			result = truncate(none, -1) + rename(wrong, "a") + rename("a", none);
			break;
		case 22:
			result = execveat(AT_FDCWD, "/bin/true", arguments, environ, 0x99000);
			break;
		case 23:
			result = execveat(AT_FDCWD, "/proc/self/exe", arguments, environ,
					  AT_SYMLINK_NOFOLLOW);
			break;
		case 24:
			result = fexecve(-1, arguments, environ);
			break;
		case 25:
			result = fexecve(AT_FDCWD, arguments, environ);
			break;
		case 26:
			result = fexecve(STDIN_FILENO, no_list, environ);
			break;
		case 27:
			result = closedir((DIR *)none);
			break;
		case 28: /* the first path is looked up before the second one is read */
			result = link("missing", wrong);
			break;
		default:
			result = syscall(SYS_memfd_create, NULL, -1);
		}
		printf("%d %ld %d\n", call, result, errno);
	}
	return 0;
}

static void *run_arguments(void *unused)
{
	pid_t pid = fork();

	(void)unused;
	if (pid == 0) {
		execvp(arguments[0], arguments);
		_exit(1);
	}
	return (void *)(long)wait_for(pid);
}

/* A process that a system call creates in another pid namespace has a child, too. */
static int namespaced(void)
{
	pid_t pid = (pid_t)syscall(SYS_clone, CLONE_NEWUSER | CLONE_NEWPID | SIGCHLD, 0, 0, 0, 0);

	if (pid < 0)
		return 98;
	if (pid == 0) {
		_exit(chdir("/") == 0 ? (int)(long)run_arguments(NULL) : 98);
	}
	return wait_for(pid);
}

/* No descriptor is left. */
static int full(void)
{
	const struct rlimit few = { 16, 16 };

	setrlimit(RLIMIT_NOFILE, &few);
	while (open("/dev/null", O_RDONLY | O_CLOEXEC) >= 0)
		;
	return (int)(long)run_arguments(NULL);
}

/* Runs the arguments from a thread with the smallest stack. */
static int small_stack(void)
{
	pthread_attr_t attributes;
	pthread_t thread;
	void *result = NULL;

	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, 16384);
	if (pthread_create(&thread, &attributes, run_arguments, NULL) != 0)
		return 8;
	pthread_join(thread, &result);
	return (int)(long)result;
}

/* The action of a handler on its alternate stack, with the path of the arguments. */
static int form;
static void act(int signal)
{
	char *path = arguments[1];
	char *const argv[] = { path, NULL };
	static int bad;
	pid_t pid = 0;

	(void)signal;
	switch (form) {
	case 0:
		bad = posix_spawn(&pid, path, NULL, NULL, argv, environ);
		break;
	case 1:
		bad = posix_spawnp(&pid, "true", NULL, NULL, argv, environ);
		break;
	case 2:
		bad = system(path);
		break;
	case 3:
		if ((pid = vfork()) == 0) {
			execve(path, argv, environ);
			_exit(1);
		}
		break;
	case 4:
		if ((pid = fork()) == 0) {
			execvp("true", argv);
			_exit(1);
		}
		break;
	case 5:
		bad = pclose(popen(path, "r"));
		break;
	case 6:
		bad = chdir("/dev") | close(openat(open(".", O_RDONLY), "null", O_RDONLY));
		break;
	case 7:
		if ((pid = fork()) == 0) {
			execl(path, path, NULL);
			_exit(1);
		}
		break;
	}
	_exit(bad || (pid && wait_for(pid)));
}

/* The first argument: the bytes of the stack, before which there is a page that is protected. */
static int alt_stack(void)
{
	size_t size = (size_t)atol(arguments[0]), page = 1 << 16;
	char *memory = mmap(NULL, page + size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	const stack_t stack = { .ss_sp = memory + page, .ss_size = size };
	const struct sigaction action = { .sa_handler = act, .sa_flags = SA_ONSTACK };
	int bad = 0;

	if (memory == MAP_FAILED || mprotect(memory + page, size, PROT_READ | PROT_WRITE) != 0)
		return 9;
	if (sigaltstack(&stack, NULL) != 0) /* this processor has too many registers */
		return 98;
	sigaction(SIGUSR1, &action, NULL);
	for (form = 0; form < 8; form++) {
		pid_t pid = fork();
		if (pid == 0)
			raise(SIGUSR1);
		bad += wait_for(pid) ? 1 : 0;
	}
	return bad;
}

/* Prints the descriptors that it has, and closes all that there could be. */
static int closed(void)
{
	DIR *directory = opendir("/proc/self/fd");
	long sum = 0;

	for (struct dirent *entry; (entry = readdir(directory)) != NULL;)
		sum += 1L << (atoi(entry->d_name) & 31);
	closedir(directory);
	printf("%lx\n", sum);
	close_range(3, ~0U, 0);
	return (int)(long)run_arguments(NULL);
}

/* The memory of a process whose child of vfork has run a program, or failed to. */
static int vforks(void)
{
	static char big[20000 * 16], *env[20001];
	static int bad;

	for (int i = 0; i < 20000; i++) {
		snprintf(big + i * 16, 16, "V%d=", i);
		env[i] = big + i * 16;
	}
	for (volatile int round = 0; round < 3; round++) {
		pid_t pid = vfork();
		if (pid == 0) {
			execve("/no/such/program", arguments, env);
			execve(arguments[0], arguments, round ? env : environ);
			_exit(1);
		}
		bad += wait_for(pid);
	}
	return bad;
}

/* Pages of this process. */
static int pages(void)
{
	FILE *file = fopen("/proc/self/statm", "r");
	int count = 0;

	if (!file || fscanf(file, "%d", &count) != 1)
		count = 0;
	if (file)
		fclose(file);
	return count;
}

/* Prints how many pages were added to this process while it started 100 programs, after a few. */
static int spawns_pages(void)
{
	struct rusage before, after;
	pid_t pid;

	for (int i = 0; i < 104; i++) {
		if (i == 4)
			getrusage(RUSAGE_SELF, &before);
		if (posix_spawn(&pid, arguments[0], NULL, NULL, arguments, environ) != 0 ||
		    wait_for(pid) != 0)
			return 7;
	}
	getrusage(RUSAGE_SELF, &after);
	printf("%ld\n", after.ru_minflt - before.ru_minflt);
	return 0;
}

/* Children of vfork with many variables run programs: their memory is that of this process. */
static int vforks_leak(void)
{
	static char *env[1001];
	static int before, round;

	for (int i = 0; i < 1000; i++)
		env[i] = (char *)"X=1";
	for (; round < 50; round++) {
		pid_t pid = vfork();
		if (pid == 0) {
			execve(arguments[0], arguments, env);
			_exit(1);
		}
		if (wait_for(pid) != 0)
			return 8;
		if (round == 1)
			before = pages();
	}
	return pages() > before ? 7 : 0;
}

/* Ends in ways that no function of libc sees. */
static int ends(void)
{
	pid_t pid = fork();

	if (pid == 0)
		raise(SIGKILL);
	waitpid(pid, NULL, 0);
	pid = fork();
	if (pid == 0)
		quick_exit(5);
	waitpid(pid, NULL, 0);
	pid = vfork();
	if (pid == 0)
		_exit(6);
	waitpid(pid, NULL, 0);
	pid = fork();
	if (pid == 0)
		abort();
	siginfo_t info;
	waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT);
	waitid(P_PID, (id_t)pid, &info, WEXITED);
	pid = fork();
	if (pid == 0)
		syscall(SYS_exit_group, 7);
	waitpid(pid, NULL, 0);
	return 0;
}

/* Kills children at any moment of their start. */
static int killed(void)
{
	for (int i = 0; i < 100; i++) {
		pid_t pid = fork();
		if (pid == 0) {
			execv(arguments[0], arguments);
			_exit(1);
		}
		usleep((useconds_t)(i * 15));
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
	}
	return 0;
}

/* Ends where all calls but the most necessary ones kill the process. */
static int filtered(void)
{
	static struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 5, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getpid, 4, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getppid, 3, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_writev, 2, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clock_gettime, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
	};
	struct sock_fprog program = { sizeof code / sizeof *code, code };

	for (int by_number = 0; by_number < 2; by_number++) {
		pid_t pid = fork();
		if (pid == 0) {
			if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
			    (by_number ? syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program)
				       : prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) != 0)
				_exit(98);
			_exit(3);
		}
		int status = wait_for(pid);
		if (status != 3)
			return status;
	}
	return 0;
}

#if defined __x86_64__
static long raw(long number, long a, long b, long c, long d)
{
	register long r10 __asm__("r10") = d;
	long result;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10)
			 : "rcx", "r11", "memory");
	return result;
}
#elif defined __aarch64__
static long raw(long number, long a, long b, long c, long d)
{
	register long x8 __asm__("x8") = number, x0 __asm__("x0") = a, x1 __asm__("x1") = b,
			 x2 __asm__("x2") = c, x3 __asm__("x3") = d;

	__asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3) : "memory");
	return x0;
}
#else
enum { NO_RAW = 97 };
static long raw(long number, long a, long b, long c, long d)
{
	(void)number, (void)a, (void)b, (void)c, (void)d;
	_exit(NO_RAW);
}
#endif

/* Creates a process that runs the arguments, as programs in Go do. */
static long create_raw(void)
{
	long pid = raw(SYS_clone, SIGCHLD, 0, 0, 0);

	if (pid == 0) {
		raw(SYS_execve, (long)arguments[0], (long)arguments, (long)inherited, 0);
		raw(SYS_exit_group, 1, 0, 0, 0);
	}
	return pid;
}

/* Creates a child without a function of libc. */
static int run_raw(void)
{
	int status = 0;

	raw(SYS_wait4, create_raw(), (long)&status, 0, 0);
	return WEXITSTATUS(status);
}

/* The same in a program that also has children of libc. */
static int run_mixed(void)
{
	if (spawns() != 0 || (long)run_arguments(NULL) != 0)
		return 9;
	return run_raw();
}

/* libc waits for a child that it did not create. */
static int raw_fork(void)
{
	return wait_for((pid_t)create_raw());
}

/* Ends a process without a function of libc. */
static int raw_end(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		run_raw();
		raw(SYS_exit_group, 3, 0, 0, 0);
	}
	return wait_for(pid) == 3 ? 0 : 9;
}

/* Runs a program after a filter that the kernel refuses, and after one that it accepts. */
static int refused(void)
{
	static struct sock_filter code[] = { BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW) };
	struct sock_fprog program = { 1, code }, none = { 0, NULL };

	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &none) == 0 ||
	    syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &none) == 0 ||
	    (long)run_arguments(NULL) != 0)
		return 9;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
		return 98;
	return (int)(long)run_arguments(NULL);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		int (*run)(void);
	} traps[] = {
		{ "forms", forms },
		{ "spawns", spawns },
		{ "small-stack", small_stack },
		{ "closed", closed },
		{ "vforks", vforks },
		{ "ends", ends },
		{ "daemons", daemons },
		{ "killed", killed },
		{ "filtered", filtered },
		{ "vforks-leak", vforks_leak },
		{ "spawns-pages", spawns_pages },
		{ "raw", run_raw },
		{ "raw-mixed", run_mixed },
		{ "raw-fork", raw_fork },
		{ "raw-end", raw_end },
		{ "refused", refused },
		{ "namespaced", namespaced },
		{ "full", full },
		{ "alt-stack", alt_stack },
		{ "directories", directories },
		{ "nameless", nameless },
		{ "addresses", addresses },
	};

	arguments = argv + 2;
	inherited = argv + argc + 1;
	for (size_t i = 0; argc > 1 && i < sizeof traps / sizeof *traps; i++)
		if (strcmp(argv[1], traps[i].name) == 0)
			return traps[i].run();
	return 99;
}
