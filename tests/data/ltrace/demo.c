/* SPDX-License-Identifier: MIT */
/* The program of the logs: see record.sh. */
#include <ctype.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct point {
	int x, y;
};

int measure(struct point *from, int *list, int count, double scale, const char *unit, unsigned set);
int visit(int (*call)(char *, int), char *name);
int name_it(char *name, int size);

static void on_signal(int number)
{
	write(2, "", number - number);
}

int main(void)
{
	struct point point = { 1, -2 };
	int list[] = { 5, 6, 7, 8 }, status;
	char name[16],
		text[] = "say \"hi\", (x) = 3\t\303\251\033[0m and more of it than ltrace shows";

	puts(text);
	toupper('x');
	strchr(text, '\'');
	measure(&point, list, 4, 0.5, "m", 5);
	visit(name_it, name);
	signal(SIGUSR1, on_signal);
	raise(SIGUSR1);
	int file = open("/srv/build/input", O_RDONLY);
	read(file, name, sizeof name);
	close(file);
	open("/srv/build/none", O_RDWR | O_CREAT | O_EXCL, 0644);
	if (!fork()) {
		execlp("true", "true", (char *)NULL);
		_exit(1);
	}
	wait(&status);
	if (!fork())
		abort();
	wait(&status);
	fflush(stdout);
	return 3;
}
