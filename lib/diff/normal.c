/* SPDX-License-Identifier: MIT */
#include "diff/normal.h"

#include <stdlib.h>
#include <string.h>

#include "diff/normal_private.h"
#include "process/instant.h"
#include "process/path.h"
#include "record/tabs.h"

#define TEXT(text) \
	{ \
		text, sizeof(text) - 1 \
	}
/* clang-format off */
#define KIND(name, class) { TEXT(name), TR_DIFF_##class, { NULL, 0 }, NULL, NULL }
#define KIND_WITHOUT(name, class, fields) { TEXT(name), TR_DIFF_##class, { NULL, 0 }, fields, NULL }
#define KIND_BY(name, class, keys) { TEXT(name), TR_DIFF_##class, { NULL, 0 }, NULL, keys }
/* clang-format on */

/* Fields that contain numbers of other records, process ids or times are not compared. */
static const struct tr_text of_exec[] = {
	TEXT("parent"), TEXT("ppid"), TEXT("end"), TEXT("rid"), { NULL, 0 }
};
static const struct tr_text of_task[] = { TEXT("child"), { NULL, 0 } };
static const struct tr_text of_exit[] = { TEXT("child"), TEXT("rid"), { NULL, 0 } };
static const struct tr_text of_use[] = { TEXT("exec"), TEXT("from"), { NULL, 0 } };
static const struct tr_text of_module[] = { TEXT("id"), { NULL, 0 } };
static const struct tr_text of_block[] = { TEXT("module"), { NULL, 0 } };
static const struct tr_text of_envset[] = { TEXT("tasks"), { NULL, 0 } };

/* The fields of tr_normal_read_command, and of the key of a program. */
static const struct tr_text of_command[] = { TEXT("argv="), TEXT("cwd="), { NULL, 0 } };

/* The key of a system call is its first field, the path. */
static const struct tr_text by_file[] = { TEXT("path="), TEXT("from="), { NULL, 0 } };
static const struct tr_text by_line[] = { TEXT("line="), { NULL, 0 } };
static const struct tr_text by_branch[] = {
	TEXT("line="), TEXT("block="), TEXT("branch="), { NULL, 0 }
};
static const struct tr_text by_function[] = { TEXT("function="), { NULL, 0 } };

/* The most frequent ones first. */
static const struct tr_diff_kind kinds[] = {
	KIND_BY("sys", PROCESS, by_file),
	KIND("call", THREAD),
	{ TEXT("block"), TR_DIFF_SET, TEXT("module"), of_block, NULL },
	KIND_BY("srcline", SET, by_line),
	KIND_BY("srcbranch", SET, by_branch),
	KIND_BY("srcfunction", SET, by_function),
	KIND("source", SET),
	{ TEXT("exec"), TR_DIFF_EXEC, { NULL, 0 }, of_exec, of_command },
	KIND_WITHOUT("fork", PROCESS, of_task),
	KIND_WITHOUT("exit", EXIT, of_exit),
	KIND("signal", PROCESS),
	KIND("comm", PROCESS),
	KIND("enter", THREAD),
	KIND("leave", THREAD),
	KIND("unit", SET),
	KIND_WITHOUT("use", SET, of_use),
	{ TEXT("module"), TR_DIFF_SET, TEXT("id"), of_module, NULL },
	KIND("meta", SET),
	KIND("env", SET),
	KIND_WITHOUT("envset", SET, of_envset),
	KIND("info", SET),
	KIND("section", SET),
	KIND("load", SET),
	KIND("unload", SET),
	KIND("loadaddr", SET),
};

_Static_assert(sizeof kinds / sizeof *kinds <= TR_NORMAL_KINDS, "n->kinds is too small");

/* Returns the kind of that name; all that are not in the table have one without a name. */
static const struct tr_diff_kind *find_kind(struct tr_text name)
{
	static const struct tr_diff_kind other = KIND("", KIND);

	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		if (tr_text_equal(kinds[i].name, name))
			return &kinds[i];
	}
	return &other;
}

/* Fields that are not compared in records of any kind. */
static const struct tr_text always[] = { TEXT("cpu"),  TEXT("tgid"), TEXT("dur"), TEXT(".sig"),
					 TEXT(".raw"), TEXT(".bt"),  TEXT(".pad") };

/* Returns a bit for the ends of a key, for a quick test whether it can be left out. */
static uint64_t letter_bit(struct tr_text key)
{
	unsigned first = key.len ? (unsigned char)*key.data : 0;
	unsigned last = key.len ? (unsigned char)key.data[key.len - 1] : 0;

	return (uint64_t)1 << ((first + 3 * last + 6 * key.len) & 63);
}

/* Returns the bits of the letters of fields that are left out of records of the current kind. */
static uint64_t find_letters(const struct tr_normal *n)
{
	uint64_t letters = 0;

	for (size_t i = 0; i < sizeof always / sizeof *always; i++)
		letters |= letter_bit(always[i]);
	for (const struct tr_text *key = n->known->left_out; key && key->data; key++)
		letters |= letter_bit(*key);
	for (size_t i = 0; i < n->rules->ignored_count; i++)
		letters |= letter_bit(n->rules->ignored[i].key);
	return letters;
}

/* Looks up the kind of a record. It is not inlined, so that set_kind stays small. */
static __attribute__((noinline)) void look_up_kind(struct tr_normal *n, struct tr_text name)
{
	struct tr_normal_kind other = { .letters = 0 }, *kind = &other;
	/* the last letters of frequent kinds differ */
	unsigned last = name.len ? (unsigned char)name.data[name.len - 1] : 0;
	const struct tr_diff_kind **recent = &n->recent[(last + name.len) % TR_NORMAL_RECENT];

	if (!*recent || !tr_text_equal((*recent)->name, name))
		*recent = find_kind(name);
	n->known = *recent;
	n->in_process = n->known->class == TR_DIFF_PROCESS;
	if (n->known->name.len)
		kind = &n->kinds[n->known - kinds];
	if (!kind->letters)
		*kind = (struct tr_normal_kind){ tr_text_hash(n->rules->seed, name),
						 find_letters(n) };
	n->kind_hash = kind->hash;
	n->letters = kind->letters;
}

/* Sets the kind of a record, which is mostly that of the record before. */
static inline void set_kind(struct tr_normal *n, struct tr_text name)
{
	n->kind = name;
	if (!n->known || !tr_text_equal(n->known->name, name))
		look_up_kind(n, name);
}

/* As is_left_out, for a key whose letters are those of a field that is left out. */
static bool find_left_out(const struct tr_normal *n, struct tr_text key)
{
	for (const struct tr_text *left = n->known->left_out; left && left->data; left++) {
		if (tr_text_equal(key, *left))
			return true;
	}
	for (size_t i = 0; i < sizeof always / sizeof *always; i++) {
		if (tr_text_equal(key, always[i]))
			return true;
	}
	for (size_t i = 0; i < n->rules->ignored_count; i++) {
		if (tr_text_equal(key, n->rules->ignored[i].key)) {
			n->rules->ignored[i].used = true;
			return true;
		}
	}
	return false;
}

static inline bool is_left_out(const struct tr_normal *n, struct tr_text key)
{
	return n->letters & letter_bit(key) && find_left_out(n, key);
}

bool tr_normal_ignores(const struct tr_normal_rules *rules, const char *key)
{
	for (size_t i = 0; i < rules->ignored_count; i++) {
		if (tr_text_is(rules->ignored[i].key, key))
			return true;
	}
	return false;
}

bool tr_normal_leaves_out(const struct tr_normal *n, struct tr_text key)
{
	return is_left_out(n, key);
}

bool tr_normal_takes_blocks(const struct tr_normal_rules *rules)
{
	return !rules->replace && !tr_normal_ignores(rules, "name");
}

/*
 * Returns the column that begins at *p, and moves it to the next one. Inlined as tr_tabs_next is.
 */
static inline __attribute__((always_inline)) struct tr_text next_column(struct tr_tabs *tabs,
									const char **p)
{
	const char *begin = *p, *tab = tr_tabs_next(tabs);

	*p = tab + (tab < tabs->end);
	return tr_text_span(begin, tab);
}

static struct tr_normal_field *new_field(struct tr_normal *n)
{
	if (!tr_array_room(n->fields, n->count, n->cap)) {
		n->failed = true;
		return NULL;
	}
	n->fields[n->count] = (struct tr_normal_field){ .result = false };
	return &n->fields[n->count++];
}

/*
 * Sets the normal text of a field: of its value if nothing was replaced in it. The buffer may still
 * move, so until the end of the record other texts have a length and no data.
 */
static void set_text(struct tr_normal *n, struct tr_normal_field *field, size_t from)
{
	if (n->text.len == from && n->copied == field->value.data) {
		field->text = field->value;
		return;
	}
	tr_normal_flush(n, field->value.data + field->value.len);
	field->text = (struct tr_text){ NULL, n->text.len - from };
}

/*
 * Reads the name, and sets its hash. Returns its normal text, which is the start of the buffer if
 * something was replaced in it.
 */
static struct tr_text read_name(struct tr_normal *n, bool first)
{
	if (n->rules->ignored_count && is_left_out(n, TR_TEXT("name"))) {
		n->name_hash = n->kind_hash;
		return TR_TEXT("");
	}
	struct tr_text text = n->name;
	tr_normal_put_cell(n, text, first);
	if (n->text.len || n->copied != n->name.data) {
		tr_normal_flush(n, n->name.data + n->name.len);
		text = tr_buffer_text(&n->text);
	}
	n->name_hash = tr_text_hash(n->kind_hash, text);
	return text;
}

/*
 * As read_name; but names of functions and programs come again and again, and those in which
 * nothing is replaced are read once.
 */
static inline struct tr_text read_known_name(struct tr_normal *n, bool first)
{
	uint64_t hash = tr_text_hash(n->kind_hash, n->name);
	uint64_t *plain = &n->plain_names[hash % TR_NORMAL_NAMES];

	n->spelled_name = hash;
	if (*plain == hash) {
		n->name_hash = hash;
		return n->name;
	}
	struct tr_text text = read_name(n, first);
	*plain = n->name_hash == hash && !n->name_count ? hash : *plain;
	return text;
}

/* As has_ignored_flags, if the user leaves anything out. */
static bool are_ignored_flags(const struct tr_normal *n, struct tr_text key, struct tr_text value)
{
	return tr_text_is(key, "flagged") && value.len > 1 && *value.data == '[' &&
	       memmem(value.data, value.len, "\"env-", 5) && is_left_out(n, TR_TEXT("env"));
}

/* True for a list of flags that may be about environments, if the user leaves these out. */
static inline bool has_ignored_flags(const struct tr_normal *n, struct tr_text key,
				     struct tr_text value)
{
	return n->rules->ignored_count && are_ignored_flags(n, key, value);
}

/* Steps to the next flag at *p that is not about an environment. False: there are no more. */
static bool next_flag(const char **p, const char *end, struct tr_text *flag)
{
	while (*p < end) {
		const char *comma = memchr(*p, ',', (size_t)(end - *p));
		*flag = tr_text_span(*p, comma ? comma : end);
		*p = comma ? comma + 1 : end;
		if (!tr_text_starts(*flag, TR_TEXT("\"env-")))
			return true;
	}
	return false;
}

/* Appends the flags that are not about environments, as a list; nothing if there are none. */
static void put_other_flags(struct tr_normal *n, struct tr_text list)
{
	const char *p = list.data + 1, *end = list.data + list.len - 1;
	struct tr_text flag;
	char before = '[';

	for (; next_flag(&p, end, &flag); before = ',') {
		tr_buffer_put_byte(&n->text, before);
		tr_buffer_put_text(&n->text, flag);
	}
	if (before == ',')
		tr_buffer_put_byte(&n->text, ']');
	n->copied = list.data + list.len;
}

/* Adds the field of a column. NULL: it is left out, or memory is exhausted. */
static struct tr_normal_field *add_field(struct tr_normal *n, struct tr_text column, bool result)
{
	const char *end = column.data + column.len;
	const char *equals = memchr(column.data, '=', column.len);
	struct tr_text key = tr_text_span(column.data, equals ? equals : end);
	struct tr_text value = equals ? tr_text_span(equals + 1, end) : column;
	bool left_out = is_left_out(n, key), some = has_ignored_flags(n, key, value);

	if (some) {
		const char *p = value.data + 1;
		struct tr_text flag;
		left_out |= !next_flag(&p, end - 1, &flag);
	}
	struct tr_normal_field *field = left_out ? NULL : new_field(n);

	if (field) {
		field->key = key;
		field->value = value;
		field->result = result;
		field->has_ignored_flags = some;
	} else if (n->known->module.data && tr_text_equal(key, n->known->module)) {
		n->module = value;
	} else if (tr_text_is(key, "dur")) {
		n->spent = value;
	} else if (tr_text_is(key, "parent")) {
		n->parent = value;
	} else if (tr_text_is(key, "child")) {
		n->child = value;
	}
	return field;
}

/* Reads a value again, no further than to its end. from: the length of the buffer before. */
static void put_value_again(struct tr_normal *n, const struct tr_normal_field *field, size_t from,
			    bool first)
{
	const char *value = field->value.data;

	n->text.len = from;
	n->name_count = field->names;
	n->opened = n->opened > n->name_count ? 0 : n->opened;
	n->copied = value;
	tr_normal_put_value(n, field, value, value + field->value.len, first);
}

/* Sets the normal text of a field, and adds its names. end: of the line. */
static inline void put_field(struct tr_normal *n, struct tr_normal_field *field, const char *end,
			     bool first)
{
	size_t from = n->text.len;

	field->names = n->name_count;
	n->copied = field->value.data;
	if (field->has_ignored_flags)
		put_other_flags(n, field->value);
	/* values are read faster if bytes follow them, but a string may have no closing quote */
	else if (tr_normal_put_value(n, field, field->value.data, end, first) >
		 field->value.data + field->value.len)
		put_value_again(n, field, from, first);
	set_text(n, field, from);
}

/* Prepares for the next record. */
static inline void begin(struct tr_normal *n, bool in_order)
{
	n->in_order = in_order;
	n->table = 0;
	n->count = n->name_count = n->opened = 0;
	n->descriptors = 0;
	n->spelled_name = 0;
	n->module.data = n->spent.data = n->parent.data = n->child.data = NULL;
	if (n->text.len)
		tr_buffer_reset(&n->text);
}

/* Prepares for the values of the record, whose name was read. */
static inline void set_call(struct tr_normal *n)
{
	n->call = NULL;
	n->makes.data = NULL;
	if (n->in_process || n->known->class == TR_DIFF_THREAD)
		tr_normal_set_call(n);
}

/* Orders fields by key, and those of one key as in the record. */
static int by_key(const void *left, const void *right, void *context)
{
	const struct tr_normal_field *fields = context;
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
	int order = tr_text_compare(fields[a].key, fields[b].key);

	return order ? order : a < b ? -1 : 1;
}

/* Sorts the fields of a record for tr_normal_match. False: memory is exhausted. */
static bool sort_fields(struct tr_normal *n)
{
	enum { FEW = 16 };

	if (n->order_cap < n->count &&
	    !tr_array_grow(&n->order, &n->order_cap, n->count, sizeof *n->order))
		return false;
	for (uint32_t i = 0; i < n->count; i++) {
		size_t at = i;
		/* most records have few fields, for which a call of qsort_r takes longer */
		for (; n->count <= FEW && at > 0 && by_key(&i, &n->order[at - 1], n->fields) < 0;
		     at--)
			n->order[at] = n->order[at - 1];
		n->order[at] = i;
	}
	if (n->count > FEW)
		qsort_r(n->order, n->count, sizeof *n->order, by_key, n->fields);
	for (size_t i = 0; i < n->count; i++) {
		struct tr_normal_field *field = &n->fields[n->order[i]];
		const struct tr_normal_field *last = i ? &n->fields[n->order[i - 1]] : NULL;
		field->same = last && tr_text_equal(last->key, field->key) ? last->same + 1 : 0;
	}
	n->sorted = n->count;
	return true;
}

/* True if a column is one of these fields; NULL: all are. */
static inline bool is_one_of(struct tr_text column, const struct tr_text *keys)
{
	while (keys && keys->data && !tr_text_starts(column, *keys))
		keys++;
	return !keys || keys->data;
}

/* Splits a line into the fields with these keys; NULL: all. */
static inline void split(struct tr_normal *n, struct tr_text line, const struct tr_text *keys)
{
	const char *end = line.data + line.len - 1;
	struct tr_tabs tabs = tr_tabs_begin(line.data, line.data, end);
	const char *p = line.data;
	bool result = false;

	begin(n, false);
	set_kind(n, next_column(&tabs, &p));
	n->seq = next_column(&tabs, &p);
	n->time = next_column(&tabs, &p);
	n->task = next_column(&tabs, &p);
	n->name = next_column(&tabs, &p);
	struct tr_normal_field *name = new_field(n);
	if (name) {
		name->key = TR_TEXT("name");
		name->value = n->name;
	}
	while (p < end && !n->failed) {
		struct tr_text column = next_column(&tabs, &p);
		if (tr_text_is(column, "->"))
			result = true;
		else if (is_one_of(column, keys))
			add_field(n, column, result);
	}
}

bool tr_normal_split(struct tr_normal *n, struct tr_text line)
{
	split(n, line, NULL);
	n->failed |= !sort_fields(n);
	return !n->failed;
}

/* Sets the normal texts of the fields. False: memory is exhausted. */
static bool put_fields(struct tr_normal *n, struct tr_text line, bool first)
{
	n->fields->text = n->rules->ignored_count ? read_name(n, first) : read_known_name(n, first);
	set_call(n);
	if (n->text.len)
		n->fields->text.data = NULL; /* see set_text */
	for (size_t i = 1; i < n->count; i++)
		put_field(n, &n->fields[i], line.data + line.len - 1, first);
	n->failed |= n->text.failed;
	const char *text = tr_buffer_text(&n->text).data;
	for (size_t i = 0; i < n->count; i++) {
		if (n->fields[i].text.data)
			continue;
		n->fields[i].text.data = text;
		text += n->fields[i].text.len;
	}
	return !n->failed;
}

bool tr_normal_read(struct tr_normal *n, struct tr_text line, bool first)
{
	return tr_normal_split(n, line) && put_fields(n, line, first);
}

bool tr_normal_read_command(struct tr_normal *n, struct tr_text line, bool first, bool argv)
{
	split(n, line, argv ? of_command : of_command + 1);
	return !n->failed && put_fields(n, line, first);
}

bool tr_normal_next_item(const char **p, const char *end, struct tr_text *item)
{
	const char *begin = *p, *at = begin;
	int depth = 0;

	if (at >= end)
		return false;
	while (at < end && (depth > 0 || *at != ',')) {
		depth += *at == '[' || *at == '{' || *at == '<';
		depth -= *at == ']' || *at == '}' || *at == '>';
		at = *at == '"' ? tr_normal_string_end(at, end) : at + 1;
	}
	*item = tr_text_span(begin, at < end ? at : end);
	*p = at + 1;
	return true;
}

/*
 * Returns the hash of an entry of a map, which as a pointer is not NULL and may have 32 bits; sets
 * *name to that of its name.
 */
static inline uint64_t hash_entry(uint64_t seed, struct tr_text entry, uint64_t *name)
{
	const char *end = entry.data + entry.len, *after = end;

	if (entry.len && *entry.data == '"')
		after = tr_normal_string_end(entry.data, end);
	*name = tr_text_hash(seed, tr_text_span(entry.data, after));
	return (uintptr_t)tr_text_hash(*name, tr_text_span(after, end)) | 1;
}

/* As hash_map, for maps in which names may be repeated. */
static uint64_t hash_last_entries(uint64_t seed, struct tr_text map, bool *fine)
{
	const char *p = map.data + 1, *end = map.data + map.len - 1;
	struct tr_id_map last = TR_ID_MAP_INIT; /* has no pointers, but hashes */
	struct tr_text entry;
	uint64_t sum = 0, name;

	while (*fine && tr_normal_next_item(&p, end, &entry)) {
		uint64_t hash = hash_entry(seed, entry, &name);
		sum += hash - (uintptr_t)tr_id_map_get(&last, name);
		*fine = tr_id_map_put(&last, name, (void *)(uintptr_t)hash);
	}
	tr_id_map_free(&last);
	return sum;
}

/*
 * Hashes the variables of a map in any order, because the order in an environment means nothing;
 * but of a repeated name the last one counts. *fine: set to false if memory is exhausted.
 */
static uint64_t hash_map(uint64_t seed, struct tr_text map, bool *fine)
{
	enum { BITS = 4096 };
	const char *p = map.data + 1, *end = map.data + map.len - 1;
	uint64_t names[BITS / 64] = { 0 }; /* two bits for each name */
	struct tr_text entry;
	uint64_t sum = 0, name;
	bool repeated = false;

	while (tr_normal_next_item(&p, end, &entry)) {
		sum += hash_entry(seed, entry, &name);
		uint64_t *one = &names[name / 64 % (BITS / 64)], bit = UINT64_C(1) << name % 64;
		uint64_t *other = &names[name >> 58], other_bit = UINT64_C(1) << (name >> 52) % 64;
		repeated |= *one & bit && *other & other_bit;
		*one |= bit;
		*other |= other_bit;
	}
	return repeated ? hash_last_entries(seed, map, fine) : sum;
}

/* True if the text of a field is an environment, or a difference between two. */
static inline bool has_variables(const struct tr_normal_field *field, struct tr_text text)
{
	return text.len > 1 && *text.data == '{' && text.data[text.len - 1] == '}' &&
	       (tr_text_starts(field->key, TR_TEXT("env")) || tr_text_is(field->key, "vars"));
}

bool tr_normal_equal(uint64_t seed, const struct tr_normal_field *a,
		     const struct tr_normal_field *b)
{
	bool fine = true;

	if (tr_text_equal(a->text, b->text))
		return true;
	return has_variables(a, a->text) && has_variables(b, b->text) &&
	       hash_map(seed, a->text, &fine) == hash_map(seed, b->text, &fine) && fine;
}

/*
 * Sets *hash to that of columns, and returns the place of their memo, which may have the memo of
 * other columns. What a column means can depend on the call.
 */
static struct tr_normal_memo *find_memo(struct tr_normal *n, uint64_t seed, struct tr_text columns,
					uint64_t *hash)
{
	*hash = tr_text_hash(n->call ? tr_number_hash(seed, (uintptr_t)n->call) : seed, columns);
	return &n->memo[*hash % TR_NORMAL_MEMOS];
}

/*
 * Returns the hash of the field that was read last: that of a column with its normal text, which
 * begins at `from` in the buffer. column: the hash of its column.
 */
static uint64_t hash_field(struct tr_normal *n, const struct tr_normal_field *field, size_t from,
			   uint64_t column)
{
	struct tr_text text = field->text;

	if (!text.data)
		text.data = n->text.data + from;
	if (has_variables(field, text)) {
		bool fine = true;
		uint64_t map = hash_map(n->rules->seed, text, &fine);
		n->failed |= !fine;
		return tr_number_hash(tr_text_hash(n->kind_hash, field->key), map);
	}
	if (field->text.data)
		return column;
	tr_buffer_reset(&n->scratch);
	if (field->value.data != field->key.data) {
		tr_buffer_put_text(&n->scratch, field->key);
		tr_buffer_put_byte(&n->scratch, '=');
	}
	tr_buffer_put_text(&n->scratch, text);
	n->failed |= n->scratch.failed;
	return tr_text_hash(n->kind_hash, tr_buffer_text(&n->scratch));
}

/* The columns of a record after its name. */
struct columns {
	bool result;   /* "->" was one of them */
	bool constant; /* equal columns always have this hash */
	bool any;      /* one is a field that is compared */
	uint64_t hash, path;
};

/*
 * True if the text up to `end` is a string without an escape, or a list of some, as most values are.
 * A TAB or LF follows it.
 */
static bool is_of_strings(const char *p, const char *end)
{
	bool list = *p == '[';

	do {
		p += list;
		if (*p != '"' || !(p = memchr(p + 1, '"', (size_t)(end - p - 1))))
			return false;
		p++;
	} while (list && *p == ',');
	return list ? *p == ']' && p + 1 == end : p == end;
}

/* True if a column, which a TAB or LF follows, is certainly a field with a well-formed value. */
static bool is_well_formed(const struct tr_normal *n, struct tr_text column)
{
	const char *equals = memchr(column.data, '=', column.len), *end = column.data + column.len;
	struct tr_text key = tr_text_span(column.data, equals ? equals : column.data);

	if (!key.len || tr_text_is(key, "-") || (n->escapes && memchr(key.data, '\\', key.len)))
		return false;
	return (!n->escapes && is_of_strings(equals + 1, end)) ||
	       tr_literal_check(tr_text_span(equals + 1, end), NULL, NULL) != TR_MALFORMED;
}

/*
 * Notes that a column may be malformed, for the caller of tr_normal_hash. hash: of the column; one
 * that was well-formed before is not read again.
 */
static inline void check_column(struct tr_normal *n, struct tr_text column, uint64_t hash,
				struct columns *columns)
{
	uint64_t *known = &n->well_formed[hash % TR_NORMAL_WELL_FORMED];

	if (*known == hash)
		return;
	if (is_well_formed(n, column)) {
		*known = hash;
	} else {
		n->suspect = true;
		columns->constant = false; /* so that the next one is noted, too */
	}
}

/*
 * Returns the end of the column at p if it is a field that is compared, and its value a number that
 * is compared as it is; otherwise NULL. Most arguments of API calls are, until objects are known. A
 * TAB or LF follows the columns.
 */
static inline const char *skip_plain_number(const struct tr_normal *n, const char *p,
					    const char *end)
{
	static const bool digits[256] = {
		['0'] = true, ['1'] = true, ['2'] = true, ['3'] = true, ['4'] = true,
		['5'] = true, ['6'] = true, ['7'] = true, ['8'] = true, ['9'] = true,
		['-'] = true, ['.'] = true, ['e'] = true, ['+'] = true,
	};
	const char *key = p;

	while (p < end && *p != '=' && *p != '\t')
		p++;
	if (is_left_out(n, tr_text_span(key, p)))
		return NULL;
	if (p < end && *p == '=') {
		while (digits[(unsigned char)*++p])
			;
	}
	return p == end || *p == '\t' ? p : NULL;
}

/* False if a number in a record can be a name, or is compared in another way. */
static inline bool has_plain_numbers(const struct tr_normal *n)
{
	return !n->in_process && !n->makes.data && !n->objects.count;
}

/*
 * Adds the plain numbers that begin at p, and a "->" among them, to the hashes of a record, as
 * hash_column does. Returns where the first other column begins.
 */
static const char *hash_plain_numbers(const struct tr_normal *n, const char *p, const char *end,
				      struct columns *columns)
{
	if (!has_plain_numbers(n) || n->known->keys || n->checks)
		return p;
	while (p < end) {
		bool arrow = end - p >= 2 && p[0] == '-' && p[1] == '>' &&
			     (end - p == 2 || p[2] == '\t');
		const char *next = arrow ? p + 2 : skip_plain_number(n, p, end);
		if (!next)
			break;
		columns->result |= arrow;
		columns->hash = tr_number_hash(
			columns->hash,
			arrow ? 1 : tr_text_hash(n->kind_hash, tr_text_span(p, next)));
		p = next + (next < end);
	}
	return p;
}

/*
 * Sets *hash to that of the normal text of a column without a memo. text: the hash of the column for
 * its memo, which may be NULL. False: it is left out, or memory is exhausted.
 */
static inline bool hash_new_column(struct tr_normal *n, struct tr_text column, const char *end,
				   bool first, struct tr_normal_memo *memo, uint64_t text,
				   struct columns *columns, uint64_t *hash)
{
	size_t from = n->text.len, names = n->name_count;
	bool hashed = memo && !n->call;
	uint64_t plain = text; /* of the column, if it is `hashed` */

	if (n->checks) {
		plain = hashed ? text : tr_text_hash(n->kind_hash, column);
		hashed = true;
		check_column(n, column, plain, columns);
		memo = n->suspect ? NULL : memo;
	}
	if (has_plain_numbers(n) && skip_plain_number(n, column.data, column.data + column.len)) {
		*hash = hashed ? plain : tr_text_hash(n->kind_hash, column);
		return true;
	}
	n->count = 0;
	n->any_environment |= tr_text_starts(column, TR_TEXT("env"));
	n->any_whole |= tr_text_starts(column, TR_TEXT("env="));
	struct tr_normal_field *field = add_field(n, column, columns->result);
	if (!field) { /* it is left out */
		columns->constant &=
			n->module.data > column.data && n->module.data <= column.data + column.len;
		return false;
	}
	put_field(n, field, end, first);
	if (n->failed || n->text.failed)
		return false;
	if (!hashed && field->text.data)
		plain = tr_text_hash(n->kind_hash, column);
	*hash = hash_field(n, field, from, plain);
	bool constant = n->name_count == names;
	columns->constant &= constant;
	if (memo && constant)
		*memo = (struct tr_normal_memo){ .columns = text, .hash = *hash };
	return true;
}

/* Adds a column to the hashes of a record. end: of the line. */
static void hash_column(struct tr_normal *n, struct tr_text column, const char *end, bool first,
			struct columns *columns)
{
	enum { SHORT = 24 };
	struct tr_normal_memo *memo = NULL;
	uint64_t text = 0, hash;

	if (tr_text_is(column, "->")) {
		n->suspect |= n->checks && columns->result;
		columns->result = true;
		columns->hash = tr_number_hash(columns->hash, 1);
		return;
	}
	if (column.len >= SHORT && !n->makes.data)
		memo = find_memo(n, n->kind_hash, column, &text);
	if (memo && memo->columns == text)
		hash = memo->hash;
	else if (!hash_new_column(n, column, end, first, memo, text, columns, &hash))
		return;
	for (const struct tr_text *key = n->known->keys; key && key->data; key++) {
		/* the sum does not depend on the order of fields, which is not the same in all formats */
		if ((!n->in_process || !columns->any) && tr_text_starts(column, *key))
			columns->path += hash;
	}
	/* the descriptor of a directory precedes the path, which is the key */
	columns->any |= !n->in_process || !(tr_text_starts(column, TR_TEXT("dirfd=")) ||
					    tr_text_starts(column, TR_TEXT("olddirfd=")));
	columns->hash = tr_number_hash(columns->hash, hash);
}

/* Returns the column of a cell, which begins at *p, and moves it to the next one. */
static inline struct tr_text cell_column(const struct tr_cell *cell, const char **p)
{
	size_t len = 1; /* of "-" */

	switch ((enum tr_cell_type)cell->type) {
	case TR_CELL_ABSENT:
		break;
	case TR_CELL_TEXT:
		len = cell->text.len;
		break;
	case TR_CELL_NUMBER:
		len = tr_decimal_length(cell->number);
		break;
	case TR_CELL_ADDRESS:
		len = sizeof "0x" - 1 + cell->width;
		break;
	}
	*p += len + 1;
	return (struct tr_text){ *p - len - 1, len };
}

/* Hashes the columns after the name, which a LF follows. */
static inline struct columns hash_columns(struct tr_normal *n, struct tr_text rest, bool first)
{
	enum { LONG = 128 };
	const char *p = rest.data, *end = p + rest.len;
	struct columns columns = { .constant = true, .hash = n->rules->seed };
	struct tr_normal_memo *memo = NULL;
	uint64_t text = 0;

	if (rest.len <= LONG && !n->makes.data)
		/* the inverted seed distinguishes them from a single column of the same text */
		memo = find_memo(n, ~n->kind_hash, rest, &text);
	if (memo && memo->columns == text) {
		columns.hash = memo->hash;
		columns.path = memo->path;
		if (memo->module)
			n->module = (struct tr_text){ p + memo->module, memo->module_len };
		return columns;
	}
	p = hash_plain_numbers(n, p, end, &columns);
	struct tr_tabs tabs = tr_tabs_begin(p, p, end);
	while (p < end && !n->failed)
		hash_column(n, next_column(&tabs, &p), end, first, &columns);
	if (memo && columns.constant && !n->failed)
		*memo = (struct tr_normal_memo){
			.columns = text,
			.hash = columns.hash,
			.path = columns.path,
			.module = n->module.data ? (uint32_t)(n->module.data - rest.data) : 0,
			.module_len = n->module.data ? (uint32_t)n->module.len : 0,
		};
	return columns;
}

/* An odd number and its inverse modulo 2^64. */
#define SPREAD UINT64_C(0x9e3779b97f4a7c15)
#define UNSPREAD UINT64_C(0xf1de83e19937733d)

/* Returns the hash of the name of a block, which tr_normal_address turns into the address again. */
static uint64_t hash_address(const struct tr_normal *n, uint64_t address, uint8_t digits)
{
	return (address + n->rules->seed + digits) * SPREAD;
}

uint64_t tr_normal_address(const struct tr_normal *n, uint64_t name_hash, uint8_t digits)
{
	return name_hash * UNSPREAD - n->rules->seed - digits;
}

bool tr_normal_hash(struct tr_normal *n, const struct tr_record *record, struct tr_text line,
		    bool first)
{
	const char *end = line.data + line.len - 1;

	if (!n->memo && !(n->memo = calloc(TR_NORMAL_MEMOS, sizeof *n->memo)))
		return false;
	const char *p = line.data + record->kind.len + 1;
	begin(n, true);
	set_kind(n, (struct tr_text){ line.data, record->kind.len });
	n->seq = cell_column(&record->seq, &p);
	n->time = cell_column(&record->time, &p);
	n->task = cell_column(&record->task, &p);
	n->name = cell_column(&record->name, &p);
	n->escapes = n->checks && memchr(line.data, '\\', line.len);
	n->suspect = n->escapes && memchr(line.data, '\\', (size_t)(p - line.data));
	p = p < end ? p : end; /* there may be no fields */
	/* in a number, only the user can replace something (--same) */
	struct tr_text name = n->name;
	uint64_t address;
	uint8_t digits;
	if (tr_text_is(n->kind, "block") && tr_normal_takes_blocks(n->rules) &&
	    tr_address_read(&record->name, &address, &digits))
		n->name_hash = hash_address(n, address, digits);
	else if (record->name.type == TR_CELL_TEXT && !n->rules->ignored_count)
		name = read_known_name(n, first);
	else if (n->rules->ignored_count || n->rules->replace)
		name = read_name(n, first);
	else
		n->name_hash = tr_text_hash(n->kind_hash, n->name);
	if (n->known->class == TR_DIFF_EXEC)
		n->program = tr_text_hash(n->kind_hash, tr_path_base(name));
	set_call(n);
	struct tr_text rest = tr_text_span(p, end);
	struct columns columns = hash_columns(n, rest, first);
	n->content = tr_number_hash(n->name_hash, columns.hash);
	n->path = columns.path;
	/* a pipe has no path that identifies it */
	if (n->opened && n->path)
		n->names[n->opened - 1].hash |= TR_RUN_NAME_OPENED;
	if (n->known->class == TR_DIFF_EXIT || n->child.data)
		tr_normal_follow_task(n, rest);
	return !n->failed && !n->text.failed;
}

bool tr_normal_hash_block(struct tr_normal *n, const struct tr_block *block)
{
	uint32_t rest = tr_block_rest(block);
	struct tr_normal_tail *tail = &n->tails[rest * UINT32_C(0x9e3779b1) >> (32 - TR_TAIL_BITS)];
	static const char kind[] = "block";

	if (!n->memo && !(n->memo = calloc(TR_NORMAL_MEMOS, sizeof *n->memo)))
		return false;
	if (n->kind.data != kind) /* the last one came as a record */
		set_kind(n, (struct tr_text){ kind, sizeof kind - 1 });
	if (tail->rest != rest) {
		char text[TR_SPELL_MAX];
		struct tr_buffer to = tr_buffer_over(text, TR_SPELL_MAX / 2);
		begin(n, true);
		set_call(n);
		tr_buffer_put_literal(&to, "size=");
		tr_buffer_put_decimal(&to, block->size);
		tr_buffer_put_literal(&to, "\top=");
		to.len += tr_op_spell(block->op, text + to.len);
		struct tr_text columns = tr_buffer_text(&to);
		tr_buffer_put_byte(&to, '\n');
		*tail = (struct tr_normal_tail){ rest, hash_columns(n, columns, false).hash };
	}
	n->name_hash = hash_address(n, block->address, block->digits);
	n->content = tr_number_hash(n->name_hash, tail->hash);
	return !n->failed;
}

struct tr_text tr_normal_string(struct tr_normal *n, struct tr_text string, bool first)
{
	begin(n, false);
	tr_normal_put_cell(n, string, first);
	tr_normal_flush(n, string.data + string.len);
	return n->text.failed || n->failed ? (struct tr_text){ NULL, 0 } : tr_buffer_text(&n->text);
}

const struct tr_normal_field *tr_normal_find(const struct tr_normal *n, const char *key)
{
	for (size_t i = 1; i < n->count; i++) {
		if (tr_text_is(n->fields[i].key, key))
			return &n->fields[i];
	}
	return NULL;
}

const struct tr_normal_field *tr_normal_match(const struct tr_normal *from, size_t index,
					      const struct tr_normal *to)
{
	const struct tr_normal_field *field = &from->fields[index];
	size_t low = 0, high = to->sorted;

	/* only a few fields are added */
	for (size_t i = to->sorted; index >= from->sorted && i < to->count; i++) {
		if (tr_text_equal(to->fields[i].key, field->key))
			return &to->fields[i];
	}
	if (index >= from->sorted)
		return NULL;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct tr_normal_field *other = &to->fields[to->order[middle]];
		int order = tr_text_compare(other->key, field->key);
		if (order == 0 && other->same == field->same)
			return other;
		if (order < 0 || (order == 0 && other->same < field->same))
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

bool tr_normal_add_duration(struct tr_normal *n, int64_t duration)
{
	struct tr_normal_field *field = new_field(n);
	double seconds = (double)duration / TR_INSTANT_SECOND;
	uint64_t bits;

	if (!field)
		return false;
	memcpy(&bits, &seconds, sizeof bits);
	n->duration = duration;
	field->key = TR_TEXT("duration");
	field->value =
		(struct tr_text){ n->duration_text, tr_real64_write(bits, n->duration_text) };
	field->text = TR_TEXT("");
	field->names = n->name_count;
	field->is_duration = true;
	return true;
}

bool tr_normal_add(struct tr_normal *n, struct tr_text key, struct tr_text text)
{
	struct tr_normal_field *field = new_field(n);

	if (!field)
		return false;
	*field = (struct tr_normal_field){
		.key = key, .value = text, .text = text, .names = n->name_count, .is_added = true
	};
	return true;
}

void tr_normal_free(struct tr_normal *n)
{
	free(n->fields);
	free(n->order);
	free(n->names);
	free(n->memo);
	tr_buffer_free(&n->text);
	tr_buffer_free(&n->scratch);
	tr_id_map_free(&n->objects);
	tr_normal_forget_files(n);
	*n = (struct tr_normal){ .rules = NULL };
}
