/* SPDX-License-Identifier: MIT */
/*
 * --split cuts a trace into parts, and --join puts parts together again.
 *
 * A part is a stream or a trace file of its own: its header has part=N, and is followed by the
 * context records of the parts before it, which have .again=true. A definition of the parts before
 * it is repeated before the first record that uses it. --join can leave both out, even after
 * records or definitions were filtered out of the parts. Each header has after=LINK, a hash of the
 * first record after the cut, the sizes of the parts before it and their links. Each trailer but
 * the last has the link of the next part, next=LINK, so --join can detect a part that is missing or
 * of another trace.
 *
 *	split: header, context -> kept -> the begin of each part
 *	       definitions -> those that a record uses, before it
 *	join:  parts -> known definitions and context -> one segment
 */

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "core/input.h"
#include "record/calls.h"
#include "record/definitions.h"
#include "record/vocabulary.h"
#include "tr_repack.h"

/* The parts of all traces of one name. */
struct stem {
	uint64_t number;	  /* of the last part */
	struct stem *next;	  /* the name after this one */
	struct tr_text name, end; /* without the number; end: the extensions of the first trace */
};

/* One line that is written at the begin of every part, or (first) at most of the first one. */
struct kept {
	bool context, first;
	size_t begin, len; /* in lines */
};

struct split {
	enum split_by by;
	uint64_t limit;
	bool list;
	struct tr_call_kinds kinds;

	/* the trace that is read */
	struct tr_buffer header, stem, lines; /* header: without its LF */
	struct tr_text extension, codec_extension;
	const struct tr_format *format;
	const struct tr_codec *codec;
	struct kept *kept;
	size_t kept_count, kept_cap;
	struct tr_definitions definitions; /* those whose use is known */
	struct tr_map by_id;		   /* the kept definition of each id */
	struct tr_arena ids;
	uint64_t open_calls;
	uint64_t large, largest; /* parts that a call made large; the most records of one */

	/* the names of parts, in their order; several traces may have the same */
	struct tr_map stems;
	struct tr_arena names;
	struct stem *first, *last, *named; /* named: the name of this trace */

	/* the part that is written */
	uint64_t part; /* 0: none was begun */
	uint64_t link; /* between this part and the next; 0: none is known */
	uint64_t last_link;
	bool open;
	uint64_t records, own; /* with and without the repeated ones */
	uint64_t frames;
	uint64_t begin;	       /* bytes of the header and the kept lines */
	uint64_t repeated;     /* these, and those of definitions of other parts */
	uint64_t late;	       /* records since it was full: a call has not returned */
	struct tr_arena arena; /* of lines that are made here */
	struct tr_buffer line, user;
};

struct join {
	bool on;
	bool checks;		 /* --join: each part has to be there, once and in order */
	bool skips;		 /* the segment is left out */
	uint64_t part;		 /* of the segment */
	uint64_t first;		 /* link before the first part; 0: unknown */
	uint64_t next;		 /* link to the next part; 0: it is the last one, or unknown */
	bool ended;		 /* its trailer was read */
	bool last;		 /* its trailer has no link */
	struct tr_buffer header; /* without part=N and after=LINK */
	struct tr_map seen;	 /* context lines, and the definition of each id */
	struct tr_arena memory;
	/*
	 * The definitions and context before the first other record, which are held back: if
	 * tr-filter selected nothing of any part, it would have left out the context of the trace.
	 */
	struct tr_buffer held;
	bool begun;		   /* another record has come */
	bool selected, unselected; /* something of a part was selected, nothing of a part was */
	bool due;		   /* a trailer has to be written */
	uint64_t count, errors;
	bool truncated;
	struct tr_record made;
	struct tr_arena arena;
	struct tr_buffer line;
};

struct split *split_new(void)
{
	struct split *split = calloc(1, sizeof *split);

	if (split)
		split->kinds.ask = tr_format_call_kinds;
	return split;
}

bool split_set(struct split *split, struct repack *r)
{
	static const char *const names[] = { "size=", "records=", "frames=" };
	const char *argument = r->cli.argument;
	bool good = false;

	for (unsigned i = 0; i < 3; i++) {
		size_t len = strlen(names[i]);
		if (strncmp(argument, names[i], len) != 0)
			continue;
		split->by = (enum split_by)i;
		r->cli.argument = argument + len;
		good = tr_cli_number(&r->cli, i == SPLIT_SIZE, UINT64_MAX, &split->limit);
		if (good && split->limit)
			return true;
		if (!good)
			return false;
	}
	return tr_cli_usage(&r->cli, "--split takes size=N, records=N or frames=N, not '%s'",
			    argument);
}

void split_list(struct split *split)
{
	split->list = true;
}

void split_free(struct split *split)
{
	if (!split)
		return;
	tr_buffer_free(&split->header);
	tr_buffer_free(&split->stem);
	tr_buffer_free(&split->lines);
	tr_buffer_free(&split->line);
	tr_buffer_free(&split->user);
	tr_definitions_free(&split->definitions);
	tr_map_free(&split->by_id);
	tr_map_free(&split->stems);
	tr_arena_free(&split->ids);
	tr_arena_free(&split->names);
	tr_arena_free(&split->arena);
	free(split->kept);
	free(split);
}

/* A leave is not counted if its enter was. */
static bool counts(const struct tr_record *record)
{
	return !tr_text_is(record->kind, "leave") || record->name.type == TR_CELL_ABSENT;
}

static bool is_context(const struct tr_record *record)
{
	return record->type == TR_RECORD && tr_context_kind(record->kind) >= 0;
}

/* The line of a record without its LF. False: reported, or a stop. */
static bool line_of(struct repack *r, struct tr_record *record, struct tr_buffer *to,
		    struct tr_text *line)
{
	if (!tr_cli_line(&r->cli, record, to, line))
		return false;
	line->len -= line->len && line->data[line->len - 1] == '\n';
	return true;
}

/* Splitting. */

/* Adds a line to those at the begin of parts. False: reported. */
static bool keep_line(struct repack *r, const struct tr_record *record, struct tr_text line,
		      bool first)
{
	struct split *s = r->split;

	if (!tr_array_room(s->kept, s->kept_count, s->kept_cap))
		return tr_cli_out_of_memory(&r->cli);
	struct kept kept = { is_context(record), first, s->lines.len, line.len };
	tr_buffer_put_text(&s->lines, line);
	s->kept[s->kept_count++] = kept;
	return !s->lines.failed || tr_cli_out_of_memory(&r->cli);
}

/* Removes the lines that further parts do not have. */
static void drop_first(struct split *s)
{
	size_t count = 0;

	for (size_t i = 0; i < s->kept_count; i++)
		if (!s->kept[i].first)
			s->kept[count++] = s->kept[i];
	s->kept_count = count;
}

/* Finds the line that is kept from this byte on; they are in order. */
static struct kept *find_kept(struct split *s, size_t begin)
{
	size_t low = 0, high = s->kept_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (s->kept[middle].begin < begin)
			low = middle + 1;
		else
			high = middle;
	}
	return &s->kept[low];
}

/*
 * Keeps a definition whose use is unknown for every part, once. It takes the place of the one
 * before it with its id. False: reported.
 */
static bool keep_definition(struct repack *r, const struct tr_record *record, struct tr_text line)
{
	struct split *s = r->split;
	const struct kept *known = tr_map_get(&s->by_id, record->task.text);

	if (known &&
	    tr_text_equal(line, (struct tr_text){ s->lines.data + known->begin, known->len }))
		return true;
	if (known)
		find_kept(s, known->begin)->first = true;
	if (!keep_line(r, record, line, false))
		return false;
	/* the array moves, the copy does not */
	struct kept *copy = tr_arena_alloc(&s->ids, sizeof *copy + record->task.text.len);
	if (!copy)
		return tr_cli_out_of_memory(&r->cli);
	*copy = s->kept[s->kept_count - 1];
	memcpy(copy + 1, record->task.text.data, record->task.text.len);
	struct tr_text id = { (char *)(copy + 1), record->task.text.len };
	return tr_map_put(&s->by_id, id, copy) || tr_cli_out_of_memory(&r->cli);
}

/* Keeps a definition or context record for further parts. False: a stop. */
static bool keep(struct repack *r, struct tr_record *record)
{
	struct split *s = r->split;
	struct tr_text line;

	if (!line_of(r, record, &s->line, &line))
		return !r->cli.stop;
	if (record->type != TR_DEFINITION)
		return keep_line(r, record, line, false);
	if (!tr_definition_is_known(record))
		return keep_definition(r, record, line);
	line.len++; /* its LF */
	if (!tr_definitions_add(&s->definitions, line))
		return tr_cli_out_of_memory(&r->cli);
	tr_definitions_passed(&s->definitions, record->task.text);
	line.len--;
	return s->open || keep_line(r, record, line, true);
}

/* Writes a line to the part: the text, and with again that it is repeated. False: a stop. */
static bool put_line(struct repack *r, struct tr_text text, bool again)
{
	struct split *s = r->split;
	struct tr_buffer *line = &s->line;
	struct tr_record record;
	struct tr_error err;

	tr_buffer_reset(line);
	tr_buffer_put_text(line, text);
	if (again && (r->format->flags & TR_FORMAT_STREAM))
		tr_buffer_put_literal(line, "\t.again=true");
	tr_buffer_put_byte(line, '\n');
	tr_arena_reset(&s->arena);
	if (tr_record_from_buffer(&record, &s->arena, line, &err) != TR_OK)
		return tr_cli_abort(&r->cli, &err);
	return repack_put_record(r, &record);
}

/* Repeats the definitions of other parts that a line of this one uses. False: a stop. */
static bool define(struct repack *r, struct tr_text line)
{
	struct split *s = r->split;
	struct tr_definitions *definitions = &s->definitions;

	if (!definitions->waiting)
		return true;
	/* a copy, because the line may lie where definitions are made */
	tr_buffer_reset(&s->user);
	tr_buffer_put_text(&s->user, line);
	tr_buffer_put_byte(&s->user, '\n');
	if (s->user.failed || !tr_buffer_room(&s->user, TR_INPUT_PAD) ||
	    !tr_definitions_use(definitions, tr_buffer_text(&s->user)))
		return tr_cli_out_of_memory(&r->cli);
	uint64_t before = tr_output_count(r->cli.out);
	bool good = true;
	for (size_t i = 0; good && i < definitions->wanted_count; i++) {
		struct tr_text text = definitions->wanted[i]->line;
		text.len--; /* its LF */
		good = put_line(r, text, false);
	}
	s->repeated += good ? tr_output_count(r->cli.out) - before : 0;
	return good;
}

/* Repeats the definitions of other parts that a record of this one uses. False: a stop. */
static bool define_for(struct repack *r, struct tr_record *record)
{
	struct tr_text line;

	if (!r->split->definitions.waiting)
		return true;
	return line_of(r, record, &r->split->line, &line) ? define(r, line) : !r->cli.stop;
}

/* Adds the field of a link, if there is one. */
static void put_link(struct tr_buffer *to, const char *field, uint64_t link)
{
	char text[32];

	snprintf(text, sizeof text, "\t%s=%" PRIu64, field, link);
	if (link)
		tr_buffer_put_text(to, tr_text_from(text));
}

/* Sets the link before the next part, which begins with the record. False: a stop. */
static bool set_link(struct repack *r, struct tr_record *record)
{
	struct split *s = r->split;
	struct tr_text line = TR_TEXT("");
	uint64_t hash = s->part ? tr_number_hash(s->last_link, tr_output_count(r->cli.out))
				: tr_text_hash(s->named->number, tr_buffer_text(&s->header));

	if (!line_of(r, record, &s->line, &line) && r->cli.stop)
		return false;
	s->link = s->last_link = tr_text_hash(tr_number_hash(hash, s->part), line);
	return true;
}

/* Writes the kept lines at the begin of a part. False: a stop. */
static bool put_kept(struct repack *r)
{
	struct split *s = r->split;
	uint64_t first = 0;

	for (size_t i = 0; i < s->kept_count; i++) {
		const struct kept *kept = &s->kept[i];
		struct tr_text line = { s->lines.data + kept->begin, kept->len };
		uint64_t before = tr_output_count(r->cli.out);
		if ((kept->context && !define(r, line)) ||
		    !put_line(r, line, kept->context && s->part > 1))
			return false;
		s->records += kept->context;
		first += kept->first ? tr_output_count(r->cli.out) - before : 0;
	}
	s->begin = s->repeated = tr_output_count(r->cli.out) - first;
	return true;
}

/* Adds the name of a part without its extensions. */
static void put_numbered(struct tr_buffer *to, struct tr_text stem, uint64_t number)
{
	char text[24];

	snprintf(text, sizeof text, "-%06" PRIu64, number);
	tr_buffer_put_text(to, stem);
	tr_buffer_put_text(to, tr_text_from(text));
}

/* Opens the next part and writes its begin. False: reported. */
static bool open_part(struct repack *r, const struct tr_trace_place *place)
{
	struct split *s = r->split;
	bool stream = s->format->flags & TR_FORMAT_STREAM;
	struct tr_buffer text = TR_BUFFER_INIT;

	s->part++;
	put_numbered(&text, tr_buffer_text(&s->stem), ++s->named->number);
	struct repack_name name = { .stem = tr_buffer_text(&text),
				    .extension = s->extension,
				    .codec = s->codec_extension,
				    .noted = true };
	r->format = s->format;
	r->begun = false;
	s->open = !text.failed && r->open_as(r, &name, place, s->codec);
	tr_buffer_reset(&text);
	tr_buffer_put_text(&text, tr_buffer_text(&s->header));
	if (stream) {
		tr_buffer_put_literal(&text, "\tpart=");
		tr_buffer_put_decimal(&text, s->part);
		put_link(&text, "after", s->link);
	}
	s->link = 0;
	bool good = s->open && put_line(r, tr_buffer_text(&text), false);
	s->records = s->own = s->frames = s->begin = s->repeated = s->late = 0;
	if (s->part > 1) {
		tr_definitions_begin_round(&s->definitions);
		drop_first(s);
	}
	good = good && put_kept(r);
	if (text.failed)
		tr_cli_out_of_memory(&r->cli);
	tr_buffer_free(&text);
	return good;
}

/* Ends the part. trailer NULL: more parts follow. False: a stop. */
static bool close_part(struct repack *r, const struct tr_trace_place *place,
		       const struct tr_record *trailer)
{
	struct split *s = r->split;
	struct tr_buffer text = TR_BUFFER_INIT;

	if (!s->open)
		return true;
	if (s->late > s->own / 2) {
		s->large++;
		s->largest = s->own > s->largest ? s->own : s->largest;
	}
	if (trailer)
		tr_trailer_recount(trailer, s->records, &text);
	else
		tr_trailer_put(s->records, 0, false, &text);
	if (s->format->flags & TR_FORMAT_STREAM)
		put_link(&text, "next", s->link);
	bool good = text.failed ? tr_cli_out_of_memory(&r->cli)
				: put_line(r, tr_buffer_text(&text), false);
	tr_buffer_free(&text);
	s->open = false;
	uint64_t unwritten = s->list ? tr_cli_complete_files(&r->cli) : 0;
	/* a part of which nothing can be written is reported, and the next one is begun */
	good = repack_finish_writer(r) && good;
	good = repack_finish_output(r, place) && good;
	/* a part that did not get its name is not listed: a file of this name is an older one */
	if (good && s->list && tr_cli_complete_files(&r->cli) == unwritten)
		tr_cli_list_file(&r->cli, r->path.data);
	return !r->cli.stop;
}

/*
 * Finds the number of the last part of this name: the parts of all traces of a name are numbered
 * consecutively, so their names sort in the order of the parts. False: memory is exhausted.
 */
static bool find_number(struct repack *r)
{
	struct split *s = r->split;
	struct tr_text name = repack_unpacked_as(r, tr_buffer_text(&s->stem));
	struct tr_text end = { s->extension.data, s->extension.len + s->codec_extension.len };

	if (r->names.key.failed)
		return false;
	s->named = tr_map_get(&s->stems, name);
	if (s->named)
		return true;
	struct stem *stem = tr_arena_alloc(&s->names, sizeof *stem + name.len + end.len);
	if (!stem)
		return false;
	char *text = (char *)(stem + 1);
	memcpy(text, name.data, name.len);
	memcpy(text + name.len, end.data, end.len);
	*stem = (struct stem){ .name = { text, name.len }, .end = { text + name.len, end.len } };
	*(s->last ? &s->last->next : &s->first) = stem;
	s->last = s->named = stem;
	return tr_map_put(&s->stems, stem->name, stem);
}

/* Begins the parts of a trace. header NULL: it has none. False: reported. */
static bool begin_trace(struct repack *r, const struct tr_trace_place *place,
			struct tr_record *header, const struct tr_format *format)
{
	struct split *s = r->split;
	struct tr_text line = TR_TEXT("%trec\t1");

	r->header = header;
	s->format = format;
	if (header && (format->flags & TR_FORMAT_STREAM) && tr_record_field(header, "part")) {
		tr_cli_remark(&r->cli, header, TR_CAUSE_USAGE, TR_DAMAGE,
			      "is a part of a trace already: join the parts (--join) before they "
			      "are split again");
		return false;
	}
	if (!repack_codec(r, format, place, &s->codec))
		return false;
	if (header && !line_of(r, header, &s->line, &line))
		return false;
	struct repack_name name = repack_member_name(r, place, format, s->codec);
	tr_buffer_reset(&s->header);
	tr_buffer_put_text(&s->header, line);
	tr_buffer_reset(&s->stem);
	tr_buffer_put_text(&s->stem, name.stem);
	/* the extensions follow the stem in memory, where the place may move them */
	size_t stem = s->stem.len;
	tr_buffer_put_text(&s->stem, name.extension);
	tr_buffer_put_text(&s->stem, name.codec);
	if (s->header.failed || s->stem.failed)
		return tr_cli_out_of_memory(&r->cli);
	s->extension = (struct tr_text){ s->stem.data + stem, name.extension.len };
	s->codec_extension =
		(struct tr_text){ s->extension.data + s->extension.len, name.codec.len };
	s->stem.len = stem;
	if (!find_number(r))
		return tr_cli_out_of_memory(&r->cli);
	tr_buffer_reset(&s->lines);
	s->kept_count = 0;
	tr_map_clear(&s->by_id);
	tr_arena_reset(&s->ids);
	tr_definitions_free(&s->definitions);
	s->part = s->link = s->open_calls = 0;
	return true;
}

/*
 * True if the part has what was asked for. What parts have in common must not be repeated for every
 * record, so it is at most four fifths of a part, or 16 KiB if not bytes are counted, and the begin
 * of a part is at most half of its bytes if they are.
 */
static bool is_full(const struct repack *r)
{
	enum { SMALL = 16 << 10 };
	const struct split *s = r->split;
	uint64_t size = tr_output_count(r->cli.out);
	bool own = size - s->repeated >= s->repeated / 4;

	if (s->by == SPLIT_SIZE)
		return own && size >= s->limit && size >= 2 * s->begin;
	return (own || s->repeated <= SMALL) &&
	       (s->by == SPLIT_RECORDS ? s->own : s->frames) >= s->limit;
}

/* True if the next part begins here. Calls that are open now belong to this part. */
static bool is_complete(const struct repack *r)
{
	struct split *s = r->split;

	if (!s->open || !is_full(r))
		return false;
	s->late += s->open_calls != 0;
	return !s->open_calls;
}

/* Counts a record of the part, and the calls and tasks that it opens or ends. */
static void count_record(struct split *s, const struct tr_record *record)
{
	bool enter = tr_text_is(record->kind, "enter");
	bool leave =
		!enter && tr_text_is(record->kind, "leave") && record->name.type != TR_CELL_ABSENT;

	s->records += counts(record);
	s->own += counts(record);
	s->open_calls += enter;
	s->open_calls -= leave && s->open_calls;
	if ((leave || tr_text_is(record->kind, "call")) && record->name.type == TR_CELL_TEXT)
		s->frames +=
			(tr_call_kinds_of(&s->kinds, record->name.text) & TR_CALL_END_FRAME) != 0;
}

/* Writes a record to its part. False: a stop. */
static bool split_record(struct repack *r, const struct tr_trace_place *place,
			 struct tr_record *record)
{
	struct split *s = r->split;
	bool context = is_context(record);

	if (record->type == TR_TRAILER)
		return (s->open || open_part(r, place)) && close_part(r, place, record);
	if (record->type == TR_DEFINITION || context) {
		if (!keep(r, record))
			return false;
		s->records += context && s->open;
		return !s->open ||
		       ((!context || define_for(r, record)) && repack_put_record(r, record));
	}
	if (record->type == TR_COMMENT)
		return !s->open || repack_put_record(r, record);
	if (is_complete(r) && (!set_link(r, record) || !close_part(r, place, NULL)))
		return false;
	if (!s->open && ((!s->part && !set_link(r, record)) || !open_part(r, place)))
		return false;
	count_record(s, record);
	return define_for(r, record) && repack_put_record(r, record);
}

/* Ends a trace, whose trailer may be missing. False: a stop. */
static bool end_trace(struct repack *r, const struct tr_trace_place *place)
{
	struct split *s = r->split;
	/* without records of its own, the first part has only what each part begins with */
	bool due = !s->part && s->kept_count;
	bool good = (!due || open_part(r, place)) && close_part(r, place, NULL);

	if (s->large)
		tr_cli_remark(&r->cli, NULL, TR_CAUSE_LIMIT, TR_NOTE,
			      "a trace is not cut while a call has not returned: %" PRIu64
			      " part%s larger, with up to %" PRIu64 " records",
			      s->large, s->large == 1 ? " is" : "s are", s->largest);
	s->large = s->largest = 0;
	return good && !r->cli.stop;
}

void split_place(struct repack *r, const struct tr_trace_place *place)
{
	struct tr_record *record;
	bool begun = false, left_out = false;

	while (tr_cli_next_here(&r->cli, &record)) {
		bool header = record->type == TR_HEADER;
		if (header || !begun) {
			begun = true;
			const struct tr_format *format = repack_split_format(r, place, record);
			left_out = !end_trace(r, place) || !format ||
				   !begin_trace(r, place, header ? record : NULL, format);
			if (header)
				continue;
		}
		/* after a part that cannot be written, only further traces are */
		left_out = left_out || !split_record(r, place, record);
	}
	if (!r->cli.stop)
		end_trace(r, place);
	r->split->open = false;
}

void split_note_others(struct repack *r)
{
	struct tr_buffer name = TR_BUFFER_INIT;
	struct stat st;

	for (const struct stem *stem = r->split->first; stem; stem = stem->next) {
		tr_buffer_reset(&name);
		put_numbered(&name, stem->name, stem->number + 1);
		tr_buffer_put_text(&name, stem->end);
		tr_buffer_put_byte(&name, '\0');
		if (!name.failed && fstatat(r->root, name.data, &st, AT_SYMLINK_NOFOLLOW) == 0)
			tr_cli_note(&r->cli,
				    "%s: has parts of an earlier split, from %s on: remove them, "
				    "or split into an empty directory",
				    r->directory, name.data);
	}
	tr_buffer_free(&name);
}

/* Joining. */

struct join *join_new(bool checks)
{
	struct join *join = calloc(1, sizeof *join);

	if (join)
		join->checks = checks;
	return join;
}

void join_free(struct join *join)
{
	if (!join)
		return;
	tr_buffer_free(&join->header);
	tr_buffer_free(&join->line);
	tr_buffer_free(&join->held);
	tr_map_free(&join->seen);
	tr_arena_free(&join->memory);
	tr_arena_free(&join->arena);
	free(join);
}

bool join_checks(const struct join *join)
{
	return join->checks;
}

/* The number in a field of a header or trailer; 0: it has none. */
static uint64_t number_of(struct tr_record *record, const char *key)
{
	const struct tr_value *value = tr_record_value(record, key, NULL);

	return value && value->type == TR_UINT ? value->as.number : 0;
}

/* Puts the line without a field, "\tKEY=…", into a buffer. False: it does not have the field. */
static bool without(struct tr_buffer *to, struct tr_text line, const char *key)
{
	const char *end = line.data + line.len;
	const char *at = memmem(line.data, line.len, key, strlen(key));

	if (!at)
		return false;
	const char *tab = memchr(at + 1, '\t', (size_t)(end - at - 1));
	tr_buffer_reset(to);
	tr_buffer_put_text(to, tr_text_span(line.data, at));
	tr_buffer_put_text(to, tr_text_span(tab ? tab : end, end));
	return true;
}

/* Makes a record of join->line. False: reported. */
static bool remake(struct repack *r, struct tr_record **record)
{
	struct join *join = r->join;
	struct tr_error err;

	tr_buffer_put_byte(&join->line, '\n');
	tr_arena_reset(&join->arena);
	if (tr_record_from_buffer(&join->made, &join->arena, &join->line, &err) != TR_OK)
		return tr_cli_abort(&r->cli, &err);
	*record = &join->made;
	return true;
}

/* Adds a line under a key, or replaces it. False: reported. */
static bool remember(struct repack *r, struct tr_text key, struct tr_text line)
{
	struct join *join = r->join;
	char *copy = tr_arena_alloc(&join->memory, key.len + line.len + 1);

	if (!copy)
		return tr_cli_out_of_memory(&r->cli);
	memcpy(copy, key.data, key.len);
	memcpy(copy + key.len, line.data, line.len);
	copy[key.len + line.len] = '\0';
	return tr_map_put(&join->seen, (struct tr_text){ copy, key.len }, copy + key.len) ||
	       tr_cli_out_of_memory(&r->cli);
}

/* Reports parts that are missing before this one; the trailer counts that, too. */
static void miss_parts(struct repack *r, uint64_t first, uint64_t last)
{
	r->join->errors++;
	if (first == last)
		tr_cli_remark(&r->cli, NULL, TR_CAUSE_CUT, TR_DAMAGE,
			      "part %" PRIu64 " of the trace is missing before it, or out of order",
			      first);
	else
		tr_cli_remark(&r->cli, NULL, TR_CAUSE_CUT, TR_DAMAGE,
			      "parts %" PRIu64 " to %" PRIu64
			      " of the trace are missing before it, or out of order",
			      first, last);
}

/* True if the part follows those that were joined; else reports why not. */
static bool follows(struct repack *r, struct tr_record *header, uint64_t part)
{
	const struct join *join = r->join;
	uint64_t after = number_of(header, "after");
	bool again = part <= join->part, next = part == join->part + 1;

	if (!again && !join->last && !(next && join->next && after && join->next != after)) {
		if (join->checks && !next)
			miss_parts(r, join->part + 1, part - 1);
		return true;
	}
	tr_cli_remark(&r->cli, header, TR_CAUSE_USAGE, join->checks ? TR_DAMAGE : TR_NOTE,
		      "part %" PRIu64 " %s part %" PRIu64 ": it %s", part,
		      join->checks ? "is left out after" : "is not joined with", join->part,
		      again ? "is a duplicate or out of order"
			    : "belongs to another trace or split");
	return false;
}

/*
 * Notes that the part before this place has no trailer. Each part was written with one, so the part
 * was cut, or filtered by a program that drops it.
 */
static void note_no_trailer(struct repack *r)
{
	if (r->join->checks && r->join->on && !r->join->ended)
		tr_cli_remark(&r->cli, NULL, TR_CAUSE_INPUT, TR_NOTE,
			      "part %" PRIu64 " of the trace has no trailer: it may be incomplete",
			      r->join->part);
	r->join->ended = true;
}

/* A header: of the next part, or of another trace. */
static bool join_header(struct repack *r, struct tr_record **record, struct tr_text line,
			bool *drop)
{
	struct join *join = r->join;
	struct tr_buffer whole = TR_BUFFER_INIT;
	uint64_t part = number_of(*record, "part");
	uint64_t first = part == 1 ? number_of(*record, "after") : 0;
	bool is_part = part && without(&join->line, line, "\tpart=");

	if (is_part && without(&whole, tr_buffer_text(&join->line), "\tafter=")) {
		tr_buffer_reset(&join->line);
		tr_buffer_put_text(&join->line, tr_buffer_text(&whole));
	}
	join->line.failed |= whole.failed;
	tr_buffer_free(&whole);
	bool same = is_part && join->on &&
		    tr_text_equal(tr_buffer_text(&join->line), tr_buffer_text(&join->header));
	bool another = !same || (part == 1 && (!join->next || first != join->first));
	bool follow = !another && follows(r, *record, part);
	join->skips = join->checks && !another && !follow;
	*drop = join->skips || follow;
	if (join->skips)
		return true;
	if (follow) {
		note_no_trailer(r);
		join->ended = false;
		join->part = part;
		join->next = 0;
		return true;
	}
	if (!join_end(r))
		return false;
	join->on = is_part;
	join->ended = false;
	join->part = part;
	join->first = first;
	join->next = 0;
	join->last = false;
	tr_map_clear(&join->seen);
	tr_arena_reset(&join->memory);
	join->count = join->errors = 0;
	join->truncated = join->begun = join->selected = join->unselected = false;
	tr_buffer_reset(&join->held);
	if (join->checks && !is_part)
		tr_cli_remark(&r->cli, NULL, TR_CAUSE_USAGE, TR_FLAW,
			      "is not a part of a trace as written by tr-repack -t trec --split");
	else if (join->checks && part > 1)
		miss_parts(r, 1, part - 1);
	if (!is_part)
		return true;
	tr_buffer_reset(&join->header);
	tr_buffer_put_text(&join->header, tr_buffer_text(&join->line));
	return join->header.failed ? tr_cli_out_of_memory(&r->cli) : remake(r, record);
}

/* Writes the lines that were held back. context: also those of records. False: reported. */
static bool put_held(struct repack *r, bool context)
{
	struct join *join = r->join;
	const char *p = join->held.data, *end = p + join->held.len;
	struct tr_record *record;

	join->begun = true;
	if (join->held.failed)
		return tr_cli_out_of_memory(&r->cli);
	while (p < end) {
		const char *lf = memchr(p, '\n', (size_t)(end - p));
		tr_buffer_reset(&join->line);
		tr_buffer_put_text(&join->line, tr_text_span(p, lf));
		if (!remake(r, &record))
			return false;
		bool drop = record->type == TR_RECORD && !context;
		join->count -= drop && join->count;
		if (!drop && !repack_put_record(r, record))
			return false;
		p = lf + 1;
	}
	tr_buffer_reset(&join->held);
	return true;
}

/* Holds a line back while it is not known whether another record follows. */
static bool hold(struct repack *r, struct tr_record *record, bool *drop)
{
	struct join *join = r->join;
	struct tr_buffer text = TR_BUFFER_INIT;
	struct tr_text line;

	if (*drop || join->begun)
		return true;
	*drop = true;
	if (line_of(r, record, &text, &line)) {
		tr_buffer_put_text(&join->held, line);
		tr_buffer_put_byte(&join->held, '\n');
	}
	tr_buffer_free(&text);
	return !r->cli.stop;
}

/* A trailer: it is written when no further part comes. */
static void join_trailer(struct join *join, struct tr_record *trailer)
{
	const struct tr_field *cut = tr_record_field(trailer, "truncated");

	join->count += trailer->seq.number;
	join->errors += number_of(trailer, "errors");
	/* an additional trailer, for files that could not be read, has no link */
	uint64_t next = number_of(trailer, "next");
	join->next = next ? next : join->next;
	join->truncated = join->truncated || cut;
	join->last = !join->next && !join->truncated;
	if (tr_record_field(trailer, "selected"))
		join->unselected = true;
	else
		join->selected |= trailer->seq.number > 0;
	join->ended = join->due = true;
}

bool join_end(struct repack *r)
{
	struct join *join = r->join;
	struct tr_record *trailer;

	if (!join)
		return true;
	note_no_trailer(r);
	if (!join->due && !join->held.len)
		return true;
	bool due = join->due;
	join->due = false;
	if (join->checks && join->next) {
		join->errors++;
		tr_cli_remark(&r->cli, NULL, TR_CAUSE_CUT, TR_DAMAGE,
			      "the parts after part %" PRIu64
			      " of the trace are missing, or out of order",
			      join->part);
	}
	join->next = 0;
	/* the header of the next trace may be in it */
	struct tr_buffer saved = join->line;
	join->line = (struct tr_buffer)TR_BUFFER_INIT;
	bool good = put_held(r, join->selected || !join->unselected);
	tr_buffer_reset(&join->line);
	tr_trailer_put(join->count, join->errors, join->truncated, &join->line);
	/* without trailers, the parts were cut */
	if (due)
		good = good && remake(r, &trailer) && repack_put_record(r, trailer);
	tr_buffer_free(&join->line);
	join->line = saved;
	return good;
}

/* Not in line, so that records of a trace without parts do not pay for its registers. */
static __attribute__((noinline)) bool join_part(struct repack *r, struct tr_record **record,
						bool *drop)
{
	struct join *join = r->join;
	struct tr_text line;
	struct tr_buffer text = TR_BUFFER_INIT;
	bool good = true;

	bool context = is_context(*record);
	if (!context && (*record)->type == TR_RECORD)
		return join->begun || put_held(r, true);
	if ((*record)->type == TR_TRAILER) {
		join_trailer(join, *record);
		*drop = true;
		return true;
	}
	if ((*record)->type == TR_COMMENT)
		return true;
	if (!line_of(r, *record, &text, &line)) {
		good = !r->cli.stop;
	} else if ((*record)->type == TR_HEADER) {
		good = join_header(r, record, line, drop);
	} else if ((*record)->type == TR_DEFINITION) {
		const char *known = tr_map_get(&join->seen, (*record)->task.text);
		*drop = known && tr_text_equal(tr_text_from(known), line);
		good = *drop || remember(r, (*record)->task.text, line);
	} else if (without(&join->line, line, "\t.again=")) {
		struct tr_text once = tr_buffer_text(&join->line);
		*drop = tr_map_get(&join->seen, once);
		join->count -= *drop && join->count;
		good = *drop || (remember(r, once, TR_TEXT("")) && remake(r, record));
	} else {
		good = remember(r, line, TR_TEXT(""));
	}
	tr_buffer_free(&text);
	if (!good || (*record)->type == TR_HEADER)
		return good;
	return hold(r, *record, drop);
}

void join_begin(struct join *join)
{
	join->on = join->skips = false;
}

bool join_is_idle(const struct join *join)
{
	return !join->on && !join->skips;
}

bool join_record(struct repack *r, struct tr_record **record, bool *drop)
{
	bool header = (*record)->type == TR_HEADER;

	*drop = r->join->skips && !header;
	return *drop || (!r->join->on && !header) || join_part(r, record, drop);
}
