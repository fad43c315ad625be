/* What the argument of an option may be: one of some words, a number, a size. */
#include "config.h"

#include "cli_private.h"

int tr_cli_choice(struct tr_cli *cli)
{
	const struct tr_option *row = cli->private->row;
	size_t len = strlen(cli->argument);
	const char *choice = row->argument;

	for (int i = 0;; i++) {
		size_t choice_len = strcspn(choice, "|");
		if (choice_len == len && memcmp(choice, cli->argument, len) == 0)
			return i;
		if (!choice[choice_len])
			break;
		choice += choice_len + 1;
	}
	tr_cli_usage(cli, "--%s takes %s, not '%s'", row->name, row->argument, cli->argument);
	return -1;
}

bool tr_cli_number(struct tr_cli *cli, bool size, uint64_t max, uint64_t *value)
{
	const struct tr_option *row = cli->private->row;
	const char *p = cli->argument;
	uint64_t number = 0;
	unsigned shift = 0;
	bool good = *p >= '0' && *p <= '9', fits = true;

	for (; *p >= '0' && *p <= '9'; p++) {
		fits = fits && !__builtin_mul_overflow(number, 10, &number) &&
		       !__builtin_add_overflow(number, (uint64_t)(*p - '0'), &number);
	}
	if (size && *p) {
		static const char suffixes[] = "KMG";
		const char *suffix = memchr(suffixes, *p & ~0x20, sizeof suffixes - 1);
		shift = suffix ? 10 * (unsigned)(suffix - suffixes + 1) : 0;
		p += suffix != NULL;
	}
	if (!good || *p) {
		return tr_cli_usage(cli, "%s%s takes a %s, not '%s'", row->name ? "--" : "-",
				    row->name ? row->name : (char[]){ row->letter, 0 },
				    size ? "size (as 4096, 64K, 16M, 2G)" : "number",
				    cli->argument);
	}
	if (!fits || number > max >> shift)
		return tr_cli_usage(cli, "'%s' is too large (at most %llu)", cli->argument,
				    (unsigned long long)max);
	*value = number << shift;
	return true;
}
