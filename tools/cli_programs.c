/* SPDX-License-Identifier: MIT */
/*
 * What several tools take from files that options name: the programs of -O, for the computed fields
 * function, file and line of blocks, with the keys of all computed fields; and the phases of
 * compilers.
 */
#include "cli.h"
#include "coverage/programs.h"

const struct tr_format_option tr_cli_computed_settings[] = {
	TR_COMPILER_OPTIONS(true, false),
	TR_CLI_PROGRAM_OPTIONS(true, false, "for function, file and line: "),
	{ 0 },
};

bool tr_cli_programs(struct tr_cli *cli, struct tr_programs *programs)
{
	struct tr_error err;

	if (!cli->stop && !tr_setting_programs(&cli->config.read.settings, programs, &err))
		tr_cli_abort(cli, &err);
	return programs->count || programs->path_count;
}

void tr_cli_programs_end(struct tr_cli *cli, struct tr_programs *programs)
{
	struct tr_error err;

	if (!cli->stop && tr_programs_remark(programs, &err))
		tr_cli_report(cli, &err);
	tr_programs_free(programs);
}

bool tr_cli_add_phases(struct tr_cli *cli, struct tr_phases *phases)
{
	struct tr_text path = tr_text_from(cli->argument);
	struct tr_error err;

	tr_cli_reads(cli, path);
	return tr_phases_add(phases, path, &err) || tr_cli_abort(cli, &err);
}

void tr_cli_note_phases(struct tr_cli *cli, const struct tr_phases *phases)
{
	size_t left = cli->stop ? 0 : tr_phases_left(phases);

	if (left)
		tr_cli_note(cli,
			    "--phases: %zu of %zu files match no process of the trace by process "
			    "id and time",
			    left, phases->count);
}
