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
		return tr_cli_usage(cli, "%s%s: at most %llu, not '%s'", row->name ? "--" : "-",
				    row->name ? row->name : (char[]){ row->letter, 0 },
				    (unsigned long long)max, cli->argument);
	*value = number << shift;
	return true;
}

const struct tr_format *tr_cli_format(struct tr_cli *cli, bool writing)
{
	const unsigned wanted = writing ? TR_FORMAT_WRITES : TR_FORMAT_READS;
	struct tr_text name = tr_text_from(cli->argument);
	const struct tr_format *format = tr_format_by_name(name);
	struct tr_similar similar;

	if (format && format->flags & wanted)
		return format;
	tr_similar_begin(&similar, name);
	for (size_t i = 0; tr_formats[i]; i++)
		if (tr_formats[i]->flags & wanted)
			tr_similar_offer(&similar, tr_text_from(tr_formats[i]->name));
	if (format)
		tr_cli_usage(cli, "format '%s' cannot be %s", format->name,
			     writing ? "written" : "read");
	else
		tr_cli_unknown(cli, "format", name, &similar, ": see --list-formats");
	return NULL;
}
