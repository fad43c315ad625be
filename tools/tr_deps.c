/* SPDX-License-Identifier: MIT */
/* tr-deps: which files each command read and wrote, and which files depend on which. */
#include "tr_deps.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "process/command.h"
#include "record/literal.h"
#include "view/json_value.h"

enum {
	EVENTS = 1,
	INPUTS,
	OUTPUTS,
	TEMPORARY,
	OF,
	FROM,
	WHO_WRITES,
	WHO_READS,
	OUTSIDE,
	DECLARED,
	CYCLES,
	OVERLAPS,
	DIRECT,
	COMMANDS,
	THROUGH,
	CUT,
	PROJECT,
	MISSING,
	SPECIAL,
	HASH,
	AS,
	NUL,
};

static const struct tr_option options[] = {
	{ INPUTS, 0, "inputs", NULL, "list files that were read, but not written before" },
	{ OUTPUTS, 0, "outputs", NULL, "list files that were written and exist at the end" },
	{ TEMPORARY, 0, "temporary", NULL, "list files that were created and deleted" },
	{ OF, 0, "of", "GLOB", "list files that were needed to make these files" },
	{ FROM, 0, "from", "GLOB", "list files that were made from these files" },
	{ DIRECT, 0, "direct", NULL, "with --of, --from: only one step" },
	{ COMMANDS, 0, "commands", NULL, "with --of, --from: list commands, not files" },
	{ WHO_WRITES, 0, "who-writes", "GLOB", "list the commands that wrote these files" },
	{ WHO_READS, 0, "who-reads", "GLOB", "list the commands that read these files" },
	{ THROUGH, 0, "through", "none|wrappers|all",
	  "parents whose reads count as reads of a command (wrappers: all except make "
	  "and ninja)" },
	{ CUT, 0, "cut", "GLOB", "stop at these files, such as a cache" },
	{ OUTSIDE, 0, "outside", "DIR", "find uses of files outside this directory" },
	{ DECLARED, 0, "declared", "GLOB", "compare with the rules in these .d files" },
	{ CYCLES, 0, "cycles", NULL, "find files that depend on each other" },
	{ OVERLAPS, 0, "overlaps", NULL, "find commands that use a file while another writes it" },
	{ EVENTS, 0, "events", NULL,
	  "write the stream, and add the fields path1, path2, does and by to file calls" },
	{ PROJECT, 0, "project", "DIR",
	  "the project (default: the directory of the first "
	  "command)" },
	{ MISSING, 0, "missing", NULL, "treat files that were only looked up as needed" },
	{ SPECIAL, 0, "special", NULL, "also show devices, directories and /proc" },
	{ HASH, 0, "hash", NULL, "add the SHA-256 of files that exist on this machine" },
	{ AS, 0, "as", "trec|list|tsv|json|make|ninja|dot|cyclonedx|spdx",
	  "the form of the output" },
	{ NUL, '0', "null", NULL, "end the items of a list with NUL" },
	{ 0 },
};

static const char *const examples[] = {
	"files that a build read and did not make",
	"tr-deps --inputs build.nfsdb",
	"the files that went into an object file directly",
	"tr-deps --of='*/quotearg.o' --direct build.nfsdb",
	"the commands that wrote a file",
	"tr-deps --who-writes='*/config*.h' build.nfsdb",
	NULL,
};

static const struct tr_tool tool = {
	.name = "tr-deps",
	.usage = "[OPTION...] [FILE...]",
	.summary = "Reports which files every command of a process trace read and wrote, and what "
		   "depends on what.",
	.shared = TR_CLI_ALL,
	.options = options,
	.examples = examples,
	.status_one = "a check found something",
};

static void add_glob(struct tr_deps *deps, struct tr_deps_globs *globs)
{
	if (!tr_array_room(globs->globs, globs->count, globs->cap))
		tr_cli_out_of_memory(&deps->cli);
	else
		globs->globs[globs->count++] = deps->cli.argument;
}

static void set_mode(struct tr_deps *deps, int mode)
{
	if (deps->mode && deps->mode != mode)
		tr_cli_usage(&deps->cli, "more than one list or check at a time");
	deps->mode = mode;
}

static void read_options(struct tr_deps *deps)
{
	struct tr_cli *cli = &deps->cli;
	int choice;

	for (int id; (id = tr_cli_option(cli)) != 0;) {
		switch (id) {
		case OF:
		case FROM:
		case WHO_WRITES:
		case WHO_READS:
		case DECLARED:
			set_mode(deps, id);
			add_glob(deps, &deps->wanted);
			break;
		case OUTSIDE:
			set_mode(deps, id);
			add_glob(deps, &deps->outside);
			break;
		case CUT:
			add_glob(deps, &deps->cut);
			break;
		case THROUGH:
			if ((choice = tr_cli_choice(cli)) >= 0)
				deps->through = (enum tr_deps_through)choice;
			break;
		case AS:
			if ((choice = tr_cli_choice(cli)) >= 0)
				deps->as = (enum tr_deps_as)choice;
			break;
		case DIRECT:
			deps->direct = true;
			break;
		case COMMANDS:
			deps->commands = true;
			break;
		case PROJECT:
			deps->project_option = cli->argument;
			break;
		case MISSING:
			deps->missing = true;
			break;
		case SPECIAL:
			deps->special = true;
			break;
		case HASH:
			deps->hash = true;
			break;
		case NUL:
			deps->nul = true;
			break;
		default:
			set_mode(deps, id);
		}
	}
	bool search = deps->mode == OF || deps->mode == FROM;
	bool who = deps->mode == WHO_READS || deps->mode == WHO_WRITES;
	bool finding = deps->mode >= OUTSIDE && deps->mode <= OVERLAPS;
	if (cli->stop)
		return;
	if ((deps->direct || deps->commands) && !search)
		tr_cli_usage(cli, "--%s needs --of or --from",
			     deps->direct ? "direct" : "commands");
	else if (deps->direct && deps->commands)
		tr_cli_usage(cli, "--commands lists the commands of all steps: remove --direct");
	else if (deps->mode == EVENTS && deps->as > AS_TREC)
		tr_cli_usage(cli, "--events writes trec only");
	else if ((who || deps->commands || finding) && deps->as >= AS_MAKE)
		tr_cli_usage(
			cli,
			"this form shows only files and what they depend on: use --as=list, tsv "
			"or json");
	else if (finding && deps->mode != OUTSIDE && deps->as == AS_TREC)
		tr_cli_usage(cli, "the results of these options are not records: remove "
				  "--as=trec");
	else if ((deps->mode == 0 || deps->mode == EVENTS) && deps->nul && deps->as != AS_LIST)
		tr_cli_usage(cli, "-0 ends the items of a list: add --as=list, or an option such "
				  "as --inputs");
	if (deps->as == AS_DEFAULT)
		deps->as = deps->mode == 0 || deps->mode == EVENTS ? AS_TREC : AS_LIST;
	bool files = !who && !deps->commands && (!finding || deps->mode == OUTSIDE);
	bool steps =
		search || deps->mode == DECLARED || deps->mode == CYCLES || deps->as >= AS_MAKE;
	if (cli->stop)
		return;
	if (deps->nul && deps->as != AS_LIST)
		tr_cli_usage(cli, "-0 ends the items of a list: add --as=list");
	else if (deps->hash &&
		 (!files || deps->as == AS_TREC || (deps->as >= AS_MAKE && deps->as <= AS_DOT)))
		tr_cli_usage(cli, "--hash needs a list of files, --as=cyclonedx or --as=spdx");
	else if ((deps->cut.count || deps->through != TR_THROUGH_NONE) && !steps)
		tr_cli_usage(cli, "--%s needs --of, --from or --declared",
			     deps->cut.count ? "cut" : "through");
	else if (deps->missing && deps->mode != OF && deps->mode != OUTSIDE)
		tr_cli_usage(cli, "--missing needs --of or --outside");
}

/* Output. */

void tr_deps_put_line(struct tr_deps *deps, struct tr_text text)
{
	struct tr_buffer line = TR_BUFFER_INIT;
	bool plain = true;

	for (size_t i = 0; i < text.len && plain; i++)
		plain = (unsigned char)text.data[i] >= 0x20 && text.data[i] != 0x7f;
	if (plain || deps->nul)
		tr_buffer_put_text(&line, text);
	else
		tr_shell_quote_printable(text, &line);
	tr_buffer_put_byte(&line, deps->nul ? '\0' : '\n');
	if (line.failed)
		tr_cli_out_of_memory(&deps->cli);
	else
		tr_cli_put_text(&deps->cli, tr_buffer_text(&line));
	tr_buffer_free(&line);
}

/* Parses the arguments of a command. NULL: they are unknown, or memory is exhausted (*failed). */
static const struct tr_value *parse_argv(const struct tr_deps_command *command,
					 struct tr_arena *arena, bool *failed)
{
	struct tr_error err;

	tr_error_clear(&err);
	const struct tr_value *argv =
		command->argv.data ? tr_literal_parse(command->argv, arena, &err) : NULL;
	*failed |= err.cause == TR_CAUSE_MEMORY;
	return argv;
}

void tr_deps_put_argv(struct tr_deps *deps, const struct tr_deps_command *command,
		      struct tr_buffer *to)
{
	struct tr_arena arena = TR_ARENA_INIT;
	const struct tr_value *argv = parse_argv(command, &arena, &to->failed);

	for (size_t i = 0; argv && argv->type == TR_LIST && i < argv->count; i++) {
		if (argv->as.items[i].type != TR_STRING)
			continue;
		struct tr_text bytes = tr_value_bytes(&argv->as.items[i], &arena);
		if (i)
			tr_buffer_put_byte(to, ' ');
		if (bytes.data)
			tr_shell_quote_printable(bytes, to);
		else
			to->failed = true;
	}
	if (!argv)
		tr_buffer_put_text(to, command->name);
	tr_arena_free(&arena);
	if (to->failed)
		tr_cli_out_of_memory(&deps->cli);
}

/* Appends the columns seq, time and task; seq is absent for a program without an exec record. */
static void put_columns(struct tr_buffer *line, uint64_t seq, struct tr_text time,
			struct tr_text task)
{
	if (seq == TR_DEPS_NO_SEQ)
		tr_buffer_put_byte(line, '-');
	else
		tr_buffer_put_decimal(line, seq);
	tr_buffer_put_byte(line, '\t');
	tr_buffer_put_text(line, time);
	tr_buffer_put_byte(line, '\t');
	tr_buffer_put_text(line, task);
	tr_buffer_put_byte(line, '\t');
}

/* Ends and writes deps->line. False: the output failed. */
static bool put_record(struct tr_deps *deps)
{
	tr_buffer_put_byte(&deps->line, '\n');
	return deps->line.failed ? tr_cli_out_of_memory(&deps->cli)
				 : tr_cli_put_text(&deps->cli, tr_buffer_text(&deps->line));
}

/* Writes the exec record of a command, with what is known about it at the end. */
static void put_command(struct tr_deps *deps, const struct tr_deps_command *command)
{
	struct tr_buffer *line = &deps->line;
	struct tr_text directory = { NULL, 0 };

	tr_buffer_reset(line);
	if (command->directory)
		directory = tr_deps_text(deps, command->directory);
	switch (deps->as) {
	case AS_LIST:
		tr_deps_put_argv(deps, command, line);
		tr_deps_put_line(deps, tr_buffer_text(line));
		return;
	case AS_TSV:
		put_columns(line, command->seq, command->time, command->task);
		tr_buffer_put_text(line, command->name);
		tr_buffer_put_byte(line, '\t');
		if (directory.data)
			tr_cell_escape(directory, false, line);
		else
			tr_buffer_put_byte(line, '-');
		tr_buffer_put_byte(line, '\t');
		tr_deps_put_argv(deps, command, line);
		break;
	case AS_JSON: {
		tr_buffer_put_literal(line, "{\"seq\":");
		if (command->seq == TR_DEPS_NO_SEQ)
			tr_buffer_put_literal(line, "null");
		else
			tr_buffer_put_decimal(line, command->seq);
		tr_buffer_put_literal(line, ",\"time\":");
		tr_json_view_bytes(command->time, line);
		tr_buffer_put_literal(line, ",\"task\":");
		tr_json_view_bytes(command->task, line);
		tr_buffer_put_literal(line, ",\"name\":");
		tr_json_view_bytes(command->name, line);
		if (directory.data) {
			tr_buffer_put_literal(line, ",\"cwd\":");
			tr_json_view_bytes(directory, line);
		}
		struct tr_arena arena = TR_ARENA_INIT;
		const struct tr_value *argv = parse_argv(command, &arena, &line->failed);
		if (argv) {
			tr_buffer_put_literal(line, ",\"argv\":");
			tr_json_view_value(argv, &arena, line);
		}
		tr_arena_free(&arena);
		tr_buffer_put_byte(line, '}');
		break;
	}
	default:
		tr_buffer_put_literal(line, "exec\t");
		put_columns(line, command->seq, command->time, command->task);
		tr_buffer_put_text(line, command->name);
		if (directory.data) {
			tr_buffer_put_literal(line, "\tcwd=");
			tr_string_quote(directory, line);
		}
		if (command->argv.data) {
			tr_buffer_put_literal(line, "\targv=");
			tr_buffer_put_text(line, command->argv);
		}
	}
	put_record(deps);
}

static bool put_chosen_commands(struct tr_deps *deps)
{
	for (const struct tr_deps_command *command = deps->graph.first_command;
	     command && !deps->cli.stop; command = command->next)
		if (command->chosen)
			put_command(deps, command);
	return !deps->cli.stop;
}

static unsigned assumed(const struct tr_deps_use *use)
{
	return (use->read == TR_EVIDENCE_PASSED ? TR_DOES_READ : 0) |
	       (use->written == TR_EVIDENCE_PASSED ? TR_DOES_WRITE : 0) | use->details->assumed;
}

/* Joins a use with an earlier one of the same path by the same program. */
static void join(struct tr_deps_use *use, struct tr_deps_use *later)
{
	struct tr_deps_details *details = use->details, *more = later->details;

	use->does |= later->does;
	details->assumed |= (uint16_t)assumed(later);
	details->count += more->count;
	details->from = details->from ? details->from : more->from;
	if (!more->error.data)
		details->error.data = NULL; /* the file was found later */
	more->joined = true;
}

/* Joins all uses of a path by a program, which are one record. */
static void join_uses(struct tr_deps *deps)
{
	struct tr_deps_use *use;

	for (struct tr_deps_path *path = NULL; (path = tr_deps_next_path(deps, path));)
		path->user = NULL; /* becomes its first use by the current command */
	for (const struct tr_deps_command *owner = deps->graph.first_command; owner;
	     owner = owner->next) {
		const struct tr_deps_command *command = owner->owner == owner ? owner : NULL;
		for (; command; command = tr_deps_next_fork(command)) {
			for (use = command->uses; use; use = use->next_of_command) {
				if (!use->path || !use->does)
					continue;
				struct tr_deps_use *first = use->path->user;
				if (first && first->command->owner != owner)
					first = NULL;
				bool earlier = !first || use->first < first->first;
				if (earlier)
					use->path->user = use;
				if (first)
					join(earlier ? use : first, earlier ? first : use);
			}
		}
	}
}

/* Lists the files: the paths alone, or what all commands did with each of them. */
static bool put_files(struct tr_deps *deps, struct tr_deps_set *set)
{
	struct tr_buffer *line = &deps->line;
	char sha256[TR_SHA256_HEX + 1], sha1[41];

	tr_deps_set_sort(set);
	for (size_t i = 0; i < set->count && !deps->cli.stop; i++) {
		struct tr_deps_path *path = set->paths[i];
		bool hashed = deps->hash && tr_deps_hash(deps, path, sha256, sha1);
		struct tr_text text = tr_deps_text(deps, path);
		unsigned does = path->does;
		tr_buffer_reset(line);
		if (deps->as == AS_LIST) {
			if (hashed) {
				tr_buffer_put(line, sha256, TR_SHA256_HEX);
				tr_buffer_put_literal(line, "  ");
			}
			tr_buffer_put_text(line, text);
			tr_deps_put_line(deps, tr_buffer_text(line));
			continue;
		}
		if (deps->as == AS_TSV) {
			tr_cell_escape(text, false, line);
			tr_buffer_put_byte(line, '\t');
			tr_deps_put_does(does, "|", line);
			if (deps->hash) {
				tr_buffer_put_byte(line, '\t');
				tr_buffer_put(line, hashed ? sha256 : "-",
					      hashed ? TR_SHA256_HEX : 1);
			}
		} else {
			tr_buffer_put_literal(line, "{\"path\":");
			tr_json_view_bytes(text, line);
			tr_buffer_put_literal(line, ",\"does\":[\"");
			tr_deps_put_does(does, "\",\"", line);
			tr_buffer_put_literal(line, "\"]");
			if (hashed) {
				tr_buffer_put_literal(line, ",\"sha256\":\"");
				tr_buffer_put(line, sha256, TR_SHA256_HEX);
				tr_buffer_put_byte(line, '"');
			}
			tr_buffer_put_byte(line, '}');
		}
		put_record(deps);
	}
	return !deps->cli.stop;
}

/*
 * Writes the uses in the order of their first events; only: of these paths. Returns their number.
 */
static uint64_t put_uses(struct tr_deps *deps, const struct tr_deps_set *only)
{
	struct tr_buffer *line = &deps->line;
	const struct tr_deps_use *use = deps->graph.first_use;
	uint64_t count = 0;

	join_uses(deps);
	for (; use && !deps->cli.stop; use = use->details->next) {
		const struct tr_deps_details *details = use->details;
		const struct tr_deps_command *program = tr_deps_program(use->command);
		unsigned unseen = assumed(use);
		if (!use->path || !use->does || details->joined ||
		    !tr_deps_is_shown(deps, use->path) || (only && use->path->set != only->id))
			continue;
		tr_buffer_reset(line);
		tr_buffer_put_literal(line, "use\t");
		put_columns(line, details->seq, details->time, details->task);
		tr_cell_escape(tr_deps_text(deps, use->path), false, line);
		if (program && program->seq != TR_DEPS_NO_SEQ) {
			tr_buffer_put_literal(line, "\texec=");
			tr_buffer_put_decimal(line, program->seq);
		}
		tr_buffer_put_literal(line, "\tdoes=[");
		tr_deps_put_does(use->does, ",", line);
		tr_buffer_put_byte(line, ']');
		if (unseen) {
			tr_buffer_put_literal(line, "\tassumed=[");
			tr_deps_put_does(unseen, ",", line);
			tr_buffer_put_byte(line, ']');
		}
		if (details->from) {
			tr_buffer_put_literal(line, "\tfrom=");
			tr_string_quote(tr_deps_text(deps, details->from), line);
		}
		if (details->error.data && details->error.len) {
			tr_buffer_put_literal(line, "\terror=");
			tr_buffer_put_text(line, details->error);
		}
		if (details->count > 1) {
			tr_buffer_put_literal(line, "\tcount=");
			tr_buffer_put_decimal(line, details->count);
		}
		put_record(deps);
		count++;
	}
	return count;
}

static void choose_files(struct tr_deps *deps, struct tr_deps_set *set)
{
	for (struct tr_deps_path *path = NULL; (path = tr_deps_next_path(deps, path));) {
		const struct tr_deps_file *file = path->file;
		bool chosen = false;
		if (!tr_deps_is_shown(deps, path))
			continue;
		switch (deps->mode) {
		case INPUTS:
			/* a file that was read before it was replaced was an input, too */
			chosen = path->input;
			break;
		case OUTPUTS:
			chosen = file && tr_deps_was_written(path);
			break;
		case TEMPORARY:
			chosen = !file && path->last && path->last->created &&
				 path->last->deleted && !path->last->replaced && !path->moved;
			break;
		default:
			chosen = path->used;
		}
		if (chosen)
			tr_deps_set_add(deps, set, path);
	}
}

static bool write_files(struct tr_deps *deps, struct tr_deps_set *set)
{
	if (deps->as >= AS_CYCLONEDX)
		return tr_deps_write_document(deps, set);
	if (deps->as >= AS_MAKE)
		return tr_deps_write_rules(deps, set);
	if (deps->as == AS_TREC) {
		put_uses(deps, set);
		return !deps->cli.stop;
	}
	return put_files(deps, set);
}

/* Answers the question of the mode. */
static bool answer(struct tr_deps *deps)
{
	struct tr_deps_set set = tr_deps_set_new(deps), wanted = tr_deps_set_new(deps);
	bool fine = true;

	switch (deps->mode) {
	case OF:
	case FROM:
		fine = tr_deps_find_wanted(deps, &wanted);
		if (deps->mode == FROM)
			fine = fine && tr_deps_collect_from(deps, &wanted, &set);
		for (size_t i = 0; fine && deps->mode == OF && i < wanted.count; i++)
			fine = tr_deps_collect(deps, wanted.paths[i], deps->direct, &set);
		if (fine && deps->commands) {
			fine = put_chosen_commands(deps);
		} else if (fine) {
			if (deps->as >= AS_MAKE) /* with the rules of the files themselves */
				for (size_t i = 0; i < wanted.count; i++)
					tr_deps_set_add(deps, &set, wanted.paths[i]);
			/* only one step: the files that were found have no rules of their own */
			bool only_wanted = deps->direct && deps->mode == OF &&
					   deps->as >= AS_MAKE && deps->as < AS_CYCLONEDX;
			fine = write_files(deps, only_wanted ? &wanted : &set);
		}
		break;
	case WHO_WRITES:
	case WHO_READS:
		fine = tr_deps_find_wanted(deps, &wanted);
		for (size_t i = 0; fine && i < wanted.count; i++)
			if (wanted.paths[i]->file) /* it may have been used under another name */
				wanted.paths[i]->file->chosen = true;
		for (struct tr_deps_command *c = deps->graph.first_command; fine && c;
		     c = c->next) {
			for (struct tr_deps_use *use = c->uses; use; use = use->next_of_command) {
				if ((use->path && use->path->set == wanted.id) ||
				    (use->version && use->version->file->chosen))
					if (deps->mode == WHO_WRITES
						    ? tr_deps_is_writer(use) ||
							      use->does & TR_DOES_RENAME
						    : tr_deps_is_reader(use))
						c->owner->chosen |= c->owner->program;
			}
		}
		fine = fine && put_chosen_commands(deps);
		break;
	case OUTSIDE:
		fine = tr_deps_check_outside(deps, &set) && write_files(deps, &set);
		break;
	case DECLARED:
		fine = tr_deps_check_declared(deps);
		break;
	case CYCLES:
		fine = tr_deps_check_cycles(deps);
		break;
	case OVERLAPS:
		fine = tr_deps_check_overlaps(deps);
		break;
	default:
		choose_files(deps, &set);
		fine = write_files(deps, &set);
	}
	free(set.paths);
	free(wanted.paths);
	return fine;
}

static bool emit_event(void *context, struct tr_text line)
{
	struct tr_deps *deps = context;

	return tr_cli_put_text(&deps->cli, line);
}

/* Takes a call that the reader passes on without making a record. */
static bool take_call(struct tr_file_call_taker *taker, const struct tr_record *columns,
		      int64_t time, const struct tr_file_call *call)
{
	struct tr_deps *deps = tr_container(taker, struct tr_deps, taker);

	(void)time;
	return tr_deps_take(&deps->tracker, columns, call);
}

/* Begins a new graph for another trace. False: memory is exhausted. */
static bool begin_segment(struct tr_deps *deps)
{
	deps->calls += deps->tracker.calls;
	deps->unknown += deps->tracker.unknown;
	deps->too_long |= deps->graph.paths.too_long > 0;
	deps->mounts += deps->tracker.mounts;
	deps->cut_pipes += deps->tracker.cut_pipes;
	tr_deps_tracker_free(&deps->tracker);
	tr_deps_graph_free(&deps->graph);
	tr_deps_graph_init(&deps->graph);
	tr_deps_tracker_init(&deps->tracker, &deps->graph);
	deps->graph.details =
		(deps->as == AS_TREC && deps->mode != EVENTS) || deps->mode == DECLARED;
	deps->graph.without_arguments = deps->as > AS_TREC && deps->as < AS_MAKE &&
					!deps->commands && deps->mode >= INPUTS &&
					deps->mode <= FROM;
	return !deps->graph.failed || tr_cli_out_of_memory(&deps->cli);
}

/* True if it is a program, or the end of a process, that tr-record could not watch. */
static bool is_unwatched(struct tr_record *record)
{
	static const char flag[] = "\"unwatched\"";

	if (record->type != TR_RECORD ||
	    !(tr_text_is(record->kind, "exec") || tr_text_is(record->kind, "exit")))
		return false;
	struct tr_field *field = tr_record_field(record, "flagged");
	return field && memmem(field->text.data, field->text.len, flag, sizeof flag - 1);
}

static void read_records(struct tr_deps *deps)
{
	struct tr_cli *cli = &deps->cli;
	struct tr_record *record;
	struct tr_error err;
	bool stream = deps->mode == 0 && deps->as == AS_TREC;
	uint64_t written = 0;

	while (tr_cli_next(cli, &record)) {
		enum tr_status status = tr_deps_put(&deps->tracker, record, &err);
		if (status == TR_FATAL && err.cause == TR_CAUSE_NONE)
			cli->stop = true;
		else if (status == TR_FATAL)
			tr_cli_abort(cli, &err);
		else if (status != TR_OK)
			tr_cli_report_record(cli, record, &err, false);
		if (record->type == TR_HEADER) {
			struct tr_field *format = tr_record_field(record, "format");
			deps->no_removals |= format && tr_text_is(format->text, "etrace");
		}
		deps->unwatched += is_unwatched(record);
		if (!stream || cli->stop)
			continue;
		if (record->type == TR_HEADER || record->type == TR_TRAILER) {
			written += put_uses(deps, NULL);
			if (!begin_segment(deps))
				break;
		}
		if (record->type == TR_TRAILER) {
			tr_buffer_reset(&deps->line);
			tr_trailer_recount(record, written, &deps->line);
			put_record(deps);
			written = 0;
		} else if (record->type == TR_HEADER || tr_text_is(record->kind, "exec")) {
			written += record->type == TR_RECORD;
			tr_cli_put_line(cli, record);
		}
	}
	if (!cli->stop && tr_deps_finish(&deps->tracker, &err) == TR_FATAL)
		tr_cli_abort(cli, &err);
	else if (stream && !cli->stop) /* the stream has no trailer */
		put_uses(deps, NULL);
}

/* Answers a question about the whole trace, after the last record. */
static void answer_after_input(struct tr_deps *deps)
{
	struct tr_cli *cli = &deps->cli;

	deps->project = deps->tracker.directory;
	if (deps->project_option)
		deps->project = tr_deps_paths_spelled(&deps->graph.paths, deps->tracker.directory,
						      tr_text_from(deps->project_option));
	if (deps->no_removals && deps->mode == TEMPORARY)
		tr_cli_fail(cli,
			    "an etrace log does not record deletions, so it is unknown which files "
			    "were temporary");
	else if (deps->no_removals && deps->mode == OUTPUTS)
		tr_cli_note(cli,
			    "an etrace log does not record deletions: some of these files may not "
			    "exist at the end");
	tr_deps_make_absolute(deps, &deps->wanted);
	tr_deps_make_absolute(deps, &deps->cut);
	/* all other problems are reported where they are found */
	if (!cli->stop && !answer(deps) && cli->status < 2)
		tr_cli_out_of_memory(cli);
}

/* Reports uses of files that the trace has but that could not be followed. */
static void report_gaps(struct tr_deps *deps)
{
	struct tr_cli *cli = &deps->cli;

	deps->unknown += deps->tracker.unknown;
	deps->mounts += deps->tracker.mounts;
	deps->cut_pipes += deps->tracker.cut_pipes;
	if (deps->cut_pipes)
		tr_cli_fail(cli,
			    "%" PRIu64 " pipes are not followed, because the trace lacks their "
			    "descriptors: record it with a larger strace -s",
			    deps->cut_pipes);
	if (deps->unwatched)
		tr_cli_note(cli,
			    "programs that were not watched (flagged \"unwatched\"): %" PRIu64
			    "; the files that they used are missing",
			    deps->unwatched);
	if (deps->mounts)
		tr_cli_note(cli,
			    "%" PRIu64
			    " calls of mount or pivot_root are not followed: later paths "
			    "may mean other files",
			    deps->mounts);
	if (deps->too_long || deps->graph.paths.too_long)
		tr_cli_fail(cli,
			    "uses of paths longer than %d bytes are left out, and those that are "
			    "relative to them",
			    TR_DEPS_PATH_MAX);
	else if (deps->unknown)
		tr_cli_fail(cli,
			    "%" PRIu64 " uses of relative paths are left out, because the working "
			    "directory is not known (for strace, add -O cwd=DIR)",
			    deps->unknown);
}

int main(int argc, char **argv)
{
	struct tr_deps deps = { .as = AS_DEFAULT,
				.text = TR_BUFFER_INIT,
				.line = TR_BUFFER_INIT,
				.arena = TR_ARENA_INIT };
	struct tr_cli *cli = &deps.cli;

	tr_cli_begin(cli, &tool, argc, argv);
	read_options(&deps);
	deps.taker.take = take_call;
	cli->config.read.files = &deps.taker;
	bool begun = !cli->stop && begin_segment(&deps);
	if (deps.mode == EVENTS) {
		deps.tracker.emit = emit_event;
		deps.tracker.context = &deps;
	}
	if (begun && tr_cli_open(cli) && tr_cli_output(cli, false)) {
		read_records(&deps);
		if (!cli->stop && !(deps.calls + deps.tracker.calls) && !tr_cli_read_nothing(cli))
			tr_cli_fail(cli, "the trace has no file calls: %s", TR_DEPS_ADVICE);
		else if (!cli->stop && deps.mode != EVENTS && (deps.mode || deps.as != AS_TREC))
			answer_after_input(&deps);
		report_gaps(&deps);
	}
	tr_deps_tracker_free(&deps.tracker);
	tr_deps_graph_free(&deps.graph);
	free(deps.wanted.globs);
	free(deps.cut.globs);
	free(deps.outside.globs);
	tr_buffer_free(&deps.text);
	tr_buffer_free(&deps.line);
	tr_arena_free(&deps.arena);
	return tr_cli_end(cli);
}
