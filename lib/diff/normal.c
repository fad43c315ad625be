/* SPDX-License-Identifier: MIT */
/*
 * The line is divided at its TABs. Fields that are compared are copied, value by value, and what a
 * run chooses is replaced on the way. trec spells each value in one way (trec(5)), so no tree is
 * needed.
 */
#include "diff/normal.h"

#include <stdlib.h>
#include <string.h>

#define KEY(key) \
	{ \
		key, sizeof(key) - 1 \
	}

/* Left out of every record. */
static const struct tr_text always[] = { KEY("cpu"),  KEY("tgid"), KEY("dur"), KEY(".sig"),
					 KEY(".raw"), KEY(".bt"),  KEY(".pad") };

/* Left out of records of one kind: numbers of other records, process ids, times. */
static const struct {
	struct tr_text kind, keys[5]; /* up to one without data */
} of_kind[] = {
	{ KEY("exec"), { KEY("parent"), KEY("ppid"), KEY("end"), KEY("rid") } },
	{ KEY("fork"), { KEY("child") } },
	{ KEY("exit"), { KEY("child") } },
	{ KEY("use"), { KEY("exec"), KEY("from") } },
	{ KEY("module"), { KEY("id") } },
	{ KEY("block"), { KEY("module") } }, /* part of its key: side.c */
	{ KEY("envset"), { KEY("tasks") } },
};

static const struct tr_text *left_out_of(struct tr_text kind)
{
	static const struct tr_text none = { NULL, 0 };

	for (size_t i = 0; i < sizeof of_kind / sizeof *of_kind; i++) {
		if (tr_text_equal(kind, of_kind[i].kind))
			return of_kind[i].keys;
	}
	return &none;
}

/* keys: those of the kind. */
static bool is_left_out(const struct tr_normal *n, const struct tr_text *keys, struct tr_text key)
{
	for (size_t i = 0; i < sizeof always / sizeof *always; i++) {
		if (tr_text_equal(key, always[i]))
			return true;
	}
	for (; keys->data; keys++) {
		if (tr_text_equal(key, *keys))
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

/* Classes of names, besides those of objects. */
enum { TEMPORARY = 1, ADDRESS };

static void add_name(struct tr_normal *n, uint64_t class, struct tr_text text)
{
	if (!tr_array_room(n->names, n->name_count, n->name_cap)) {
		n->failed = true;
		return;
	}
	uint64_t seed = tr_number_hash(n->rules->seed, class);
	n->names[n->name_count++] = (struct tr_run_name){ tr_text_hash(seed, text), text };
	tr_buffer_put_byte(&n->text, '*');
}

static bool is_alphanumeric(char c)
{
	return (c >= '0' && c <= '9') || (tr_lower(c) >= 'a' && tr_lower(c) <= 'z');
}

/* True for a byte that continues the name of a file. */
static bool in_name(char c)
{
	return is_alphanumeric(c) || c == '.' || c == '_' || c == '-' || c == '+' || c == '~' ||
	       c == '%' || (unsigned char)c >= 0x80;
}

static size_t count_alphanumeric(const char *p, const char *end)
{
	const char *q = p;

	while (q < end && is_alphanumeric(*q))
		q++;
	return (size_t)(q - p);
}

/*
 * The length of the random part of a file's name at p, or 0; *before is that of the part before it.
 * These are the shapes of gcc (ccXXXXXX), ar (stXXXXXX), mktemp(1) (tmp.XXXXXXXXXX), Python (tmpxxxxxxxx) and
 * CMake, and the kernel's names of what has no path (pipe:[123]).
 */
static size_t random_part(const char *p, const char *end, size_t *before)
{
	static const struct {
		const char *prefix;
		size_t least, most;
		bool extension; /* one may follow */
		bool word;	/* small letters alone are a word: "ccache.o" */
	} shapes[] = {
		{ "cc", 6, 6, true, true },
		{ "st", 6, 6, false, true },
		{ "tmp.", 6, 12, false, false },
		{ "tmp", 8, 8, false, true },
		{ "TryCompile-", 6, 6, false, false },
		{ "cmTC_", 5, 5, true, false },
		{ "pipe:[", 1, 20, false, false },
		{ "socket:[", 1, 20, false, false },
	};

	if (*p != 'c' && *p != 't' && *p != 'T' && *p != 'p' && *p != 's')
		return 0;
	for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
		size_t len = strlen(shapes[i].prefix);
		if (*p != *shapes[i].prefix || (size_t)(end - p) < len ||
		    memcmp(p, shapes[i].prefix, len) != 0)
			continue;
		size_t random = count_alphanumeric(p + len, end);
		const char *after = p + len + random;
		if (shapes[i].prefix[len - 1] == '[' && (after == end || *after != ']'))
			continue;
		if (random < shapes[i].least || random > shapes[i].most)
			continue;
		if (after < end && in_name(*after) && !(shapes[i].extension && *after == '.'))
			continue;
		size_t small = 0;
		while (small < random && p[len + small] >= 'a' && p[len + small] <= 'z')
			small++;
		if (shapes[i].word && small == random)
			continue;
		*before = len;
		return random;
	}
	return 0;
}

/* The length of the root of the first trace that begins at p, at the begin of a path, or 0. */
static size_t root_at(const struct tr_normal *n, const char *begin, const char *p, const char *end,
		      struct tr_text *to)
{
	if (p > begin && in_name(p[-1]) && !(p - begin == 2 && begin[0] == '-'))
		return 0;
	for (size_t i = 0; i < n->rules->root_count; i++) {
		const struct tr_normal_root *root = &n->rules->roots[i];
		if (tr_text_starts(tr_text_span(p, end), root->from) &&
		    (p + root->from.len == end || !in_name(p[root->from.len]))) {
			*to = root->to;
			return root->from.len;
		}
	}
	return 0;
}

/* Copies the text of a string: roots and temporary files are replaced. */
static void put_string(struct tr_normal *n, struct tr_text string, bool first)
{
	const char *p = string.data, *end = p + string.len, *copied = p;
	bool roots = first && n->rules->root_count;
	size_t from = n->text.len;

	/* roots begin with a slash; the name of a file begins the string, or comes after one */
	for (bool more = true; more;) {
		size_t before, len;
		struct tr_text to;
		if (roots && p < end && (len = root_at(n, string.data, p, end, &to)) > 0) {
			tr_buffer_put_text(&n->text, tr_text_span(copied, p));
			tr_buffer_put_text(&n->text, to);
			copied = p += len;
			continue;
		}
		p += p < end && *p == '/';
		if (p < end && !n->rules->temporary && (len = random_part(p, end, &before)) > 0) {
			struct tr_text random = { p + before, len };
			tr_buffer_put_text(&n->text, tr_text_span(copied, p + before));
			add_name(n, TEMPORARY, random);
			copied = p += before + len;
		}
		p = memchr(p, '/', (size_t)(end - p));
		more = p != NULL;
	}
	tr_buffer_put_text(&n->text, tr_text_span(copied, end));
	if (n->rules->replace && !n->text.failed) {
		struct tr_text whole = { n->text.data + from, n->text.len - from };
		tr_buffer_reset(&n->scratch);
		if (!n->rules->replace(n->rules->context, whole, &n->scratch))
			n->failed = true;
		n->text.len = from;
		tr_buffer_put_text(&n->text, tr_buffer_text(&n->scratch));
	}
}

static const char *skip_hex(const char *p, const char *end, uint64_t *number)
{
	for (*number = 0; p < end && tr_hex_digit(*p) >= 0; p++)
		*number = *number << 4 | (unsigned)tr_hex_digit(*p);
	return p;
}

static const char *skip_digits(const char *p, const char *end)
{
	while (p < end && *p >= '0' && *p <= '9')
		p++;
	return p;
}

/*
 * Copies a value. objects: the class of the objects whose numbers are in it, or 0. Numbers of tables
 * (@E3) are those of definitions, which each trace counts itself. A number below a page is no
 * address.
 */
static void put_value(struct tr_normal *n, struct tr_text value, uint64_t objects, bool first)
{
	const char *p = value.data, *end = p + value.len, *copied = p;
	enum { PAGE = 4096 };

	while (p < end) {
		char before = p > value.data ? p[-1] : '=';
		const char *after;
		uint64_t number;
		if (*p == '"') {
			tr_buffer_put_text(&n->text, tr_text_span(copied, p + 1));
			after = tr_normal_string_end(p, end);
			put_string(n, tr_text_span(p + 1, after > p + 1 ? after - 1 : after),
				   first);
			copied = after > p + 1 ? after - 1 : after;
			p = after;
		} else if (*p == '0' && end - p > 2 && p[1] == 'x' && before != '(' &&
			   before != '|' && !in_name(before)) {
			after = skip_hex(p + 2, end, &number);
			if (!n->rules->addresses && number >= PAGE) {
				tr_buffer_put_text(&n->text, tr_text_span(copied, p));
				add_name(n, ADDRESS, tr_text_span(p, after));
				copied = after;
			}
			p = after;
		} else if (*p == '@') {
			tr_buffer_put_text(&n->text, tr_text_span(copied, p));
			copied = p = skip_digits(p + 2 < end ? p + 2 : end, end);
		} else if (*p >= '0' && *p <= '9') {
			after = skip_digits(p, end);
			if (objects && *p != '0' && !in_name(before) && before != '(') {
				tr_buffer_put_text(&n->text, tr_text_span(copied, p));
				add_name(n, objects, tr_text_span(p, after));
				copied = after;
			}
			p = after;
		} else {
			p++;
		}
	}
	tr_buffer_put_text(&n->text, tr_text_span(copied, end));
}

/* The class of objects with that name, in the singular: "textures" and "texture" are one. */
static uint64_t object_class(const struct tr_normal *n, struct tr_text name)
{
	char word[32];
	size_t len = 0;

	for (; len < name.len && len < sizeof word; len++)
		word[len] = tr_lower(name.data[len]);
	if (len && word[len - 1] == 's')
		len--;
	return tr_text_hash(n->rules->seed, (struct tr_text){ word, len });
}

/*
 * The objects of OpenGL have numbers, which glGenTextures(textures=[1,2]) and glCreateShader()
 * return, and which other calls have in arguments of the same name. made: the name of what this call
 * creates. Returns the class of the objects in the field, or 0.
 */
static uint64_t objects_in(struct tr_normal *n, const struct tr_normal_field *field,
			   struct tr_text made)
{
	bool created = made.data && field->result && field->value.len;
	bool list = created && *field->value.data == '[';
	bool number = created && *field->value.data >= '0' && *field->value.data <= '9';
	uint64_t class =
		object_class(n, number && tr_text_is(field->key, "return") ? made : field->key);

	if ((list || number) && !tr_id_map_put(&n->objects, class, n))
		n->failed = true;
	return tr_id_map_get(&n->objects, class) ? class : 0;
}

/* Adds the normal text of a field. */
static void put_field(struct tr_normal *n, struct tr_normal_field *field, bool first,
		      struct tr_text made)
{
	size_t begin = n->text.len;
	uint64_t objects = 0;

	if (made.data || n->objects.count)
		objects = objects_in(n, field, made);
	field->names = n->name_count;
	put_value(n, field->value, objects, first);
	/* the buffer may still move: until the end the text is an offset */
	field->text = (struct tr_text){ NULL, n->text.len - begin };
}

static struct tr_text next_column(struct tr_text *line)
{
	const char *tab = memchr(line->data, '\t', line->len);
	struct tr_text column = { line->data, tab ? (size_t)(tab - line->data) : line->len };
	size_t used = column.len + (tab != NULL);

	*line = (struct tr_text){ line->data + used, line->len - used };
	return column;
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

/* The objects that a function creates: "Textures" of glGenTextures. data NULL: it creates none. */
static struct tr_text made_by(const struct tr_normal *n)
{
	struct tr_text rest = n->name;

	if (n->rules->objects ||
	    !(tr_text_skip(&rest, TR_TEXT("glGen")) || tr_text_skip(&rest, TR_TEXT("glCreate"))))
		return (struct tr_text){ NULL, 0 };
	return rest;
}

bool tr_normal_read(struct tr_normal *n, struct tr_text line, bool first)
{
	const struct tr_text *left_out;
	bool result = false;

	n->count = n->name_count = 0;
	tr_buffer_reset(&n->text);
	line.len -= line.len && line.data[line.len - 1] == '\n';
	n->kind = next_column(&line);
	left_out = left_out_of(n->kind);
	n->seq = next_column(&line);
	next_column(&line);
	n->task = next_column(&line);
	n->name = next_column(&line);
	struct tr_text made = made_by(n);
	struct tr_normal_field *field = new_field(n);
	if (!field)
		return false;
	field->key = TR_TEXT("name");
	field->value = n->name;
	/* a cell is spelled like the text of a string as far as paths are concerned */
	if (!is_left_out(n, left_out, field->key))
		put_string(n, n->name, first);
	field->text = (struct tr_text){ NULL, n->text.len };
	while (line.len && !n->failed) {
		struct tr_text column = next_column(&line);
		const char *equals = memchr(column.data, '=', column.len);
		if (tr_text_is(column, "->")) {
			result = true;
			continue;
		}
		struct tr_text key = equals ? tr_text_span(column.data, equals) : column;
		if (is_left_out(n, left_out, key) || !(field = new_field(n)))
			continue;
		field->key = key;
		field->value =
			tr_text_span(equals ? equals + 1 : column.data, column.data + column.len);
		field->result = result;
		put_field(n, field, first, made);
	}
	n->failed |= n->text.failed;
	const char *text = tr_buffer_text(&n->text).data;
	for (size_t i = 0; i < n->count; i++) {
		n->fields[i].text.data = text;
		text += n->fields[i].text.len;
	}
	return !n->failed;
}

struct tr_text tr_normal_string(struct tr_normal *n, struct tr_text string, bool first)
{
	tr_buffer_reset(&n->text);
	put_string(n, string, first);
	n->name_count = n->count = 0;
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

void tr_normal_free(struct tr_normal *n)
{
	free(n->fields);
	free(n->names);
	tr_buffer_free(&n->text);
	tr_buffer_free(&n->scratch);
	tr_id_map_free(&n->objects);
	*n = (struct tr_normal){ .rules = NULL };
}
