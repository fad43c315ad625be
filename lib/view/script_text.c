/* SPDX-License-Identifier: MIT */
/*
 * A shell script of the commands. A record passes tr_runs, which finds out whether a command of
 * the script started it, and the tracker of environments; then its line is composed and written at
 * once. An environment is written as the difference against that of the first command, top(), to
 * keep the script readable.
 */
#include "view/script_text.h"

#include <stdlib.h>

#include "process/command.h"
#include "process/env_tracker.h"
#include "process/runs.h"
#include "record/ask.h"
#include "record/literal.h"

struct tr_script_text {
	struct tr_output *out;
	bool nested;
	bool begun;	   /* the head is written */
	bool has_top;	   /* top() sets the first environment of this segment */
	bool has_bash;	   /* $bash is the path of bash */
	bool has_env;	   /* $env is the path of env */
	const char *doubt; /* why the environment of this command differs; NULL: it does not */
	struct tr_runs runs;
	/* of commands that the script runs, and of their children */
	struct tr_id_map run_numbers, run_seqs;
	bool failed;	      /* memory was exhausted */
	bool program;	      /* the current record is a program */
	bool inside;	      /* a command of the script started it */
	uint64_t number, seq; /* of its run */
	struct tr_env_tracker *tracker;
	struct tr_buffer line, map;
};

static void follow_run(void *context, const struct tr_run_report *report);

struct tr_script_text *tr_script_text_new(const struct tr_script_text_config *config,
					  struct tr_output *out)
{
	const struct tr_env_tracker_config tracker = { .max_spool = config->max_spool,
						       .max_ratio = config->max_ratio };
	struct tr_script_text *script = calloc(1, sizeof *script);

	if (!script)
		return NULL;
	script->out = out;
	script->nested = config->nested;
	tr_runs_init(&script->runs, follow_run, script);
	script->tracker = tr_env_tracker_new(&tracker);
	if (script->tracker)
		return script;
	tr_script_text_free(script);
	return NULL;
}

void tr_script_text_free(struct tr_script_text *script)
{
	if (!script)
		return;
	tr_runs_free(&script->runs);
	tr_id_map_free(&script->run_numbers);
	tr_id_map_free(&script->run_seqs);
	tr_env_tracker_free(script->tracker);
	tr_buffer_free(&script->line);
	tr_buffer_free(&script->map);
	free(script);
}

/* True if a run is in the map. */
static bool has(const struct tr_id_map *map, uint64_t id)
{
	return id != TR_RUN_NONE && tr_id_map_get(map, id);
}

/* Adds a run to the map. */
static void add(struct tr_script_text *script, struct tr_id_map *map, uint64_t id)
{
	if (id != TR_RUN_NONE)
		script->failed |= !tr_id_map_put(map, id, script);
}

/* Marks runs that a command of the script starts or becomes, so that they are not run again. */
static void follow_run(void *context, const struct tr_run_report *report)
{
	struct tr_script_text *script = context;
	const struct tr_run *run = report->run;
	bool inside = has(&script->run_numbers, tr_run_parent(run)) ||
		      has(&script->run_numbers, report->replaces) ||
		      has(&script->run_numbers, run->number) ||
		      has(&script->run_seqs, tr_run_parent_seq(run));

	if (report->event == TR_RUN_PROGRAM) {
		script->program = true;
		script->inside = inside;
		script->number = run->number;
		script->seq = run->seq;
		if (inside)
			add(script, &script->run_seqs, run->seq);
	}
	if (inside)
		add(script, &script->run_numbers, run->number);
}

/*
 * Writes the functions of the script, once. The script continues after a failure, as make -k does.
 */
static void put_head(struct tr_script_text *script)
{
	if (script->begun)
		return;
	script->begun = true;
	tr_output_put_literal(
		script->out,
		"#!/bin/sh\n"
		"# Commands of a trace, one after the other, each in its directory and with its\n"
		"# environment. What another one of them starts itself is left out.\n"
		"failed=0\n"
		"run() { # NUMBER DIRECTORY COMMAND [ARGUMENT]...\n"
		"\tnumber=$1 directory=$2\n"
		"\tshift 2\n"
		"\t(cd \"$directory\" && \"$@\") </dev/null\n"
		"\tstatus=$?\n"
		"\t[ \"$status\" = 0 ] && return\n"
		"\techo \"command $number: exit status $status\" >&2\n"
		"\tfailed=1\n"
		"}\n");
}

/* True if the bytes have a NUL, which a command line cannot hold. */
static bool has_nul(struct tr_text bytes)
{
	return bytes.len && memchr(bytes.data, '\0', bytes.len);
}

/* Appends a word of a command, quoted for the shell. */
static void put_word(struct tr_script_text *script, struct tr_text bytes)
{
	tr_buffer_put_byte(&script->line, ' ');
	tr_shell_quote(bytes, &script->line);
}

/* Puts NAME=VALUE, or -u NAME; leaves out what env(1) cannot take, and says so in doubt. */
static bool put_variable(struct tr_script_text *script, const struct tr_member *member,
			 struct tr_arena *arena)
{
	struct tr_buffer word = TR_BUFFER_INIT;
	struct tr_text name = tr_string_bytes(member->key, arena);
	struct tr_text value = { "", 0 };
	bool is_set = member->value->type != TR_NULL;
	bool known = !is_set || member->value->type == TR_STRING;

	if (!name.data)
		return false;
	if (is_set && known)
		value = tr_string_bytes(member->value->text, arena);
	if (!value.data)
		return false;
	if (is_set && (member->value->flags & TR_CUT))
		script->doubt = "a variable was cut by the tracer, and is set to what is left";
	if (!known || !name.len || memchr(name.data, '=', name.len) || has_nul(name) ||
	    has_nul(value)) {
		script->doubt = "a variable is left out, as env(1) cannot set it";
		return true;
	}
	if (is_set) {
		tr_buffer_put_text(&word, name);
		tr_buffer_put_byte(&word, '=');
		tr_buffer_put_text(&word, value);
		put_word(script, tr_buffer_text(&word));
	} else {
		tr_buffer_put_literal(&script->line, " -u");
		put_word(script, name);
	}
	script->line.failed |= word.failed;
	tr_buffer_free(&word);
	return true;
}

/* True if a variable looks like an option of env(1), such as -S, which splits commands. */
static bool has_option_like_name(const struct tr_value *map, struct tr_arena *arena)
{
	for (size_t i = 0; i < map->count; i++) {
		struct tr_text name = tr_string_bytes(map->as.members[i].key, arena);
		if (name.len && *name.data == '-')
			return true;
	}
	return false;
}

/* Puts the variables of the map literal in script->map. */
static bool put_variables(struct tr_script_text *script, struct tr_arena *arena)
{
	const struct tr_value *map = tr_literal_parse(tr_buffer_text(&script->map), arena, NULL);

	if (!map || map->type != TR_MAP)
		return map != NULL;
	/* env(1) takes options before variables */
	for (int round = 0; round < 2; round++) {
		if (round == 1 && has_option_like_name(map, arena))
			put_word(script, TR_TEXT("--"));
		for (size_t i = 0; i < map->count; i++) {
			const struct tr_member *member = &map->as.members[i];
			if ((member->value->type == TR_NULL) == (round == 0) &&
			    !put_variable(script, member, arena))
				return false;
		}
	}
	return true;
}

/* Puts top(), which sets the first environment, or that of the first command. */
static bool put_top(struct tr_script_text *script, struct tr_exec_env *exec, struct tr_arena *arena)
{
	if (!tr_env_tracker_has_top(script->tracker))
		tr_env_tracker_make_top(script->tracker, exec);
	tr_buffer_reset(&script->map);
	if (!tr_environment_write(tr_env_tracker_pool(script->tracker),
				  tr_env_tracker_top(script->tracker), &script->map))
		return false;
	/* the second env would be searched in the PATH that the first one sets */
	if (!script->has_env)
		tr_buffer_put_literal(&script->line, "env=$(command -v env || echo env)\n");
	script->has_env = true;
	tr_buffer_put_literal(&script->line, "top() { env -i");
	bool fine = put_variables(script, arena);
	tr_buffer_put_literal(&script->line, " \"$env\" \"$@\"; }\n");
	script->has_top = true;
	return fine;
}

/* Puts the environment before the command. TR_WARN: a part of it is unknown; err is a note. */
static enum tr_status put_environment(struct tr_script_text *script, struct tr_exec_env *exec,
				      struct tr_arena *arena, struct tr_error *err)
{
	struct tr_environments *pool = tr_env_tracker_pool(script->tracker);

	tr_buffer_reset(&script->map);
	/* the environment is unknown, or its error is already reported */
	if (!exec || (!exec->pending && exec->form == TR_ENV_FORM_NONE &&
		      tr_environment_is_unknown(exec->own)))
		return TR_OK;
	if (!exec->pending && script->has_top) {
		enum tr_status status = tr_environment_diff(
			pool, tr_env_tracker_top(script->tracker), exec->own, &script->map);
		if (status == TR_FATAL)
			return TR_FATAL;
		if (status == TR_OK) {
			tr_buffer_put_literal(&script->line, " top");
			return put_variables(script, arena) ? TR_OK : TR_FATAL;
		}
	}
	/* while the parent is pending, the record's own fields are all that is known */
	if (exec->pending)
		tr_buffer_put_text(&script->map, exec->literal);
	else if (!tr_environment_write(pool, exec->own, &script->map))
		return TR_FATAL;
	tr_buffer_put_literal(&script->line, " env");
	if (script->map.len && !put_variables(script, arena))
		return TR_FATAL;
	tr_error_set(err, TR_CAUSE_INPUT,
		     "the environment of the parent is unknown: the changes of the command are "
		     "applied to the environment of the script (tr-filter --rebase avoids this)");
	tr_error_is_note(err);
	return TR_WARN;
}

/* Returns the file name of a path. */
static struct tr_text last_part(struct tr_text path)
{
	for (size_t i = path.len; i-- > 0;) {
		if (path.data[i] == '/')
			return tr_text_span(path.data + i + 1, path.data + path.len);
	}
	return path;
}

/* True if argv[0] is not the name of the program, which only the exec of bash can do. */
static bool is_renamed(const struct tr_command *command)
{
	return command->argc &&
	       !tr_text_equal(last_part(command->argv[0]), last_part(tr_command_program(command)));
}

/* Sets $bash, once: env(1) would look for bash in the PATH of the command. */
static void put_bash(struct tr_script_text *script)
{
	if (!script->has_bash)
		tr_buffer_put_literal(&script->line, "bash=$(command -v bash || echo bash)\n");
	script->has_bash = true;
}

/* Puts a command, and before it the shell that runs it if env(1) cannot. */
static void put_command(struct tr_script_text *script, const struct tr_command *command)
{
	struct tr_text program = tr_command_program(command);

	if (is_renamed(command)) {
		tr_buffer_put_literal(&script->line, " \"$bash\"");
		put_word(script, TR_TEXT("-c"));
		put_word(script, TR_TEXT("exec -a \"$0\" -- \"$@\""));
		put_word(script, command->argv[0]);
	} else if (memchr(program.data, '=', program.len) ||
		   tr_text_starts(program, TR_TEXT("-"))) {
		/* env(1) and exec would take this name for a variable or an option */
		put_word(script, TR_TEXT("/bin/sh"));
		put_word(script, TR_TEXT("-c"));
		put_word(script, TR_TEXT("\"$0\" \"$@\""));
	}
	put_word(script, program);
	for (size_t i = 1; i < command->argc; i++)
		put_word(script, command->argv[i]);
	tr_buffer_put_byte(&script->line, '\n');
}

/* Returns the reason why the command cannot be run again, or NULL. */
static const char *hindrance(const struct tr_command *command)
{
	if (command->cut)
		return "an argument was cut by the tracer";
	if (!command->directory.data)
		return "its directory is unknown";
	if (!tr_command_program(command).len)
		return "its program is unknown";
	for (size_t i = 0; i < command->argc; i++) {
		if (has_nul(command->argv[i]))
			return "an argument contains a NUL byte";
	}
	return has_nul(command->directory) || has_nul(tr_command_program(command))
		       ? "a path contains a NUL byte"
		       : NULL;
}

/* Puts the number of the record in quotes: it may be any text. False: memory is exhausted. */
static bool put_number(struct tr_script_text *script, const struct tr_record *record)
{
	struct tr_error err;
	struct tr_text number = tr_ask_cell(&record->seq, record->arena, &err);

	if (!number.data)
		return false;
	put_word(script, has_nul(number) ? TR_TEXT("-") : number);
	return true;
}

/*
 * Writes the line of a command. TR_WARN: it is left out, or differs from the trace (a note); err
 * says why.
 */
static enum tr_status put_run(struct tr_script_text *script, struct tr_record *record,
			      struct tr_exec_env *exec, struct tr_error *err)
{
	struct tr_command command;
	enum tr_status status = tr_command_read(record, &command, err);

	if (status != TR_OK)
		return status;
	const char *why = hindrance(&command);
	if (why) {
		tr_error_set(err, TR_CAUSE_INPUT, "%s: the command is left out", why);
		return TR_WARN;
	}
	put_head(script);
	if (!tr_environments_may_write(tr_env_tracker_pool(script->tracker), record->line.len)) {
		tr_error_set(err, TR_CAUSE_LIMIT,
			     "the environments of this trace grow beyond --max-ratio: the command "
			     "is left out");
		return TR_WARN;
	}
	/* only a whole environment can be the base of others */
	bool known = exec && !exec->pending && tr_environment_is_whole(exec->own);
	tr_error_memory(err);
	script->doubt = NULL;
	if (known && !script->has_top && !put_top(script, exec, record->arena))
		return TR_FATAL;
	if (is_renamed(&command))
		put_bash(script);
	tr_buffer_put_literal(&script->line, "run");
	if (!put_number(script, record))
		return TR_FATAL;
	/* cd would take a name that begins with "-" for an option */
	if (!command.directory.len || *command.directory.data != '/')
		tr_buffer_put_literal(&script->line, " ./");
	else
		tr_buffer_put_byte(&script->line, ' ');
	tr_shell_quote(command.directory, &script->line);
	status = put_environment(script, exec, record->arena, err);
	put_command(script, &command);
	add(script, &script->run_numbers, script->number);
	add(script, &script->run_seqs, script->seq);
	if (script->line.failed || script->failed || status == TR_FATAL)
		return TR_FATAL;
	tr_output_put_text(script->out, tr_buffer_text(&script->line));
	tr_output_record_end(script->out);
	if (!script->doubt)
		return status;
	tr_error_set(err, TR_CAUSE_INPUT, "%s", script->doubt);
	return TR_WARN;
}

/* Follows a record, and writes its command if the script runs it. */
static enum tr_status put_record(struct tr_script_text *script, struct tr_record *record,
				 struct tr_error *err)
{
	struct tr_exec_env *exec = NULL;

	script->program = false;
	if (!tr_runs_put(&script->runs, record) || script->failed)
		return TR_FATAL;
	enum tr_status status = tr_env_tracker_follow(script->tracker, record, &exec, err);
	if (status == TR_FATAL)
		return TR_FATAL;
	if (script->program && (script->nested || !script->inside)) {
		tr_buffer_reset(&script->line);
		enum tr_status put = put_run(script, record, exec, err);
		status = put == TR_OK ? status : put;
	}
	tr_env_tracker_release(script->tracker, exec);
	return status;
}

/*
 * Run numbers are unique in all segments, but seqs are not, so those of a segment are forgotten at
 * its end.
 */
enum tr_status tr_script_text_put(struct tr_script_text *script, struct tr_record *record,
				  struct tr_error *err)
{
	tr_error_memory(err);
	if (!record) {
		put_head(script);
		tr_output_put_literal(script->out, "exit $failed\n");
		return TR_OK;
	}
	if (record->type == TR_HEADER || record->type == TR_TRAILER) {
		script->has_top = false;
		if (!tr_runs_put(&script->runs, record) || !tr_env_tracker_begin(script->tracker))
			return TR_FATAL;
		tr_id_map_free(&script->run_seqs);
		script->run_seqs = (struct tr_id_map)TR_ID_MAP_INIT;
	}
	return record->type == TR_RECORD ? put_record(script, record, err) : TR_OK;
}
