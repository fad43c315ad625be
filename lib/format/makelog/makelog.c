/* SPDX-License-Identifier: MIT */
/*
 * The format, its detection, and its reader: lines that a backslash continues are joined and
 * parsed, and the commands of build tools in them become records. The records of a line are queued
 * until all of it is parsed, because an error later in the line shows that it is only text.
 */
#include "format/makelog/makelog.h"

#include <inttypes.h>
#include <string.h>

#include "core/output.h"
#include "format/reader_base.h"
#include "process/call.h"
#include "process/command.h"
#include "process/path.h"
#include "record/literal.h"

enum { PROBE = 64 << 10, DEPTH = 8 };
/*
 * The end of an open command is searched for in the next AHEAD bytes. The bytes that are searched
 * are limited by a budget, to which each byte of the log adds AHEAD_FACTOR, so that the time for a
 * log is proportional to its length.
 */
enum { AHEAD = 16 << 10, AHEAD_FACTOR = 4, AHEAD_MOST = 32 * AHEAD };

struct reader {
	struct tr_reader base;
	struct tr_makelog_shell *shells[DEPTH]; /* of lines; of sh -c in them; and so on */
	size_t depth;				/* which of them is at work */
	const char *left_out; /* why a part of the line is left out; NULL: none is */
	const char *cut;      /* why the line may be truncated; NULL: it is whole */
	struct tr_makelog_names names;
	struct tr_makelog_where where;
	uint64_t next_cr, next_escape;	 /* offsets before which the rest of the log has none */
	struct tr_buffer plain;		 /* a line without colours */
	struct tr_buffer logical;	 /* lines that backslashes join */
	struct tr_buffer joined;	 /* lines that belong to one command of the shell */
	struct tr_buffer listed;	 /* a line of waf as a shell has it */
	size_t budget;			 /* bytes that may be searched for the end of a command */
	struct tr_text line;		 /* not examined for a time yet; data NULL: it was */
	bool stamped;			 /* a time is in front of it */
	struct tr_buffer queue;		 /* the records of a line, each with LF */
	size_t delivered;		 /* bytes of the queue */
	struct tr_buffer cwd, cwd_field; /* a directory, and its field in a record */
	struct tr_counter seq;		 /* digits of the number of a record */
	char prompt;			 /* of the line: $ of a shell, + of sh -x, 0 without one */
	uint64_t texts;
	bool counted; /* the number of texts was reported */
	struct tally {
		uint64_t commands; /* those of all records, including the queue */
		uint64_t unexpanded, unplaced;
		struct tr_unknown_compilers unknown;
	} tally;
};

static const char *const reasons[] = {
	[TR_MAKELOG_UNCLOSED] = "a command with an unclosed quote or bracket: left out",
	[TR_MAKELOG_UNBALANCED] = "a command with an unquoted or unmatched bracket: left out",
	[TR_MAKELOG_TOO_DEEP] =
		"a command with more than 1000 nested subshells or substitutions: left out",
	[TR_MAKELOG_TOO_LONG] = "a command with more than 1000000 words: left out",
};

/*
 * True if a line that cannot be parsed is a command: it exceeds a bound, or begins with a build
 * tool or a shell and has an option. Other lines are text, such as "don't use gcc".
 */
static bool is_broken_command(struct reader *reader, struct tr_text text,
			      const struct tr_makelog_parsed *parsed)
{
	if (parsed->syntax >= TR_MAKELOG_TOO_DEEP)
		return true;
	if (!parsed->words)
		return false;
	if (tr_text_is(parsed->program, "eval"))
		return true;
	struct tr_makelog_program program = tr_makelog_program(&reader->names, parsed->program);
	return memmem(text.data, text.len, " -", 2) &&
	       (program.shell || program.tool != TR_TOOL_NONE);
}

/*
 * Takes the commands in the script of sh -c or ssh. program: the word at begin. False: the command
 * is neither.
 */
static bool take_script(struct reader *reader, const struct tr_makelog_found *found, size_t begin,
			struct tr_makelog_program program)
{
	size_t i, before = reader->queue.len;
	struct tr_makelog_parsed parsed;

	if (found->count - begin < 3 || (!program.remote && !program.shell))
		return false;
	i = program.remote ? tr_makelog_find_remote(found, begin)
			   : tr_makelog_find_script(found, begin);
	if (!i)
		return false;
	struct tally tally = reader->tally;
	struct tr_text unknown = { NULL, 0 };
	struct tr_makelog_script script = { .text = found->words[i].text,
					    .directory =
						    program.remote ? unknown : found->directory,
					    .conditional = found->conditional };
	if (reader->depth == DEPTH - 1) {
		if (tr_makelog_may_hold(&reader->names, script.text, &program))
			reader->left_out = "commands in more than 7 nested scripts: left out";
		return true;
	}
	reader->depth++;
	if (!tr_makelog_shell_parse(reader->shells[reader->depth], &script, &parsed))
		reader->queue.failed = true;
	reader->depth--;
	if (parsed.syntax == TR_MAKELOG_FINE)
		return true;
	if (reader->queue.len > before || is_broken_command(reader, script.text, &parsed))
		reader->left_out = reasons[parsed.syntax];
	reader->queue.len = before;
	reader->tally = tally;
	return true;
}

/*
 * Appends the field cwd and the key of the field argv. Their text is kept, because most commands
 * have the same directory.
 */
static void put_directory(struct reader *reader, struct tr_text directory)
{
	struct tr_buffer *field = &reader->cwd_field;

	if (!field->len || !tr_text_equal(directory, tr_buffer_text(&reader->cwd))) {
		tr_buffer_reset(&reader->cwd);
		tr_buffer_put_text(&reader->cwd, directory);
		tr_buffer_reset(field);
		tr_buffer_put_literal(field, "\tcwd=\"");
		tr_string_escape(directory, field);
		tr_buffer_put_literal(field, "\"\targv=[\"");
		reader->queue.failed |= reader->cwd.failed || field->failed;
	}
	tr_buffer_put_text(&reader->queue, tr_buffer_text(field));
}

/* Appends the columns before the name. */
static void put_columns(struct reader *reader, struct tr_buffer *to)
{
	static const char kind[] = "exec\t", none[] = "\t-\t-\t";
	char *begin = tr_buffer_room(to, sizeof kind + TR_DECIMAL_MAX + 2 + sizeof none),
	     *p = begin;

	if (!begin)
		return;
	p = mempcpy(p, kind, sizeof kind - 1);
	p += tr_counter_write(&reader->seq, reader->tally.commands, p);
	p = mempcpy(p, none, sizeof none - 1);
	tr_buffer_used(to, (size_t)(p - begin));
}

/* Queues the record of the command whose program is the word at begin. */
static void put_record(struct reader *reader, const struct tr_makelog_found *found, size_t begin,
		       bool unexpanded)
{
	struct tr_buffer *to = &reader->queue, joined = TR_BUFFER_INIT;
	struct tr_text name = found->words[begin].text, directory = found->directory;

	put_columns(reader, to);
	/* a text without escapes in a string has none in a cell either, except "-" */
	if (begin == 0 && name.len > 1 && tr_text_starts(found->spelled, name))
		tr_buffer_put_text(to, name);
	else
		tr_cell_escape(name, false, to);
	if (begin) {
		directory = tr_makelog_directory_of(found, begin, &joined);
		to->failed |= joined.failed;
	}
	if (directory.data)
		put_directory(reader, directory);
	else
		tr_buffer_put_literal(to, "\targv=[\"");
	if (begin)
		tr_buffer_free(&joined);
	if (begin == 0 && found->spelled.data)
		tr_buffer_put_text(to, found->spelled);
	for (size_t i = begin; i < found->count && (begin || !found->spelled.data); i++) {
		if (i > begin)
			tr_buffer_put_literal(to, "\",\"");
		tr_string_escape(found->words[i].text, to);
	}
	tr_buffer_put_literal(to, "\"]\tflagged=[\"from-log\"");
	if (unexpanded)
		tr_buffer_put_literal(to, ",\"unexpanded\"");
	if (found->conditional)
		tr_buffer_put_literal(to, ",\"conditional\"");
	if (directory.data && tr_makelog_where_is_guess(&reader->where))
		tr_buffer_put_literal(to, ",\"cwd-guessed\"");
	tr_buffer_put_literal(to, "]\n");
	reader->tally.commands++;
	reader->tally.unexpanded += unexpanded;
	reader->tally.unplaced += !directory.data;
}

/* Queues the record of a command if its program is a build tool. */
static void take(void *context, const struct tr_makelog_found *found)
{
	struct reader *reader = context;
	struct tr_makelog_program program;
	bool reads_words; /* by xargs */
	size_t first = tr_makelog_skip_wrappers(&reader->names, found, &program, &reads_words);

	if (take_script(reader, found, first, program))
		return;
	size_t begin = tr_makelog_find_tool(&reader->names, found, first, program);
	reader->queue.failed |= reader->names.failed;
	/* the log does not name the directory on the other machine */
	struct tr_makelog_found there = *found;
	if (program.remote)
		there.directory = (struct tr_text){ NULL, 0 };
	if (begin < found->count)
		put_record(reader, &there, begin, found->unexpanded || reads_words);
	else if (first < found->count && !program.no_runner && !program.shell)
		tr_unknown_compilers_count(&reader->tally.unknown, found->words + first,
					   found->count - first);
}

/* The next line of the log. As tr_reader_line. */
static enum tr_status take_line(struct reader *reader, struct tr_text *line, struct tr_error *err)
{
	bool ended;
	enum tr_status status = tr_reader_line(&reader->base, line, &ended, err);

	reader->cut = status == TR_OK && !ended
			      ? "the last line has no newline: its command may be truncated"
			      : NULL;
	return status;
}

/* True for a line of source code in a message of GCC: a line number, a bar, the code. */
static bool is_quoted_source(struct tr_text text)
{
	size_t i = 0;

	while (i < text.len && text.data[i] >= '0' && text.data[i] <= '9')
		i++;
	while (i < text.len && text.data[i] == ' ')
		i++;
	return i < text.len && text.data[i] == '|';
}

/* Examines the line for a time in front of it, unless that was done. */
static void find_stamp(struct reader *reader)
{
	if (reader->line.data)
		reader->stamped = tr_makelog_stamp(reader->line);
	reader->line.data = NULL;
}

/* Discards what was parsed of a line, and parses a script in its place. False: out of memory. */
static bool parse_from(struct reader *reader, size_t queued, const struct tally *tally,
		       const struct tr_makelog_script *script, struct tr_makelog_parsed *parsed)
{
	reader->queue.len = queued;
	reader->tally = *tally;
	reader->left_out = NULL;
	return tr_makelog_shell_parse(reader->shells[0], script, parsed);
}

/* True if the next lines may belong to a command: its quotes or brackets are open. */
static bool wants_more(struct reader *reader, size_t queued, struct tr_text text,
		       const struct tr_makelog_parsed *parsed)
{
	if (reader->budget < AHEAD)
		return false;
	if (parsed->syntax != TR_MAKELOG_UNCLOSED)
		return parsed->syntax == TR_MAKELOG_FINE && parsed->open;
	return reader->queue.len > queued || parsed->moved ||
	       (!parsed->quoting && *text.data == '(') || is_broken_command(reader, text, parsed);
}

/* True for a line that ends an open quote: a message of make or, with tools, a build tool. */
static bool ends_quote(struct reader *reader, struct tr_text line, bool tools)
{
	struct tr_text text = tr_makelog_command(line);
	const char *blank = memchr(text.data, ' ', text.len);

	if (tr_makelog_is_message(text))
		return true;
	return tools && blank &&
	       tr_makelog_program(&reader->names, tr_text_span(text.data, blank)).tool !=
		       TR_TOOL_NONE;
}

/*
 * Appends the next lines to reader->joined, up to one that ends an open quote (ends_quote), and
 * puts the offset at which each of them ends into ends. Returns their number.
 */
static size_t look_ahead(struct reader *reader, bool tools, size_t *ends, size_t most)
{
	struct tr_input *in = reader->base.in;
	size_t count = 0;

	/* one byte more shows whether the log ends there */
	tr_reader_look(&reader->base, AHEAD + 1);
	bool whole = in->end - in->pos <= AHEAD;
	const char *p = in->pos, *end = whole ? in->end : in->pos + AHEAD, *lf;
	while (count < most && p < end) {
		lf = memchr(p, '\n', (size_t)(end - p));
		if (!lf && !(whole && in->at_end))
			break;
		struct tr_text line =
			tr_makelog_plain(tr_text_span(p, lf ? lf : end), &reader->plain);
		size_t stamp = reader->stamped ? tr_makelog_stamp(line) : 0;
		line = (struct tr_text){ line.data + stamp, line.len - stamp };
		if (ends_quote(reader, line, tools))
			break;
		tr_buffer_put_byte(&reader->joined, '\n');
		tr_buffer_put_text(&reader->joined, line);
		ends[count++] = reader->joined.len;
		p = lf ? lf + 1 : end;
	}
	reader->budget -= (size_t)(p - in->pos);
	return count;
}

/*
 * Parses a line again together with the next ones, up to the one in which its quotes, brackets and
 * here-documents are closed. *text becomes a copy of the line. TR_END: they are not closed nearby,
 * and the line was parsed alone.
 */
static enum tr_status parse_with_next(struct reader *reader, size_t queued,
				      const struct tally *tally, struct tr_text *text,
				      struct tr_makelog_parsed *parsed, struct tr_error *err)
{
	enum { MOST = 200 };
	size_t ends[MOST], lines = 0, len = text->len;
	bool tools = parsed->quoting && !tr_command_is_shell(parsed->program) &&
		     !tr_text_is(parsed->program, "eval");
	struct tr_text line;

	find_stamp(reader);
	tr_buffer_reset(&reader->joined);
	tr_buffer_put_text(&reader->joined, *text);
	size_t count = look_ahead(reader, tools, ends, MOST);
	if (reader->plain.failed || (reader->joined.failed && !reader->joined.limited))
		return tr_error_memory(err);
	*text = (struct tr_text){ tr_buffer_text(&reader->joined).data, len };
	if (reader->joined.failed)
		return TR_END;
	struct tr_makelog_script script = { .text = tr_buffer_text(&reader->joined),
					    .directory = tr_makelog_where_now(&reader->where),
					    .by_line = true };
	if (!parse_from(reader, queued, tally, &script, parsed))
		return tr_error_memory(err);
	if (count && parsed->syntax == TR_MAKELOG_FINE && !parsed->open) {
		while (lines < count && (!lines || ends[lines - 1] < parsed->taken)) {
			enum tr_status status = take_line(reader, &line, err);
			if (status != TR_OK)
				return status;
			lines++;
		}
		return TR_OK;
	}
	script = (struct tr_makelog_script){ .text = *text,
					     .directory = tr_makelog_where_now(&reader->where) };
	return parse_from(reader, queued, tally, &script, parsed) ? TR_END : tr_error_memory(err);
}

/*
 * Queues the commands of a command line, which may continue in the next lines. TR_WARN: one of its
 * commands cannot be read.
 */
static enum tr_status parse(struct reader *reader, struct tr_text text, struct tr_error *err)
{
	size_t queued = reader->queue.len;
	struct tr_makelog_parsed parsed;
	struct tr_makelog_program first;
	bool session = tr_makelog_where_is_about_next(&reader->where, reader->prompt, text);

	if (is_quoted_source(text) ||
	    (!tr_makelog_may_hold(&reader->names, text, &first) && !session))
		return TR_OK;
	struct tally tally = reader->tally;
	reader->left_out = NULL;
	if (tr_makelog_may_be_windows(text, first) &&
	    tr_makelog_windows_parse(&reader->names, text, tr_makelog_where_now(&reader->where),
				     take, reader, &reader->queue.failed))
		return TR_OK;
	struct tr_makelog_script script = { .text = text,
					    .directory = tr_makelog_where_now(&reader->where) };
	if (!tr_makelog_shell_parse(reader->shells[0], &script, &parsed))
		return tr_error_memory(err);
	if (wants_more(reader, queued, text, &parsed)) {
		enum tr_status status =
			parse_with_next(reader, queued, &tally, &text, &parsed, err);
		if (status != TR_OK && status != TR_END)
			return status;
	}
	if (parsed.syntax != TR_MAKELOG_FINE) {
		bool command =
			reader->queue.len > queued || is_broken_command(reader, text, &parsed);
		reader->queue.len = queued;
		reader->tally = tally;
		reader->left_out = command ? reasons[parsed.syntax] : NULL;
	}
	if (session && parsed.moved && parsed.syntax == TR_MAKELOG_FINE)
		tr_makelog_where_set(&reader->where, reader->prompt, parsed.directory);
	if (reader->where.cwd.failed)
		return tr_error_memory(err);
	if (!reader->left_out)
		return TR_OK;
	tr_error_say(err, TR_CAUSE_INPUT, reader->left_out);
	return TR_WARN;
}

/*
 * True if a line ends in a backslash that continues it. The backslash at the end of -IC:\inc\ and
 * ..\inc\ is part of a folder of Windows.
 */
static bool is_continued(struct tr_text line)
{
	const char *end = line.data + line.len - 1, *p = end;

	if (*end != '\\')
		return false;
	while (p > line.data && p[-1] != ' ' && p[-1] != '\t')
		p--;
	bool folder = end - p > 2 && p[1] == ':';
	for (const char *q = p; q < end; q++) {
		if (strchr("'\";&|$()`", *q) && *q)
			return true;
		char next = (char)(q[1] | 0x20);
		folder |= (*q == '\\' && next >= 'a' && next <= 'z') || (*q == ':' && q[1] == '\\');
	}
	return !folder;
}

/*
 * Parses lines that backslashes join. If they contain no command, each of them is parsed alone,
 * because text can end in a backslash, too. TR_WARN: err reports the last one that cannot be read.
 */
static enum tr_status parse_logical(struct reader *reader, struct tr_error *err)
{
	struct tr_text text = tr_makelog_command(tr_buffer_text(&reader->logical));
	enum tr_status status = parse(reader, text, err);

	if (status != TR_OK || reader->queue.len)
		return status;
	size_t budget = reader->budget;
	reader->budget = 0; /* none of them continues after the last one */
	for (const char *p = text.data, *end = p + text.len; p < end && status != TR_FATAL;) {
		const char *lf = memchr(p, '\n', (size_t)(end - p));
		struct tr_text line = tr_text_span(p, lf ? lf : end);
		line.len -= lf && line.len;
		enum tr_status one = parse(reader, tr_makelog_command(line), err);
		status = one == TR_OK ? status : one;
		p = lf ? lf + 1 : end;
	}
	reader->budget = budget;
	return status;
}

/* Appends the lines that continue a line with a backslash to reader->logical. */
static enum tr_status join(struct reader *reader, struct tr_text line, struct tr_error *err)
{
	struct tr_buffer *logical = &reader->logical;
	bool more = true;
	enum tr_status status;

	find_stamp(reader);
	tr_buffer_reset(logical);
	tr_buffer_put_text(logical, line);
	while (more) {
		status = take_line(reader, &line, err);
		if (status == TR_END) {
			logical->len--;
			reader->cut = "the last line ends with a backslash: its command may be "
				      "truncated";
			return TR_OK;
		}
		if (status != TR_OK)
			return status;
		line = tr_makelog_plain(line, &reader->plain);
		size_t stamp = reader->stamped ? tr_makelog_stamp(line) : 0;
		line = (struct tr_text){ line.data + stamp, line.len - stamp };
		more = line.len && is_continued(line);
		tr_buffer_put_byte(logical, '\n');
		tr_buffer_put_text(logical, line);
		if (reader->plain.failed || (logical->failed && !logical->limited))
			return tr_error_memory(err);
		if (logical->failed) {
			tr_error_set(err, TR_CAUSE_LIMIT,
				     "lines that backslashes join exceed --max-record: left out");
			return TR_WARN;
		}
	}
	return TR_OK;
}

/* The prompt in front of a command, $ or +; 0: none. "++" precedes a command of a substitution. */
static char prompt_of(struct tr_text line, struct tr_text command)
{
	const char *p = command.data - 2;

	if (command.data - line.data < 2 || p[1] != ' ' || (*p != '$' && *p != '+'))
		return 0;
	return *p == '+' && p > line.data && p[-1] == '+' ? 0 : *p;
}

/*
 * Converts a command that waf -v prints as a list of Python, runner ['gcc', '-DX="1"', 'a.c'], to
 * the language of a shell. Returns any other line as it is.
 */
static struct tr_text take_list(struct tr_text text, struct tr_buffer *to)
{
	struct tr_text list = text;
	char quote = 0;

	if (!tr_text_skip(&list, TR_TEXT("runner [")) || !list.len ||
	    list.data[list.len - 1] != ']')
		return text;
	tr_buffer_reset(to);
	for (size_t i = 0; i + 1 < list.len; i++) {
		char c = list.data[i];
		if (quote ? c == quote : c == '\'' || c == '"') {
			quote = quote ? 0 : c;
			if (quote && list.data[i + 1] == c)
				tr_buffer_put_literal(to, "''");
		} else if (quote) {
			i += c == '\\';
			if (!tr_makelog_is_plain(list.data[i]))
				tr_buffer_put_byte(to, '\\');
			tr_buffer_put_byte(to, list.data[i]);
		} else if (c == ' ') {
			tr_buffer_put_byte(to, ' ');
		}
	}
	return tr_buffer_text(to);
}

/*
 * True if a line contains a byte. *next is an offset before which the log has no such byte from the
 * line on; the whole window is searched at once, because most logs have none.
 */
static bool has_byte(const struct tr_input *in, struct tr_text line, char byte, uint64_t *next)
{
	uint64_t begin = in->offset - (uint64_t)(in->pos - line.data);

	if (*next < in->offset) {
		const char *found = memchr(line.data, byte, (size_t)(in->end - line.data));
		*next = begin + (uint64_t)((found ? found : in->end) - line.data);
	}
	return *next < begin + line.len;
}

/* Queues the commands of the next line. TR_END: the log has ended. */
static enum tr_status read_line(struct reader *reader, struct tr_error *err)
{
	struct tr_text line;

	reader->base.source_offset = reader->base.in->offset;
	enum tr_status status = take_line(reader, &line, err);
	reader->base.source_line = reader->base.lines;
	if (status != TR_OK)
		return status;
	if (reader->base.lines == 1 && (tr_text_starts(line, TR_TEXT("\xff\xfe")) ||
					tr_text_starts(line, TR_TEXT("\xfe\xff")))) {
		tr_error_set(err, TR_CAUSE_INPUT,
			     "text in UTF-16, which iconv -f UTF-16 -t UTF-8 converts");
		return TR_FATAL;
	}
	reader->budget += AHEAD_FACTOR * line.len;
	reader->budget = reader->budget < AHEAD_MOST ? reader->budget : AHEAD_MOST;
	if (has_byte(reader->base.in, line, '\r', &reader->next_cr) ||
	    has_byte(reader->base.in, line, '\x1b', &reader->next_escape))
		line = tr_makelog_plain(line, &reader->plain);
	if (reader->plain.failed)
		return tr_error_memory(err);
	if (!line.len)
		return TR_OK;
	struct tr_text text = tr_makelog_command(line);
	reader->line = line;
	reader->prompt = prompt_of(line, text);
	status = tr_makelog_where_follow(&reader->where, text, err);
	bool message = status != TR_END;
	if (!message && is_continued(line)) {
		status = join(reader, line, err);
		if (status == TR_OK)
			status = parse_logical(reader, err);
	} else if (!message) {
		text = take_list(text, &reader->listed);
		status = reader->listed.failed ? tr_error_memory(err) : parse(reader, text, err);
	}
	reader->texts += !reader->queue.len && status == TR_OK && !message;
	if (reader->cut && status == TR_OK && reader->queue.len) {
		tr_error_say(err, TR_CAUSE_CUT, reader->cut);
		status = TR_WARN;
	} else if (reader->cut && status == TR_WARN && err->cause == TR_CAUSE_INPUT) {
		err->cause = TR_CAUSE_CUT;
	}
	if (status == TR_WARN)
		tr_error_at_line(err, reader->base.source_line);
	return status;
}

static bool note_unplaced(struct tr_reader *base, struct tr_error *err)
{
	struct reader *reader = tr_container(base, struct reader, base);

	if (!reader->tally.unplaced)
		return false;
	tr_error_set(err, TR_CAUSE_INPUT,
		     "commands whose directory is not in the log: %" PRIu64
		     "; -O cwd=DIR says where the build began, -O cwd=. that it began here",
		     reader->tally.unplaced);
	reader->tally.unplaced = 0;
	return true;
}

static bool note_unexpanded(struct tr_reader *base, struct tr_error *err)
{
	struct reader *reader = tr_container(base, struct reader, base);

	if (!reader->tally.unexpanded)
		return false;
	tr_error_set(err, TR_CAUSE_INPUT,
		     "commands with a part that only the shell of the build could expand "
		     "(flagged \"unexpanded\"): %" PRIu64,
		     reader->tally.unexpanded);
	reader->tally.unexpanded = 0;
	return true;
}

static bool note_texts(struct tr_reader *base, struct tr_error *err)
{
	struct reader *reader = tr_container(base, struct reader, base);

	if (reader->counted)
		return false;
	if (reader->tally.commands) {
		tr_error_set(err, TR_CAUSE_INPUT,
			     "lines without a command of a build tool: %" PRIu64, reader->texts);
		err->severity = TR_DETAIL;
	} else {
		tr_error_set(err, TR_CAUSE_INPUT,
			     "no command of a build tool in %" PRIu64
			     " line%s; make V=1, ninja -v and cmake --build -v print the commands "
			     "that they run",
			     reader->base.lines, reader->base.lines == 1 ? "" : "s");
	}
	reader->counted = true;
	return true;
}

static bool note_unknown_compilers(struct tr_reader *base, struct tr_error *err)
{
	struct reader *reader = tr_container(base, struct reader, base);

	return tr_unknown_compilers_report(&reader->tally.unknown, err);
}

/* The notes about the whole input, which are printed at its end. */
static tr_reader_note *const notes[] = { note_unplaced, note_unexpanded, note_texts,
					 note_unknown_compilers, NULL };

/* Delivers the next record of the queue. */
static enum tr_status deliver(struct reader *reader, struct tr_record **record,
			      struct tr_error *err)
{
	struct tr_reader *base = &reader->base;
	const char *p = reader->queue.data + reader->delivered;
	const char *lf = memchr(p, '\n', reader->queue.len - reader->delivered);

	tr_buffer_reset(&base->line);
	tr_buffer_put(&base->line, p, (size_t)(lf - p));
	reader->delivered += (size_t)(lf - p) + 1;
	base->seq++;
	return tr_reader_deliver(base, record, err);
}

/* Writes the records of the queue to the output of the tool, which needs nothing but lines. */
static void write_queue(struct reader *reader, struct tr_output *out)
{
	tr_output_put(out, reader->queue.data + reader->delivered,
		      reader->queue.len - reader->delivered);
	tr_output_record_end(out);
	reader->delivered = reader->queue.len;
	reader->base.handed_over += reader->tally.commands - reader->base.seq;
	reader->base.seq = reader->tally.commands;
}

static enum tr_status next(struct tr_reader *base, struct tr_record **record, struct tr_error *err)
{
	struct reader *reader = tr_container(base, struct reader, base);

	tr_arena_reset(&base->arena);
	for (;;) {
		struct tr_output *out = base->text_out ? *base->text_out : NULL;
		if (reader->delivered < reader->queue.len && (!out || out->failed))
			return deliver(reader, record, err);
		if (reader->delivered < reader->queue.len)
			write_queue(reader, out);
		tr_buffer_reset(&reader->queue);
		reader->delivered = 0;
		enum tr_status status = read_line(reader, err);
		if (reader->queue.failed && !reader->queue.limited)
			return tr_error_memory(err);
		if (reader->queue.failed) {
			tr_buffer_reset(&reader->queue);
			reader->tally.commands = base->seq;
			tr_error_set(err, TR_CAUSE_LIMIT,
				     "the commands of a line exceed --max-record: left out");
			tr_error_at_line(err, base->source_line);
			return TR_WARN;
		}
		if (status == TR_END)
			return tr_reader_note_end(base, notes, err);
		if (status != TR_OK)
			return status;
	}
}

static void close_reader(struct tr_reader *base)
{
	struct reader *reader = tr_container(base, struct reader, base);

	for (size_t i = 0; i < DEPTH; i++)
		tr_makelog_shell_free(reader->shells[i]);
	tr_compilers_free(reader->names.compilers);
	tr_makelog_where_free(&reader->where);
	tr_buffer_free(&reader->logical);
	tr_buffer_free(&reader->plain);
	tr_buffer_free(&reader->joined);
	tr_buffer_free(&reader->listed);
	tr_buffer_free(&reader->cwd);
	tr_buffer_free(&reader->cwd_field);
	tr_buffer_free(&reader->queue);
	tr_arena_free(&reader->names.arena);
}

static struct tr_reader *open_reader(const struct tr_read_config *config, struct tr_input *in,
				     struct tr_error *err)
{
	struct reader *reader = tr_reader_new(sizeof *reader, next, close_reader, config, in, err);

	if (!reader)
		return NULL;
	if (!tr_setting_get_directory(&config->settings, "cwd", true, &reader->where.cwd, err) ||
	    !tr_setting_get_compilers(&config->settings, &reader->names.compilers, err)) {
		tr_reader_free(&reader->base);
		return NULL;
	}
	reader->budget = AHEAD_MOST;
	if (config->as_text)
		reader->base.text_out = config->text_out;
	tr_buffer_limit(&reader->base.line, reader->base.max_record);
	tr_buffer_limit(&reader->queue, reader->base.max_record);
	tr_buffer_limit(&reader->logical, reader->base.max_record);
	tr_buffer_limit(&reader->joined, reader->base.max_record);
	for (size_t i = 0; i < DEPTH; i++) {
		reader->shells[i] = tr_makelog_shell_new(take, reader);
		if (!reader->shells[i]) {
			tr_reader_free(&reader->base);
			tr_error_memory(err);
			return NULL;
		}
	}
	return &reader->base;
}

/* The first word of a line, without its quotes. */
static struct tr_text first_program(struct tr_text text)
{
	bool quoted = text.len && *text.data == '"';
	const char *end =
		text.len ? memchr(text.data + quoted, quoted ? '"' : ' ', text.len - quoted) : NULL;

	return tr_text_span(text.data + quoted, end ? end : text.data + text.len);
}

/*
 * True if a line is a compiler that compiles. A compiler of the user's own table needs no -c: the
 * user has said that the log contains it.
 */
static bool is_evidence(const struct tr_compilers *own, struct tr_text text)
{
	struct tr_text program = first_program(text);
	enum tr_tool_kind tool = tr_program_find(own, program, NULL, 0).kind;
	bool driver = tool == TR_TOOL_DRIVER || tool == TR_TOOL_DRIVER_CL;

	if (program.len == text.len || (!driver && tool != TR_TOOL_LAUNCHER))
		return false;
	return memmem(text.data, text.len, " -c ", 4) ||
	       (tool == TR_TOOL_DRIVER_CL && memmem(text.data, text.len, " /c ", 4)) ||
	       (own && driver && tr_tool_of_name(program) == TR_TOOL_NONE);
}

/* The context of weigh. */
struct weighing {
	struct tr_compilers *own; /* NULL: the built-in table */
	struct tr_buffer plain;
};

/* Returns 1 if the window has a message of make or msbuild, or a compiler that compiles. */
static int weigh(const char *p, const char *end, void *context)
{
	struct weighing *weighing = context;

	if (end - p > PROBE)
		end = p + PROBE;
	for (const char *lf; (lf = memchr(p, '\n', (size_t)(end - p))); p = lf + 1) {
		struct tr_text line = tr_makelog_plain(tr_text_span(p, lf), &weighing->plain);
		struct tr_text text = tr_makelog_command(line);
		if (tr_makelog_is_message(text) || is_evidence(weighing->own, text))
			return 1;
	}
	return 0;
}

/*
 * Called only if no format recognises the bytes, so that a trace inside a build log is read as the
 * trace.
 */
static int search(struct tr_input *in, const struct tr_settings *settings)
{
	struct weighing weighing = { NULL, TR_BUFFER_INIT };
	struct tr_error err;

	if (!tr_setting_get_compilers(settings, &weighing.own, &err))
		return 1; /* opening it reports why */
	int bits = tr_bid_by_lines(in, PROBE, weigh, &weighing);
	tr_compilers_free(weighing.own);
	tr_buffer_free(&weighing.plain);
	return bits;
}

static const char *const extensions[] = { ".log", NULL };

static const struct tr_format_option options[] = {
	{ "cwd", "DIR", true, false, "the directory in which the build started" },
	TR_COMPILER_OPTIONS(true, false),
	{ NULL, NULL, false, false, NULL },
};

const struct tr_format tr_format_makelog = {
	.name = "makelog",
	.summary = "printed commands of make, ninja, cmake, libtool",
	.exact = "-",
	.flags = TR_FORMAT_READS,
	.extensions = extensions,
	.options = options,
	.search = search,
	.open = open_reader,
	.default_style = "tree",
};
