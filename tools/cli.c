/* From the first option to the exit status. */
#include "config.h"

#include "cli_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

void tr_cli_begin(struct tr_cli *cli, const struct tr_tool *tool, int argc, char **argv)
{
	*cli = (struct tr_cli){
		.tool = tool,
		.config.read.limits = TR_LIMITS_DEFAULT,
		.config.threads = sysconf(_SC_NPROCESSORS_ONLN) > 1,
	};
	tr_cli_standard_descriptors();
	cli->private = calloc(1, sizeof *cli->private);
	if (cli->private) {
		cli->private->argc = argc;
		cli->private->argv = argv;
		tr_cli_watch_exit(true);
	}
	if (!cli->private || !tr_cli_rows_make(cli)) {
		fprintf(stderr, "%s: out of memory\n", tool->name);
		cli->stop = true;
		cli->status = 2;
	}
}

/* Input that is there is processed: what came of it must not sit in a buffer while we wait. */
static void on_wait(void *context)
{
	struct tr_cli *cli = context;

	if (cli->out && !cli->out->failed && !cli->packed)
		tr_output_flush(cli->out);
	tr_cli_progress_wait(cli);
}

bool tr_cli_open(struct tr_cli *cli)
{
	struct tr_cli_private *p = cli->private;

	if (cli->stop)
		return false;
	if (cli->operand_count == 0 && isatty(STDIN_FILENO)) {
		tr_cli_short_usage(cli);
		tr_cli_status(cli, 2);
		cli->stop = true;
		return false;
	}
	cli->config.on_wait = on_wait;
	cli->config.wait_context = cli;
	static const char *const from_stdin[] = { "-" };
	const char *const *operands = cli->operand_count ? cli->operands : from_stdin;
	size_t count = cli->operand_count ? cli->operand_count : 1;
	if (!tr_cli_inputs_open(cli, operands, count)) {
		cli->stop = true;
		return false;
	}
	if (!tr_cli_log_open(cli))
		return false;
	cli->trace = tr_trace_open(operands, count, &cli->config);
	if (!cli->trace) {
		tr_error_memory(&p->err);
		tr_cli_report(cli, &p->err);
		cli->stop = true;
		return false;
	}
	tr_cli_progress_begin(cli);
	return true;
}

bool tr_cli_step(struct tr_cli *cli, struct tr_trace_place **place)
{
	struct tr_cli_private *p = cli->private;

	tr_cli_log_member(cli);
	while (!cli->stop) {
		enum tr_status status = tr_trace_step(cli->trace, place, &p->err);
		if (status == TR_OK) {
			tr_cli_log_step(cli);
			/* a file of the last run is not emptied to tell of what was lost */
			bool silent = !(*place)->in && cli->output_path;
			p->any_read = p->any_read || ((*place)->format && !silent);
			if ((*place)->format && p->setting_count)
				tr_cli_settings_taken(cli, (*place)->format, false);
			return true;
		}
		if (status == TR_END)
			return false;
		tr_cli_report(cli, &p->err);
		tr_cli_log_missed(cli, &p->err);
		if (status == TR_FATAL)
			return false;
	}
	return false;
}

/* What is not just the next record. */
static __attribute__((noinline)) bool next_after(struct tr_cli *cli, enum tr_status status,
						 struct tr_record **record)
{
	struct tr_cli_private *p = cli->private;

	for (;;) {
		if (tr_cli_attention)
			tr_cli_progress(cli);
		if (status == TR_OK)
			return true;
		if (status == TR_END)
			return false;
		tr_cli_report(cli, &p->err);
		if (status == TR_FATAL || cli->stop)
			return false;
		status = tr_trace_next(cli->trace, record, &p->err);
	}
}

/* Reports a value of the last record that was beyond --max-record and counted as absent. */
static __attribute__((noinline)) void report_limited(struct tr_cli *cli)
{
	struct tr_cli_private *p = cli->private;

	(void)tr_arena_error(p->last->arena, &p->err);
	tr_cli_report_record(cli, p->last, &p->err, false);
}

bool tr_cli_next_here(struct tr_cli *cli, struct tr_record **record)
{
	struct tr_cli_private *p = cli->private;

	if (cli->out && cli->out->failed)
		cli->stop = true;
	if (p->last && p->last->arena && p->last->arena->limited)
		report_limited(cli);
	p->last = NULL;
	if (cli->stop)
		return false;
	enum tr_status status = tr_trace_next(cli->trace, record, &p->err);
	bool read = (status == TR_OK && !tr_cli_attention) || next_after(cli, status, record);
	p->last = read ? *record : NULL;
	return read;
}

bool tr_cli_next(struct tr_cli *cli, struct tr_record **record)
{
	struct tr_cli_private *p = cli->private;

	while (p->place || tr_cli_step(cli, &p->place)) {
		if (tr_cli_next_here(cli, record))
			return true;
		p->place = NULL;
	}
	return false;
}

int tr_cli_end(struct tr_cli *cli)
{
	struct tr_cli_private *p = cli->private;

	if (!p)
		return cli->status;
	tr_cli_progress_end(cli);
	if (p->any_read && !cli->stop && !cli->status)
		tr_cli_settings_idle(cli);
	if (p->any_read && !cli->stop && cli->config.member_count &&
	    !tr_trace_met_archive(cli->trace))
		tr_cli_note(cli, "--member selects nothing: no input is an archive");
	tr_cli_output_end(cli);
	tr_cli_summarise(cli);
	tr_cli_log_member(cli);
	tr_cli_log_end(cli);
	tr_trace_free(cli->trace);
	tr_cli_rows_free(cli);
	free(p->settings);
	free(p->members);
	free(p->alike);
	tr_buffer_free(&p->message);
	tr_buffer_free(&p->line);
	tr_buffer_free(&p->inputs);
	free(p);
	tr_cli_watch_exit(false);
	return cli->status;
}
