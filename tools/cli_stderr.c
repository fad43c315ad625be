/* Standard error, where messages take the place of a progress line. */
#include "config.h"

#include "cli_private.h"

#include <errno.h>
#include <unistd.h>

void tr_cli_progress_clear(struct tr_cli *cli)
{
	if (cli->private->progress_up)
		(void)!write(STDERR_FILENO, "\r\033[K", 4);
	cli->private->progress_up = false;
}

/* In one write, so that the lines of parallel tools do not mix. */
void tr_cli_say(struct tr_cli *cli, struct tr_text text)
{
	tr_cli_progress_clear(cli);
	while (text.len) {
		ssize_t n = write(STDERR_FILENO, text.data, text.len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return; /* nowhere left to complain */
		text.data += n;
		text.len -= (size_t)n;
	}
}
