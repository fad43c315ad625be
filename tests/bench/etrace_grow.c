/* SPDX-License-Identifier: MIT */
/*
 * etrace_grow BYTES <log: the same build again and again until there are so many
 * bytes, on standard output. Every time it is later, and all tasks are others, but the first one:
 * it starts the builds, as a script would.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Adds to the digits at p and writes them; returns the position after them. */
static char *put_more(char *p, unsigned long long more)
{
	char *end = p;
	printf("%llu", strtoull(p, &end, 10) + more);
	return end;
}

static char *put_until(char *p, char stop)
{
	char *end = strchr(p, stop) + 1;
	fwrite(p, 1, (size_t)(end - p), stdout);
	return end;
}

/* 0: upid,cpu,sec,nsec!data */
static void put_line(char *line, unsigned long long round)
{
	static unsigned long long root;
	unsigned long long upids = round << 31, seconds = round * 3;
	unsigned long long upid = strtoull(line + 3, NULL, 10);
	fputs("0: ", stdout);
	root = root ? root : upid;
	char *p = put_more(line + 3, upid && upid != root ? upids : 0); /* 0: there is none */
	p = put_until(put_until(p, ','), ',');
	p = put_until(put_more(p, seconds), '!');
	if (strncmp(p, "SchedFork|pid=", 14) == 0 || strncmp(p, "UPID|", 5) == 0)
		p = put_more(put_until(p, *p == 'S' ? '=' : '|'), upids);
	fputs(p, stdout);
}

int main(int argc, char **argv)
{
	unsigned long long wanted = argc > 1 ? strtoull(argv[1], NULL, 10) : 0, done = 0;
	char *line = NULL, *log = NULL;
	size_t cap = 0, log_len;
	FILE *memory = open_memstream(&log, &log_len);
	ssize_t len;
	while (memory && (len = getline(&line, &cap, stdin)) > 0) {
		if (strncmp(line, "0: ", 3) == 0)
			fwrite(line, 1, (size_t)len, memory);
		else
			fputs(line, stdout);
	}
	if (!memory || fclose(memory) != 0 || log_len == 0)
		return 1;
	for (unsigned long long round = 0; done < wanted; round++, done += log_len) {
		for (char *p = log; p < log + log_len;) {
			char *lf = memchr(p, '\n', (size_t)(log + log_len - p));
			size_t n = (size_t)(lf + 1 - p);
			if (n + 1 > cap)
				line = realloc(line, cap = n + 1);
			memcpy(line, p, n);
			line[n] = '\0';
			put_line(line, round);
			p = lf + 1;
		}
	}
	return fflush(stdout) != 0;
}
