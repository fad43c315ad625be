/* SPDX-License-Identifier: MIT */
/*
 * The programs of -O, for the computed fields function, file and line of blocks, and the keys of all
 * computed fields.
 */
#include "cli.h"
#include "coverage/programs.h"

const struct tr_format_option tr_cli_computed_settings[] = {
	TR_COMPILER_OPTIONS(true, false),
	{ "exe", "PROG", true, false,
	  "a program that was run: blocks have the fields function, file, line, inline "
	  "(repeatable)" },
	{ "base", "ADDRESS", true, false,
	  "where the first program was loaded (0x...), or another one (NAME=0x...; repeatable)" },
	{ "path", "DIR", true, false,
	  "the files of the trace's modules are below this directory (repeatable)" },
	{ "demangle", "no|yes", true, false,
	  "functions have the names of the source, in C++ and Ada (no)" },
	{ 0 },
};

bool tr_cli_programs(struct tr_cli *cli, struct tr_programs *programs)
{
	static const struct {
		const char *key;
		bool (*take)(struct tr_programs *programs, struct tr_text value,
			     struct tr_error *err);
	} keys[] = {
		{ "path", tr_programs_search },
		{ "exe", tr_programs_add },
		{ "base", tr_programs_base }, /* names one of them */
	};
	const struct tr_settings *settings = &cli->config.read.settings;
	struct tr_error err;

	programs->demangles = tr_text_is(tr_setting_get(settings, "demangle", "no"), "yes");
	for (size_t k = 0; k < sizeof keys / sizeof *keys && !cli->stop; k++) {
		for (size_t i = 0; i < settings->count && !cli->stop; i++) {
			tr_error_clear(&err);
			if (tr_text_is(settings->list[i].key, keys[k].key) &&
			    !keys[k].take(programs, settings->list[i].value, &err))
				tr_cli_abort(cli, &err);
		}
	}
	return programs->count || programs->path_count;
}

void tr_cli_programs_end(struct tr_cli *cli, struct tr_programs *programs)
{
	struct tr_error err;

	if (!cli->stop && tr_programs_remark(programs, &err))
		tr_cli_report(cli, &err);
	tr_programs_free(programs);
}
