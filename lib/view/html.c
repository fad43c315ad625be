/* SPDX-License-Identifier: MIT */
#include "view/html.h"

#include <stdlib.h>
#include <string.h>

#include "core/container.h"
#include "core/text_cache.h"
#include "process/call.h"
#include "process/command.h"
#include "process/env_line.h"
#include "process/forest.h"
#include "process/makes.h"
#include "process/env_tracker.h"
#include "record/ask.h"
#include "record/literal.h"
#include "record/vocabulary.h"
#include "view/brief.h"
#include "view/critical.h"
#include "view/file_uses.h"
#include "view/html_page.h"
#include "view/json_value.h"
#include "view/timeline.h"

enum {
	COMMAND_SHOWN = 64 << 10, /* bytes */
	VALUE_SHOWN = 200,
	FIELDS_SHOWN = 2000,
	BLOCK = 4096,	      /* spans */
	FILES_SHOWN = 500,    /* of each command: as many that it read, and that it wrote */
	USES_SHOWN = 4000000, /* on the page */
};

/* A run or a call. Times are nanoseconds; without times each record takes a microsecond. */
struct span {
	int64_t begin, end;
	uint32_t name, ending; /* words */
	uint32_t makes;	       /* a word: the file that a program makes; the first is "" */
	uint32_t lane, level;
	uint32_t parent;      /* TR_FOREST_NONE */
	uint32_t environment; /* the number of its line; 0: none */
	uint32_t line_len;
	uint64_t line; /* its offset in html->lines */
};

/* The data of the spans on the page: columns of numbers, and one that is used to write the rest. */
enum column {
	BEGIN,
	DURATION,
	NAME,
	END,
	MAKES,
	LANE,
	LEVEL,
	PARENT,
	ENVIRONMENT,
	TEXTS, /* number of those that are text */
	LINE = TEXTS,
	COLUMNS,
};

/* An item of the column LINE. */
struct line_place {
	uint64_t at; /* in html->lines */
	uint32_t len;
	uint32_t environment;
};

/* A block of spans in html->lines: a piece of each column, one after the other. */
struct block {
	uint64_t at;
	uint32_t len[COLUMNS];
};

struct word {
	uint32_t number;
	size_t len;
	char bytes[];
};

/* Texts that occur often: the page has each once, and spans refer to its number. */
struct words {
	struct tr_map map;
	struct word *recent[64]; /* by their length and last byte */
	struct tr_arena arena;
	struct tr_buffer json; /* the list of them, without brackets */
};

/* The environment that a run has if its own and that of its parent have these ids. */
struct pair {
	uint64_t own, parent; /* 0: none */
	uint32_t environment;
};

struct tr_html {
	struct tr_html_config config;
	struct tr_output *out;
	size_t spans;
	struct tr_buffer columns[COLUMNS]; /* of the block that is not complete */
	struct block *blocks;
	size_t block_count, block_cap;
	struct words names, endings, makes, lanes;
	struct tr_spool *lines;	 /* of JSON, one for each span, in any order; and blocks */
	struct tr_buffer frames; /* JSON */
	struct tr_buffer top;	 /* JSON: the base environment, if there is one segment */
	uint64_t left;		 /* spans beyond the limit */
	uint32_t lane_count;

	struct tr_timeline timeline;
	int64_t latest; /* time of any record */
	uint64_t segments;
	bool has_calls;	       /* some span is a call */
	struct tr_map threads; /* struct thread, by task */

	struct tr_forest forest;
	struct tr_file_uses uses;
	bool has_files, has_phases;
	struct words files;
	struct tr_spool *use_lines; /* a line of JSON for each span; NULL: no file calls yet */
	size_t use_line_count;	    /* spans that have one */
	size_t shown_uses;
	struct tr_buffer use_line; /* scratch */
	struct tr_buffer path;	   /* JSON: the steps of the critical path */

	struct tr_makes *maker;
	struct tr_env_tracker *tracker;
	struct tr_spool *environments; /* lines of JSON, from number 1 on */
	uint32_t environment_count;
	uint32_t environment;	   /* of the exec record that is being put; 0: none */
	struct pair pairs[64];	   /* of the segment, by a hash of the ids */
	struct tr_text_cache maps; /* literals, with the number of their line as a note */
	struct tr_buffer text;	   /* scratch */
	struct tr_buffer json;	   /* scratch */
	struct tr_error failure;   /* of describe, unless memory was exhausted */
};

size_t tr_html_spans(const struct tr_html *html)
{
	return html->spans;
}

static bool word_number(struct words *words, struct tr_text bytes, uint32_t *number)
{
	enum { RECENT = sizeof words->recent / sizeof *words->recent };
	size_t last = bytes.len ? (unsigned char)bytes.data[bytes.len - 1] : 0;
	struct word **recent = &words->recent[(bytes.len * 4 + last) % RECENT], *word = *recent;

	if (!word || !tr_text_equal((struct tr_text){ word->bytes, word->len }, bytes))
		word = *recent = tr_map_get(&words->map, bytes);
	if (word) {
		*number = word->number;
		return true;
	}
	word = tr_arena_alloc(&words->arena, sizeof *word + bytes.len);
	if (!word || words->map.count >= UINT32_MAX)
		return false;
	word->number = *number = (uint32_t)words->map.count;
	word->len = bytes.len;
	if (bytes.len)
		memcpy(word->bytes, bytes.data, bytes.len);
	if (words->json.len)
		tr_buffer_put_byte(&words->json, ',');
	tr_json_view_name(bytes, &words->json);
	return !words->json.failed &&
	       tr_map_put(&words->map, (struct tr_text){ word->bytes, bytes.len }, word);
}

static void free_words(struct words *words)
{
	tr_map_free(&words->map);
	tr_arena_free(&words->arena);
	tr_buffer_free(&words->json);
}

static bool add_lane(struct tr_html *html, struct tr_text label, uint32_t *lane)
{
	struct tr_buffer *to = &html->lanes.json;

	*lane = html->lane_count++;
	if (to->len)
		tr_buffer_put_byte(to, ',');
	tr_json_view_name(label, to);
	return !to->failed;
}

/* Moves the columns to the spool, so that a page of many spans takes little memory. */
static bool end_block(struct tr_html *html, struct tr_error *err)
{
	bool fine = tr_array_room(html->blocks, html->block_count, html->block_cap);
	struct block *block = fine ? &html->blocks[html->block_count++] : NULL;

	if (fine)
		block->at = tr_spool_size(html->lines);
	for (size_t i = 0; fine && i < COLUMNS; i++) {
		struct tr_buffer *column = &html->columns[i];
		block->len[i] = (uint32_t)column->len;
		fine = !column->failed &&
		       tr_spool_write(html->lines, column->data, column->len, err);
		tr_buffer_reset(column);
	}
	return fine;
}

/* Appends a number and a comma. Most numbers have one digit. */
static inline void put_number(struct tr_buffer *column, uint32_t number)
{
	char *to = tr_buffer_room(column, TR_DECIMAL_MAX + 1);

	if (!to)
		return;
	size_t len = 1;
	if (number < 10)
		*to = (char)('0' + number);
	else
		len = tr_decimal_write(number, to);
	to[len] = ',';
	tr_buffer_used(column, len + 1);
}

/* Appends the microseconds from a time to a later one, and a comma. */
static void put_between(struct tr_buffer *column, int64_t from, int64_t to)
{
	tr_instant_write_micro((int64_t)((uint64_t)to - (uint64_t)from), column);
	tr_buffer_put_byte(column, ',');
}

/* Adds a span to the columns. A parent beyond the limit, like none, is -1. */
static bool add_span(struct tr_html *html, const struct span *span, struct tr_error *err)
{
	const struct line_place line = { span->line, span->line_len, span->environment };
	struct tr_buffer *columns = html->columns;

	if (html->spans >= html->config.limit) {
		html->left++;
		return true;
	}
	put_between(&columns[BEGIN], html->timeline.base, span->begin);
	put_between(&columns[DURATION], span->begin, span->end);
	put_number(&columns[NAME], span->name);
	put_number(&columns[END], span->ending);
	put_number(&columns[MAKES], span->makes);
	put_number(&columns[LANE], span->lane);
	put_number(&columns[LEVEL], span->level);
	if (span->parent == TR_FOREST_NONE || span->parent >= html->config.limit)
		tr_buffer_put_literal(&columns[PARENT], "-1,");
	else
		put_number(&columns[PARENT], span->parent);
	put_number(&columns[ENVIRONMENT], span->environment);
	tr_buffer_put(&columns[LINE], (const char *)&line, sizeof line);
	return ++html->spans % BLOCK || end_block(html, err);
}

/* Adds the line of a span, and sets its place. */
static bool add_line(struct tr_html *html, struct tr_text line, uint64_t *at, uint32_t *len,
		     struct tr_error *err)
{
	*at = tr_spool_size(html->lines);
	*len = (uint32_t)line.len;
	return line.len <= UINT32_MAX && tr_spool_write(html->lines, line.data, line.len, err);
}

/*
 * Sets html->environment to the line of a map: ["BASE",{…}]. Processes have few distinct
 * environments, so that most maps have a line already. False: memory is exhausted, or err is
 * filled.
 */
static bool set_environment(struct tr_html *html, struct tr_record *record, const char *key,
			    struct tr_text literal, struct tr_error *err)
{
	struct tr_buffer *to = &html->json;
	uint64_t notes[2] = { 0 };
	const char *base = "none";

	if (strcmp(key, "envdiff") == 0)
		base = "parent";
	else if (strcmp(key, "envtop") == 0)
		base = "top";
	/* the bases have different lengths */
	uint64_t hash = tr_text_hash(strlen(base), literal);
	const struct tr_cached_text *known = tr_text_cache_find(&html->maps, hash, literal.len);
	if (known && tr_text_equal(known->text, literal)) {
		html->environment = (uint32_t)known->notes[0];
		return true;
	}
	const struct tr_value *map = tr_literal_parse(literal, record->arena, NULL);
	if (!map || html->environment_count == UINT32_MAX)
		return false;
	tr_buffer_reset(to);
	tr_buffer_put_literal(to, "[\"");
	tr_buffer_put_text(to, tr_text_from(base));
	tr_buffer_put_literal(to, "\",");
	if (!tr_json_view_value(map, record->arena, to))
		return false;
	tr_buffer_put_literal(to, "]\n");
	if (to->failed || !tr_spool_write(html->environments, to->data, to->len, err))
		return false;
	notes[0] = html->environment = ++html->environment_count;
	tr_text_cache_put(&html->maps, hash, literal.len, literal, notes);
	return true;
}

/* Sets the environment as the record has it, when the one of the parent is unknown. */
static bool set_own(struct tr_html *html, struct tr_record *record, struct tr_error *cause)
{
	static const char *const keys[] = { "envdiff", "envtop", "env" };
	struct tr_buffer text = TR_BUFFER_INIT;
	struct tr_error err;
	bool fine = true;

	tr_error_clear(&err);
	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
		const struct tr_value *value = tr_ask_any(record, keys[i], &err);
		if (err.cause == TR_CAUSE_MEMORY)
			return false;
		if (!value)
			continue;
		if (value->type != TR_MAP)
			break;
		tr_literal_write(value, &text);
		fine = !text.failed &&
		       set_environment(html, record, keys[i], tr_buffer_text(&text), cause);
		break;
	}
	tr_buffer_free(&text);
	return fine;
}

/*
 * Returns the pair of an environment and its parent's, and sets html->environment if that was
 * written already.
 */
static struct pair *pair_of(struct tr_html *html, const struct tr_exec_env *env)
{
	enum { PAIRS = sizeof html->pairs / sizeof *html->pairs };
	uint64_t own = tr_environment_id(env->own), parent = tr_environment_id(env->parent);
	struct pair *pair = &html->pairs[(own ^ parent * 7) % PAIRS];

	if (pair->own != own || pair->parent != parent)
		*pair = (struct pair){ own, parent, 0 };
	html->environment = pair->environment;
	return pair;
}

/*
 * Sets html->environment for an exec record: where possible, to the difference to its parent's.
 * False: memory is exhausted, or cause is filled.
 */
static bool follow_environment(struct tr_html *html, struct tr_record *record,
			       struct tr_error *cause)
{
	struct tr_buffer *map = &html->text;
	struct tr_exec_env *env;
	const char *key;
	struct tr_error err;

	html->environment = 0;
	tr_buffer_reset(map);
	enum tr_status status = tr_env_tracker_follow(html->tracker, record, &env, &err);
	if (status == TR_FATAL)
		return false;
	bool fine = true, written = false;
	/* while the parent is pending, the record's own environment is shown */
	bool known = status == TR_OK && env && !env->pending;
	struct pair *pair = known && env->parent ? pair_of(html, env) : NULL;
	if (pair && html->environment) {
		tr_env_tracker_release(html->tracker, env);
		return true;
	}
	if (known) {
		status = tr_exec_env_convert(html->tracker, env, TR_ENV_FORM_PARENT, &key, map);
		written = status == TR_OK && map->len;
		fine = status != TR_FATAL && !map->failed;
		if (fine && written)
			fine = set_environment(html, record, key, tr_buffer_text(map), cause);
		if (pair && fine && written)
			pair->environment = html->environment;
	}
	if (fine && env && !written)
		fine = set_own(html, record, cause);
	tr_env_tracker_release(html->tracker, env);
	return fine;
}

/* Appends the line of a run: [SEQ,"COMMAND",CWD or null], where add_phases adds [PHASE,...]. */
static bool put_line(struct tr_record *record, struct tr_buffer *text)
{
	const struct tr_field *field = tr_record_field(record, "cwd");
	struct tr_text cwd = { NULL, 0 };
	struct tr_error err;

	tr_error_clear(&err);
	bool same = field && tr_json_view_same(field->text);
	if (!same)
		cwd = tr_ask_string(record, "cwd", &err);
	tr_buffer_put_byte(text, '[');
	if (record->seq.type == TR_CELL_ABSENT)
		tr_buffer_put_literal(text, "null");
	else
		tr_brief_cell(&record->seq, record->arena, text);
	tr_buffer_put_literal(text, ",\"");
	bool fine =
		err.cause != TR_CAUSE_MEMORY && tr_command_show_json(record, COMMAND_SHOWN, text);
	tr_buffer_put_literal(text, "\",");
	if (same)
		tr_buffer_put_text(text, field->text);
	else if (cwd.data)
		tr_json_view_name(cwd, text);
	else
		tr_buffer_put_literal(text, "null");
	tr_buffer_put_literal(text, "]\n");
	return fine && !text->failed;
}

/* The facts about a run that its record states. The forest keeps them as the run's text. */
struct described {
	uint64_t line; /* these are members of its span */
	uint32_t line_len, name, makes, environment;
	uint64_t process; /* for phases; 0: unknown */
};

static bool describe(void *context, struct tr_record *record, struct tr_buffer *text)
{
	struct tr_html *html = context;
	const struct tr_cell program = tr_brief_program(&record->name);
	struct described run = { .environment = html->environment };
	struct tr_buffer *line = &html->json;
	struct tr_error err;
	struct tr_text makes;

	struct tr_text name = tr_ask_cell(&program, record->arena, &err);
	if (!name.data || !word_number(&html->names, name, &run.name) ||
	    (!html->makes.map.count && !word_number(&html->makes, TR_TEXT(""), &run.makes)) ||
	    !tr_makes_find(html->maker, record, &makes) ||
	    (makes.data && !word_number(&html->makes, makes, &run.makes)))
		return false;
	if (html->config.phases)
		tr_cell_number(&record->task, &run.process);
	tr_buffer_reset(line);
	if (!put_line(record, line) ||
	    !add_line(html, tr_buffer_text(line), &run.line, &run.line_len, &html->failure))
		return false;
	tr_buffer_put(text, (const char *)&run, sizeof run);
	return true;
}

/* Takes what describe has stored; a fork without a program has nothing. */
static bool take_described(struct tr_html *html, const struct tr_forest_node *node,
			   struct tr_buffer *text, struct span *span, uint64_t *process,
			   struct tr_error *err)
{
	struct described run = { .process = 0 };

	if (!tr_forest_text(&html->forest, node, text, err))
		return false;
	if (!text->len && !word_number(&html->names, TR_TEXT("(fork)"), &run.name))
		return false;
	if (text->len)
		memcpy(&run, text->data, sizeof run);
	span->line = run.line;
	span->line_len = run.line_len;
	span->name = run.name;
	span->makes = run.makes;
	span->environment = run.environment;
	*process = run.process;
	return true;
}

static bool ending_of(struct tr_html *html, const struct tr_forest_node *node, uint32_t *ending)
{
	struct tr_buffer *text = &html->text;

	tr_buffer_reset(text);
	if (!tr_forest_end(&html->forest, node, text))
		tr_buffer_put_byte(text, '-');
	return !text->failed && word_number(&html->endings, tr_buffer_text(text), ending);
}

static bool add_lanes(struct tr_html *html, uint32_t count, uint32_t *first)
{
	struct tr_buffer *label = &html->text;
	uint32_t lane;

	*first = html->lane_count;
	for (uint32_t i = 0; i < count; i++) {
		tr_buffer_reset(label);
		tr_buffer_put_literal(label, "lane ");
		tr_buffer_put_decimal(label, i + 1);
		if (label->failed || !add_lane(html, tr_buffer_text(label), &lane))
			return false;
	}
	return true;
}

/*
 * Adds to a time, up to TR_INSTANT_MAX: the difference of two times on the page has to fit, too.
 */
static int64_t shifted(int64_t time, int64_t shift)
{
	bool over = __builtin_add_overflow(time, shift, &time);

	return over || time > TR_INSTANT_MAX ? TR_INSTANT_MAX : time;
}

/*
 * Sets the times of a span on the page. If only one of two successive segments has times, the
 * second one begins where the first one ended.
 */
static void set_times(const struct tr_html *html, const struct tr_lanes *lanes,
		      const struct tr_span *from, struct span *span)
{
	int64_t scale = lanes->timed ? 1 : TR_MICROSECOND, origin = 0, shift = 0;

	if (html->timeline.timed != lanes->timed) {
		origin = lanes->timed ? html->forest.earliest : 0;
		shift = html->latest;
	}
	span->begin = shifted((from->begin - origin) * scale, shift);
	span->end = shifted((from->end - origin) * scale, shift);
}

/*
 * Replaces the line of a compiler by one with the phases of its process. from: when it ran, in the
 * trace's own time.
 */
static bool add_phases(struct tr_html *html, uint64_t process, const struct tr_span *from,
		       struct span *span, struct tr_error *err)
{
	struct tr_buffer *list = &html->text, *line = &html->json;

	tr_buffer_reset(list);
	if (!tr_phases_longest(html->config.phases, process, from->begin, from->end, list, err))
		return false;
	if (!list->len)
		return true;
	html->has_phases = true;
	tr_buffer_reset(line);
	if (!tr_spool_append(html->lines, span->line, span->line_len, line, err))
		return false;
	line->len -= 2; /* ], LF */
	tr_buffer_put_byte(line, ',');
	tr_buffer_put_text(line, tr_buffer_text(list));
	tr_buffer_put_literal(line, "]\n");
	if (line->failed) {
		tr_error_memory(err);
		return false;
	}
	return add_line(html, tr_buffer_text(line), &span->line, &span->line_len, err);
}

/* Adds the span of a run. place: for each node the index of its span. False: err is filled. */
static bool add_run(struct tr_html *html, const struct tr_lanes *lanes, uint32_t at,
		    uint32_t first_lane, uint32_t *place, struct tr_buffer *text,
		    struct tr_error *err)
{
	const struct tr_forest_node *node = &html->forest.nodes[at];
	const struct tr_span *from = &lanes->spans[at];
	struct span span = { .lane = first_lane + from->lane,
			     .level = from->level,
			     .parent = node->parent == TR_FOREST_NONE ? TR_FOREST_NONE
								      : place[node->parent] };
	uint64_t process;

	set_times(html, lanes, from, &span);
	place[at] = (uint32_t)tr_html_spans(html);
	if (!take_described(html, node, text, &span, &process, err))
		return false;
	if (lanes->timed && process && !add_phases(html, process, from, &span, err))
		return false;
	return ending_of(html, node, &span.ending) && add_span(html, &span, err);
}

/* Appends the number of files and a list of the first of them: 3,[0,7,8]. */
static bool put_files(struct tr_html *html, const struct tr_file_use *uses, size_t count,
		      bool written, struct tr_buffer *to)
{
	size_t number = 0, shown = 0;
	bool fine = true;

	for (size_t i = 0; i < count; i++)
		number += written ? uses[i].writes : uses[i].reads;
	tr_buffer_put_byte(to, ',');
	tr_buffer_put_decimal(to, number);
	tr_buffer_put_literal(to, ",[");
	for (size_t i = 0; fine && i < count && shown < FILES_SHOWN; i++) {
		struct tr_deps_path *path = uses[i].path;
		uint32_t word = path->set - 1;
		if (!(written ? uses[i].writes : uses[i].reads) || html->shown_uses >= USES_SHOWN)
			continue;
		if (!path->set) { /* it has no number yet */
			tr_buffer_reset(&html->text);
			tr_deps_path_write(path, &html->text);
			fine = !html->text.failed &&
			       word_number(&html->files, tr_buffer_text(&html->text), &word);
			path->set = word + 1;
		}
		if (shown++)
			tr_buffer_put_byte(to, ',');
		tr_buffer_put_decimal(to, word);
		html->shown_uses++;
	}
	tr_buffer_put_byte(to, ']');
	return fine && !to->failed;
}

/* The uses of files by the runs of a segment. All zero: the segment has no file calls. */
struct node_uses {
	struct tr_file_use *list;
	struct {
		size_t first, count;	/* of its uses in the list */
		uint64_t read, written; /* bytes */
	} * nodes;
};

static void free_node_uses(struct node_uses *uses)
{
	free(uses->list);
	free(uses->nodes);
}

static bool make_node_uses(struct tr_html *html, struct node_uses *uses)
{
	struct tr_deps_graph *graph = &html->uses.graph;
	size_t count;

	uses->nodes = calloc(html->forest.count + 1, sizeof *uses->nodes);
	if (!uses->nodes || !tr_file_uses_list(&html->uses, &uses->list, &count) ||
	    !tr_critical_set_nodes(&html->forest, graph))
		return false;
	for (size_t i = 0; i < count; i++) {
		uint32_t node =
			uses->list[i].program ? uses->list[i].program->node : TR_FOREST_NONE;
		if (node == TR_FOREST_NONE)
			continue;
		if (!uses->nodes[node].count++)
			uses->nodes[node].first = i;
	}
	for (const struct tr_deps_command *c = graph->first_command; c; c = c->next) {
		const struct tr_deps_command *program = tr_deps_program(c);
		if (!program || program->node == TR_FOREST_NONE)
			continue;
		uses->nodes[program->node].read += c->bytes_read;
		uses->nodes[program->node].written += c->bytes_written;
	}
	return true;
}

/* Adds the line with the files of a span: [BYTES or null,BYTES or null,READ,[…],WRITTEN,[…]]. */
static bool add_uses(struct tr_html *html, const struct node_uses *uses, uint32_t node,
		     struct tr_error *err)
{
	const struct tr_deps_graph *graph = &html->uses.graph;
	struct tr_buffer *to = &html->use_line;
	size_t count = uses->nodes[node].count;
	const struct tr_file_use *list = uses->list + uses->nodes[node].first;
	uint64_t read = uses->nodes[node].read, written = uses->nodes[node].written;

	if (!html->use_lines)
		html->use_lines = tr_spool_new(html->config.max_spool);
	if (!html->use_lines)
		return false;
	tr_buffer_reset(to);
	for (; html->use_line_count + 1 < tr_html_spans(html); html->use_line_count++)
		tr_buffer_put_byte(to, '\n'); /* spans of segments without file calls */
	html->use_line_count++;
	if (count || read || written) {
		tr_buffer_put_byte(to, '[');
		if (graph->has_reads)
			tr_buffer_put_decimal(to, read);
		else
			tr_buffer_put_literal(to, "null");
		tr_buffer_put_byte(to, ',');
		if (graph->has_writes)
			tr_buffer_put_decimal(to, written);
		else
			tr_buffer_put_literal(to, "null");
		if (!put_files(html, list, count, false, to) ||
		    !put_files(html, list, count, true, to))
			return false;
		tr_buffer_put_byte(to, ']');
	}
	tr_buffer_put_byte(to, '\n');
	return !to->failed && tr_spool_write(html->use_lines, to->data, to->len, err);
}

/* Appends the steps of the critical path: [SPAN or -1,BEGIN,DURATION,CAUSE,FILE or -1]. */
static bool add_path(struct tr_html *html, const struct tr_lanes *lanes, const uint32_t *place)
{
	struct tr_deps_graph *graph = html->uses.following ? &html->uses.graph : NULL;
	struct tr_buffer *to = &html->path;
	struct tr_critical critical;
	bool fine = true;

	if (!tr_critical_find(&critical, &html->forest, graph))
		return false;
	for (size_t i = 0; fine && i < critical.count; i++) {
		const struct tr_critical_step *step = &critical.steps[i];
		struct tr_span from = { .begin = step->began, .end = step->ended };
		struct span span;
		uint32_t word = 0,
			 index = step->node == TR_FOREST_NONE ? TR_FOREST_NONE : place[step->node];
		set_times(html, lanes, &from, &span);
		if (to->len)
			tr_buffer_put_byte(to, ',');
		tr_buffer_put_byte(to, '[');
		if (index < tr_html_spans(html))
			tr_buffer_put_decimal(to, index);
		else
			tr_buffer_put_literal(to, "-1");
		tr_buffer_put_byte(to, ',');
		tr_instant_write_micro(span.begin - html->timeline.base, to);
		tr_buffer_put_byte(to, ',');
		tr_instant_write_micro(span.end - span.begin, to);
		tr_buffer_put_literal(to, ",\"");
		tr_buffer_put_text(to, tr_text_from(tr_critical_word(step->cause)));
		tr_buffer_put_byte(to, '"');
		if (step->file) {
			tr_buffer_reset(&html->text);
			tr_deps_path_write(step->file, &html->text);
			fine = !html->text.failed &&
			       word_number(&html->files, tr_buffer_text(&html->text), &word);
			tr_buffer_put_byte(to, ',');
			tr_buffer_put_decimal(to, fine ? word : 0);
		}
		tr_buffer_put_byte(to, ']');
	}
	tr_critical_free(&critical);
	return fine && !to->failed;
}

static bool add_runs(struct tr_html *html, struct tr_error *err)
{
	size_t count = html->forest.count;
	struct tr_lanes lanes = { NULL, NULL, 0, false };
	struct tr_buffer text = TR_BUFFER_INIT;
	struct node_uses uses = { .list = NULL };
	uint32_t first_lane = 0, *place = malloc((count + 1) * sizeof *place);
	bool fine = place && tr_forest_link(&html->forest) &&
		    tr_lanes_make(&lanes, &html->forest) &&
		    add_lanes(html, lanes.count, &first_lane) &&
		    (!html->uses.following || make_node_uses(html, &uses));

	/* a parent that begins after its child has no span yet */
	for (size_t i = 0; fine && i < count; i++)
		place[i] = TR_FOREST_NONE;
	for (size_t i = 0; fine && i < count; i++) {
		size_t spans = tr_html_spans(html);
		fine = add_run(html, &lanes, lanes.order[i], first_lane, place, &text, err);
		if (fine && html->uses.following && tr_html_spans(html) > spans)
			fine = add_uses(html, &uses, lanes.order[i], err);
	}
	if (fine && (html->uses.following || html->config.critical))
		fine = add_path(html, &lanes, place);
	html->has_files |= html->uses.following;
	free_node_uses(&uses);
	tr_lanes_free(&lanes);
	tr_buffer_free(&text);
	free(place);
	return fine;
}

/* A thread, whose calls are in one lane; a call made during another one is one level deeper. */
struct thread {
	uint32_t lane;
	uint32_t depth; /* number of calls that have not returned */
	size_t len;
	char id[];
};

/* A call; its text is its line. */
struct call {
	struct tr_timeline_call base;
	struct thread *thread;
	uint32_t name, level;
};

static void free_threads(struct tr_map *threads)
{
	size_t position = 0;
	void *thread;

	while ((thread = tr_map_next(threads, &position)))
		free(thread);
	tr_map_free(threads);
	*threads = (struct tr_map)TR_MAP_INIT;
}

/* Returns the thread of a record; a new one gets a lane. NULL: memory is exhausted. */
static struct thread *thread_of(struct tr_html *html, const struct tr_record *record)
{
	struct tr_buffer label = TR_BUFFER_INIT;

	tr_buffer_put_literal(&label, "thread ");
	tr_cell_write(&record->task, &label);
	struct tr_text id = tr_buffer_text(&label);
	struct thread *thread = label.failed ? NULL : tr_map_get(&html->threads, id);
	if (!thread && !label.failed && (thread = malloc(sizeof *thread + id.len))) {
		*thread = (struct thread){ .len = id.len };
		memcpy(thread->id, id.data, id.len);
		if (!add_lane(html, id, &thread->lane) ||
		    !tr_map_put(&html->threads, (struct tr_text){ thread->id, id.len }, thread)) {
			free(thread);
			thread = NULL;
		}
	}
	tr_buffer_free(&label);
	return thread;
}

/* Appends the fields from index `from` up to `to` as `key = value, …`. */
static bool put_fields(struct tr_record *record, size_t from, size_t to, struct tr_buffer *text)
{
	size_t begin = text->len;

	for (size_t i = from; i < to; i++) {
		struct tr_field *field = &record->fields[i];
		/* a leading dot marks fields that only writers use */
		if (field->bad || !field->key.data || tr_text_starts(field->key, TR_TEXT(".")))
			continue;
		if (text->len > begin)
			tr_buffer_put_literal(text, ", ");
		tr_buffer_put_text(text, field->key);
		tr_buffer_put_literal(text, " = ");
		if (!tr_brief_value(record, field, VALUE_SHOWN, text))
			return false;
		if (tr_brief_cut(text, begin, FIELDS_SHOWN))
			break;
	}
	return !text->failed;
}

/* Begins the line of a call with its arguments: a JSON string that stays open. */
static bool begin_line(struct tr_record *record, struct tr_buffer *line)
{
	struct tr_buffer text = TR_BUFFER_INIT;
	size_t arrow = record->arrow == TR_NO_ARROW ? record->count : record->arrow;

	tr_buffer_put_byte(line, '[');
	tr_brief_cell(&record->seq, record->arena, line);
	tr_buffer_put_literal(line, ",\"");
	tr_cell_write(&record->name, &text);
	tr_buffer_put_byte(&text, '(');
	bool fine = put_fields(record, 0, arrow, &text);
	tr_buffer_put_byte(&text, ')');
	tr_string_escape(tr_buffer_text(&text), line);
	line->failed |= text.failed;
	tr_buffer_free(&text);
	return fine && !line->failed;
}

/* Ends the line of a call with its results. */
static bool end_line(struct tr_record *record, struct tr_buffer *line)
{
	struct tr_buffer text = TR_BUFFER_INIT;
	size_t arrow = record->arrow == TR_NO_ARROW ? record->count : record->arrow;

	if (arrow < record->count)
		tr_buffer_put_literal(&text, " \xe2\x86\x92 ");
	bool fine = put_fields(record, arrow, record->count, &text);
	tr_string_escape(tr_buffer_text(&text), line);
	tr_buffer_put_literal(line, "\"]\n");
	line->failed |= text.failed;
	tr_buffer_free(&text);
	return fine && !line->failed;
}

static void put_micro(int64_t time, struct tr_buffer *to)
{
	tr_buffer_put_decimal(to, (uint64_t)(time > 0 ? time : 0) / TR_MICROSECOND);
}

static void end_frame(void *view, int64_t ended)
{
	struct tr_html *html = view;
	const struct tr_timeline *timeline = &html->timeline;
	struct tr_buffer *to = &html->frames;
	uint64_t facts[] = { timeline->calls, timeline->draws, timeline->frame };

	tr_buffer_put_text(to, to->len ? TR_TEXT(",[") : TR_TEXT("["));
	put_micro(timeline->frame_began - timeline->base, to);
	tr_buffer_put_byte(to, ',');
	put_micro(ended - timeline->base, to);
	for (size_t i = 0; i < sizeof facts / sizeof *facts; i++) {
		tr_buffer_put_byte(to, ',');
		tr_buffer_put_decimal(to, facts[i]);
	}
	tr_buffer_put_byte(to, ']');
}

static bool begin_call(void *view, struct tr_timeline_call *base, struct tr_record *record)
{
	struct tr_html *html = view;
	struct call *call = tr_container(base, struct call, base);
	struct tr_text name = record->name.text;

	if (record->name.type != TR_CELL_TEXT)
		name = TR_TEXT("-");
	call->thread = thread_of(html, record);
	if (!call->thread || tr_record_split(record, NULL) == TR_FATAL)
		return false;
	call->level = call->thread->depth;
	if (!base->whole)
		call->thread->depth++;
	return word_number(&html->names, name, &call->name) && begin_line(record, &base->text);
}

static bool end_call(void *view, struct tr_timeline_call *base, struct tr_record *record,
		     int64_t ended, struct tr_error *err)
{
	struct tr_html *html = view;
	struct call *call = tr_container(base, struct call, base);
	struct span span = { .begin = base->began,
			     .end = ended,
			     .name = call->name,
			     .lane = call->thread->lane,
			     .level = call->level,
			     .parent = TR_FOREST_NONE };

	if (!base->whole)
		call->thread->depth--;
	if (!record)
		tr_buffer_put_literal(&base->text, " (never returned)\"]\n");
	else if (tr_record_split(record, NULL) == TR_FATAL || !end_line(record, &base->text))
		return false;
	html->has_calls = true;
	return !base->text.failed && word_number(&html->endings, TR_TEXT("-"), &span.ending) &&
	       add_line(html, tr_buffer_text(&base->text), &span.line, &span.line_len, err) &&
	       add_span(html, &span, err);
}

static const struct tr_timeline_steps timeline_steps = {
	.call_size = sizeof(struct call),
	.begin = begin_call,
	.end = end_call,
	.end_frame = end_frame,
};

/* Writes JSON into a script element. Only strings contain <, which could end the element. */
static void put_safely(struct tr_output *out, struct tr_text text)
{
	const char *p = text.data, *end = p + text.len;

	while (p < end) {
		const char *bracket = memchr(p, '<', (size_t)(end - p));
		const char *stop = bracket ? bracket : end;
		tr_output_put(out, p, (size_t)(stop - p));
		if (bracket)
			tr_output_put_literal(out, "\\u003c");
		p = bracket ? bracket + 1 : end;
	}
}

/* Reads a piece of a column into html->json. False: err is filled. */
static bool read_piece(struct tr_html *html, const struct block *block, enum column column,
		       struct tr_error *err)
{
	uint64_t at = block->at;

	for (size_t i = 0; i < column; i++)
		at += block->len[i];
	tr_buffer_reset(&html->json);
	return tr_spool_append(html->lines, at, block->len[column], &html->json, err);
}

static bool put_columns(struct tr_html *html, struct tr_error *err)
{
	static const char *const names[TEXTS] = { "begin", "dur",   "name",   "end", "make",
						  "lane",  "level", "parent", "env" };

	if (html->spans % BLOCK && !end_block(html, err))
		return false;
	for (enum column column = BEGIN; column < TEXTS; column++) {
		if (column == ENVIRONMENT && !html->environment_count)
			continue;
		tr_output_put_literal(html->out, ",\n\"");
		tr_output_put_text(html->out, tr_text_from(names[column]));
		tr_output_put_literal(html->out, "\":[");
		for (size_t i = 0; i < html->block_count; i++) {
			if (!read_piece(html, &html->blocks[i], column, err))
				return false;
			if (i + 1 == html->block_count)
				html->json.len--; /* a comma */
			tr_output_put_text(html->out, tr_buffer_text(&html->json));
		}
		tr_output_put_byte(html->out, ']');
	}
	return true;
}

static void put_list(struct tr_html *html, const char *name, const struct tr_buffer *json)
{
	tr_output_put_literal(html->out, ",\n\"");
	tr_output_put_text(html->out, tr_text_from(name));
	tr_output_put_literal(html->out, "\":[");
	put_safely(html->out, tr_buffer_text(json));
	tr_output_put_byte(html->out, ']');
}

static bool put_data(struct tr_html *html, struct tr_error *err)
{
	struct tr_buffer head = TR_BUFFER_INIT;

	tr_buffer_put_literal(&head, "{\"title\":");
	tr_json_view_name(html->config.title, &head);
	tr_buffer_put_text(&head, html->timeline.timed ? TR_TEXT(",\"timed\":true,\"origin\":\"")
						       : TR_TEXT(",\"timed\":false,\"origin\":\""));
	if (html->timeline.timed)
		tr_instant_write(html->timeline.base, 9, &head);
	tr_buffer_put_literal(&head, "\",\"calls\":");
	tr_buffer_put_text(&head, html->has_calls ? TR_TEXT("true") : TR_TEXT("false"));
	tr_buffer_put_literal(&head, ",\"left\":");
	tr_buffer_put_decimal(&head, html->left);
	tr_buffer_put_literal(&head, ",\"top\":");
	tr_buffer_put_text(&head, html->top.len ? tr_buffer_text(&html->top) : TR_TEXT("null"));
	put_safely(html->out, tr_buffer_text(&head));
	bool fine = !head.failed;
	tr_buffer_free(&head);
	put_list(html, "names", &html->names.json);
	put_list(html, "ends", &html->endings.json);
	put_list(html, "makes", &html->makes.json);
	put_list(html, "lanes", &html->lanes.json);
	put_list(html, "frames", &html->frames);
	if (html->files.json.len)
		put_list(html, "files", &html->files.json);
	if (html->path.len)
		put_list(html, "path", &html->path);
	if (tr_html_has_cores(html)) {
		struct tr_buffer cores = TR_BUFFER_INIT;
		tr_buffer_put_literal(&cores, ",\n\"cores\":");
		tr_buffer_put_decimal(&cores, html->config.cores);
		tr_output_put_text(html->out, tr_buffer_text(&cores));
		fine = fine && !cores.failed;
		tr_buffer_free(&cores);
	}
	fine = fine && put_columns(html, err);
	tr_output_put_literal(html->out, "}");
	return fine && !html->frames.failed && !html->top.failed;
}

/*
 * Writes whole lines, or pieces of them; those that are not wanted (see put_lines) are left empty.
 */
static void put_wanted(struct tr_output *out, struct tr_text lines, const bool *wanted,
		       size_t *number)
{
	const char *end = lines.data + lines.len;

	for (const char *p = lines.data; p < end;) {
		const char *lf = memchr(p, '\n', (size_t)(end - p)), *stop = lf ? lf + 1 : end;
		if (wanted[*number])
			put_safely(out, tr_text_span(p, stop));
		else if (lf)
			tr_output_put_byte(out, '\n');
		*number += lf != NULL;
		p = stop;
	}
}

/* Writes the lines of a spool, which may be NULL. wanted: by number from 1, or NULL for all. */
static bool put_lines(struct tr_html *html, struct tr_spool *lines, const bool *wanted,
		      struct tr_error *err)
{
	uint64_t size = lines ? tr_spool_size(lines) : 0;
	size_t number = 1;
	char part[16 << 10];
	const char *data;

	tr_output_put_byte(html->out, '\n');
	for (uint64_t offset = 0; offset < size;) {
		size_t len = sizeof part;
		if (!tr_spool_read(lines, offset, part, &data, &len, err))
			return false;
		if (len == 0)
			break;
		if (wanted)
			put_wanted(html->out, (struct tr_text){ data, len }, wanted, &number);
		else
			put_safely(html->out, (struct tr_text){ data, len });
		offset += len;
	}
	return true;
}

/* Marks the environments of the spans, by their numbers. */
static bool mark_wanted(struct tr_html *html, bool *wanted, struct tr_error *err)
{
	for (size_t i = 0; i < html->block_count; i++) {
		if (!read_piece(html, &html->blocks[i], LINE, err))
			return false;
		const struct line_place *lines = (const void *)html->json.data;
		for (size_t k = 0; k < html->json.len / sizeof *lines; k++)
			wanted[lines[k].environment] = true;
	}
	return true;
}

/* Writes the environments of the spans; runs beyond the limit may have others. */
static bool put_environments(struct tr_html *html, struct tr_error *err)
{
	bool *wanted = html->left ? calloc((size_t)html->environment_count + 1, 1) : NULL;
	bool fine = !html->left || (wanted && mark_wanted(html, wanted, err));

	fine = fine && put_lines(html, html->environments, wanted, err);
	free(wanted);
	return fine;
}

/*
 * Writes the lines of a block, which are in the spool in nearly the same order: those that follow
 * each other are written at once.
 */
static bool put_block_lines(struct tr_html *html, struct tr_spool_window *window,
			    struct tr_error *err)
{
	enum { AT_ONCE = 64 << 10 };
	const struct line_place *lines = (const void *)html->json.data;
	size_t count = html->json.len / sizeof *lines;

	for (size_t i = 0; i < count;) {
		uint64_t begin = lines[i].at, end = begin;
		size_t first = i;
		if (!lines[i].len) {
			tr_output_put_byte(html->out, '\n');
			i++;
			continue;
		}
		while (i < count && lines[i].at == end && lines[i].len &&
		       (i == first || end - begin + lines[i].len <= AT_ONCE))
			end += lines[i++].len;
		const char *text =
			tr_spool_look(html->lines, window, begin, (size_t)(end - begin), err);
		if (!text)
			return false;
		put_safely(html->out, (struct tr_text){ text, (size_t)(end - begin) });
	}
	return true;
}

static bool put_span_lines(struct tr_html *html, struct tr_error *err)
{
	struct tr_spool_window window = { .at = 0 };
	bool fine = true;

	tr_output_put_byte(html->out, '\n');
	for (size_t i = 0; fine && i < html->block_count; i++)
		fine = read_piece(html, &html->blocks[i], LINE, err) &&
		       put_block_lines(html, &window, err);
	tr_buffer_free(&window.bytes);
	return fine;
}

/* Whether the page has the part of that name. */
static bool has_part(const struct tr_html *html, struct tr_text name)
{
	if (tr_text_is(name, "files"))
		return html->has_files;
	if (tr_text_is(name, "phases"))
		return html->has_phases;
	if (tr_text_is(name, "files or path"))
		return html->has_files || tr_html_has_path(html);
	return tr_text_is(name, "path") ? tr_html_has_path(html) : tr_html_has_cores(html);
}

/* Writes a piece of the page without the parts that it does not have, and without their marks. */
static void put_piece(struct tr_html *html, const char *p, const char *end)
{
	static const char if_mark[] = "@if ", end_mark[] = "@end\n";

	for (const char *mark;
	     (mark = memmem(p, (size_t)(end - p), if_mark, strlen(if_mark))) != NULL;) {
		const char *name = mark + strlen(if_mark), *part = strchr(name, '\n') + 1;
		const char *part_end = strstr(part, end_mark);
		tr_output_put(html->out, p, (size_t)(mark - p));
		if (has_part(html, tr_text_span(name, part - 1)))
			tr_output_put(html->out, part, (size_t)(part_end - part));
		p = part_end + strlen(end_mark);
	}
	tr_output_put(html->out, p, (size_t)(end - p));
}

/* Writes the page up to a mark; returns the rest after the mark. */
static const char *put_page(struct tr_html *html, const char *from, const char *mark)
{
	const char *found = strstr(from, mark);

	put_piece(html, from, found);
	return found + strlen(mark);
}

static bool write_page(struct tr_html *html, struct tr_error *err)
{
	const char *rest = put_page(html, page, "<!--DATA-->");

	if (!put_data(html, err))
		return false;
	rest = put_page(html, rest, "<!--LINES-->");
	if (!put_span_lines(html, err))
		return false;
	rest = put_page(html, rest, "<!--ENVIRONMENTS-->");
	if (!put_environments(html, err))
		return false;
	if (html->has_files) {
		tr_output_put_literal(html->out, "</script>\n"
						 "<script type=\"application/json\" id=\"uses\">");
		if (!put_lines(html, html->use_lines, NULL, err))
			return false;
	}
	put_piece(html, rest, rest + strlen(rest));
	return true;
}

/* Keeps the base environment of the only segment, so that the page can show earlier values. */
static bool keep_top(struct tr_html *html, struct tr_record *record)
{
	struct tr_error err;

	tr_error_clear(&err);
	const struct tr_value *vars = tr_ask_any(record, "vars", &err);
	if (err.cause == TR_CAUSE_MEMORY)
		return false;
	if (html->segments > 1 || html->top.len)
		tr_buffer_reset(&html->top);
	else if (vars)
		return tr_json_view_value(vars, record->arena, &html->top);
	return true;
}

static bool end_segment(struct tr_html *html, const struct tr_record *record, struct tr_error *err)
{
	/* frees the environments first, because the spans need memory */
	if (!tr_env_tracker_begin(html->tracker) || !tr_file_uses_finish(&html->uses) ||
	    (html->forest.count && !add_runs(html, err)))
		return false;
	tr_file_uses_clear(&html->uses);
	tr_forest_clear(&html->forest); /* also resets the times of a segment without processes */
	if (!tr_timeline_end_calls(&html->timeline, err))
		return false;
	free_threads(&html->threads);
	memset(html->pairs, 0, sizeof html->pairs);
	html->segments += record && record->type == TR_HEADER;
	return true;
}

static bool put_record(struct tr_html *html, struct tr_record *record, struct tr_error *err)
{
	html->timeline.records++;
	if (tr_text_is(record->kind, "env") && !keep_top(html, record))
		return false;
	if (!follow_environment(html, record, err))
		return false;
	if (!tr_text_is(record->kind, "exec") && tr_context_kind(record->kind) >= 0)
		return true;
	tr_timeline_see(&html->timeline, record);
	if (!html->timeline.timed)
		html->timeline.base = 0;
	if (html->timeline.now > html->latest)
		html->latest = html->timeline.now;
	if (tr_kind_is_call(record->kind))
		return tr_timeline_put(&html->timeline, record, err);
	return tr_file_uses_put(&html->uses, record);
}

enum tr_status tr_html_put(struct tr_html *html, struct tr_record *record, struct tr_error *err)
{
	bool boundary = !record || record->type == TR_HEADER || record->type == TR_TRAILER;

	tr_error_memory(err); /* the usual reason; other errors replace it */
	if (boundary && !end_segment(html, record, err))
		return TR_FATAL;
	if (record && record->type == TR_RECORD && !put_record(html, record, err))
		return TR_FATAL;
	if (record && !tr_forest_put(&html->forest, record, err)) {
		if (html->failure.cause != TR_CAUSE_NONE)
			*err = html->failure;
		return TR_FATAL;
	}
	if (record)
		return TR_OK;
	return write_page(html, err) ? TR_OK : TR_FATAL;
}

struct tr_html *tr_html_new(const struct tr_html_config *config, struct tr_output *out)
{
	const struct tr_env_tracker_config tracker = { .wants_parent = true,
						       .max_spool = config->max_spool };
	struct tr_html *html = calloc(1, sizeof *html);

	if (!html)
		return NULL;
	html->config = *config;
	html->out = out;
	html->timeline.view = html;
	html->timeline.steps = &timeline_steps;
	html->timeline.kinds.ask = config->call_kinds;
	tr_forest_init(&html->forest, config->max_spool, describe, html);
	tr_file_uses_init(&html->uses, true);
	html->tracker = tr_env_tracker_new(&tracker);
	html->lines = tr_spool_new(config->max_spool);
	html->environments = tr_spool_new(config->max_spool);
	html->maker = tr_makes_new(config->compilers);
	if (html->tracker && html->lines && html->environments && html->maker)
		return html;
	tr_html_free(html);
	return NULL;
}

void tr_html_free(struct tr_html *html)
{
	if (!html)
		return;
	for (size_t i = 0; i < COLUMNS; i++)
		tr_buffer_free(&html->columns[i]);
	free(html->blocks);
	free_words(&html->names);
	free_words(&html->endings);
	free_words(&html->makes);
	free_words(&html->lanes);
	tr_spool_free(html->lines);
	tr_buffer_free(&html->frames);
	tr_buffer_free(&html->top);
	tr_spool_free(html->environments);
	tr_text_cache_free(&html->maps);
	tr_file_uses_free(&html->uses);
	free_words(&html->files);
	tr_spool_free(html->use_lines);
	tr_buffer_free(&html->use_line);
	tr_buffer_free(&html->path);
	tr_buffer_free(&html->text);
	tr_buffer_free(&html->json);
	tr_forest_free(&html->forest);
	tr_env_tracker_free(html->tracker);
	tr_makes_free(html->maker);
	tr_timeline_free(&html->timeline);
	free_threads(&html->threads);
	free(html);
}

bool tr_html_has_cores(const struct tr_html *html)
{
	return html->config.cores && html->timeline.timed && !html->has_calls &&
	       tr_html_spans(html);
}

bool tr_html_has_path(const struct tr_html *html)
{
	return html->path.len > 0;
}

uint64_t tr_html_left(const struct tr_html *html)
{
	return html->left;
}
