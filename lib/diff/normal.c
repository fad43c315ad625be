/* SPDX-License-Identifier: MIT */
/*
 * The line is divided at its TABs. Fields that are compared are copied, value by value, and what a
 * run chooses is replaced on the way. trec spells each value in one way (trec(5)), so no tree is
 * needed.
 */
#include "diff/normal.h"

#include <stdlib.h>
#include <string.h>

#include "diff/temporary.h"
#include "process/instant.h"
#include "record/tabs.h"

#if defined __SSE2__ && !defined TR_PORTABLE
#include <emmintrin.h>
#endif

enum { MEMOS = 4096 };

#define KEY(key) \
	{ \
		key, sizeof(key) - 1 \
	}

/* Left out of records of every kind. */
static const struct tr_text always[] = { KEY("cpu"),  KEY("tgid"), KEY("dur"), KEY(".sig"),
					 KEY(".raw"), KEY(".bt"),  KEY(".pad") };

/* A bit for the letters of a key, for a quick look at whether it can be left out. */
static uint64_t letter_bit(struct tr_text key)
{
	unsigned first = key.len ? (unsigned char)*key.data : 0;
	unsigned last = key.len ? (unsigned char)key.data[key.len - 1] : 0;

	return (uint64_t)1 << ((first + 3 * last) & 63);
}

/* Takes the kind of a record, which is mostly that of the one before. */
static void set_kind(struct tr_normal *n, struct tr_text name)
{
	n->kind = name;
	if (n->known && tr_text_equal(n->known->name, name))
		return;
	n->kind_hash = tr_text_hash(n->rules->seed, name);
	n->known = tr_diff_kind(name);
	n->letters = 0;
	for (size_t i = 0; i < sizeof always / sizeof *always; i++)
		n->letters |= letter_bit(always[i]);
	for (const struct tr_text *key = n->known->left_out; key && key->data; key++)
		n->letters |= letter_bit(*key);
	for (size_t i = 0; i < n->rules->ignored_count; i++)
		n->letters |= letter_bit(n->rules->ignored[i].key);
}

static bool is_left_out(const struct tr_normal *n, struct tr_text key)
{
	if (!(n->letters & letter_bit(key)))
		return false;
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

/* Classes of names, besides those of objects; after RUN, those of enum tr_run_value. */
enum {
	TEMPORARY = 1,
	KERNEL, /* a number in brackets that the kernel gives to what has no path */
	RUN,
	ADDRESS = RUN + TR_RUN_PLAIN,
	TASK = RUN + TR_RUN_TASK,
	READING = RUN + TR_RUN_READING,
	NUMBER = RUN + TR_RUN_NUMBER,
	UNMAPPED = RUN + TR_RUN_UNMAPPED,
};

static bool is_descriptor(uint64_t class)
{
	return class > RUN && class < TASK;
}

/*
 * The seed of the hash of a name. Descriptors and addresses are those of a process, and known by what
 * was opened and mapped: only tr_normal_hash knows these, which reads the records in order.
 */
static uint64_t name_seed(struct tr_normal *n, uint64_t class, uint64_t number)
{
	enum tr_run_value value = (enum tr_run_value)(class - RUN);

	if (is_descriptor(class)) {
		class = RUN + TR_RUN_DESCRIPTOR;
	} else if (class > NUMBER && class <= UNMAPPED) {
		class = ADDRESS;
	}
	uint64_t seed = tr_number_hash(n->rules->seed, class), name = 0;
	if (!n->in_order || !n->in_process || class == TEMPORARY || class == TASK)
		return seed;
	if (!n->table)
		n->table = tr_open_files_of(&n->files, tr_text_hash(n->rules->seed, n->task));
	if (!n->table) {
		n->failed = true;
		return seed;
	}
	if (class != KERNEL)
		n->failed |= !tr_open_files_name(&n->files, n->table,
						 class == ADDRESS ? ~number : number, value, &name);
	return tr_number_hash(seed, name ? name : n->table->id);
}

/* number: of a descriptor or an address */
static void add_name(struct tr_normal *n, uint64_t class, struct tr_text text, uint64_t number)
{
	if (!tr_array_room(n->names, n->name_count, n->name_cap)) {
		n->failed = true;
		return;
	}
	uint64_t hash = tr_text_hash(name_seed(n, class, number), text);
	n->names[n->name_count++] =
		(struct tr_run_name){ hash & ~(uint64_t)TR_RUN_NAME_OPENED, text };
	if (class == RUN + TR_RUN_OPENED)
		n->opened = n->name_count;
	tr_buffer_put_byte(&n->text, '*');
}

/* The length of the root of the first trace that begins at p, at the begin of a path, or 0. */
static size_t root_at(const struct tr_normal *n, const char *begin, const char *p, const char *end,
		      struct tr_text *to)
{
	if (p > begin && tr_in_file_name(p[-1]) && !(p - begin == 2 && begin[0] == '-'))
		return 0;
	for (size_t i = 0; i < n->rules->root_count; i++) {
		const struct tr_normal_root *root = &n->rules->roots[i];
		if (tr_text_starts(tr_text_span(p, end), root->from) &&
		    (p + root->from.len == end || !tr_in_file_name(p[root->from.len]))) {
			*to = root->to;
			return root->from.len;
		}
	}
	return 0;
}

/*
 * Returns the first of three bytes in [p, end), or end. Most texts here are short, and a call of
 * memchr for each byte would take longer.
 */
static inline const char *find_any(const char *p, const char *end, char a, char b, char c)
{
#if defined __SSE2__ && !defined TR_PORTABLE
	for (; end - p >= 16; p += 16) {
		__m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)p);
		__m128i found = _mm_or_si128(_mm_or_si128(_mm_cmpeq_epi8(bytes, _mm_set1_epi8(a)),
							  _mm_cmpeq_epi8(bytes, _mm_set1_epi8(b))),
					     _mm_cmpeq_epi8(bytes, _mm_set1_epi8(c)));
		unsigned mask = (unsigned)_mm_movemask_epi8(found);
		if (mask)
			return p + __builtin_ctz(mask);
	}
#endif
	while (p < end && *p != a && *p != b && *p != c)
		p++;
	return p;
}

const char *tr_normal_string_end(const char *p, const char *end)
{
	for (p++; (p = find_any(p, end, '"', '\\', '\\')) < end && *p == '\\';)
		p += 2;
	return p < end ? p + 1 : end;
}

/* Appends what was read up to p and not yet appended. */
static void flush(struct tr_normal *n, const char *p)
{
	tr_buffer_put_text(&n->text, tr_text_span(n->copied, p));
	n->copied = p;
}

/*
 * Reads a string up to its last quote, or the end, and replaces roots and the names of temporary
 * files. Roots begin with a slash; the name of a file begins the string, or comes after a slash.
 */
static const char *read_string(struct tr_normal *n, const char *begin, const char *end, bool first)
{
	bool roots = first && n->rules->root_count;
	const char *p = begin;

	for (;;) {
		size_t before, len;
		struct tr_text to;
		if (roots && p < end && (len = root_at(n, begin, p, end, &to)) > 0) {
			flush(n, p);
			/* the second trace's directory may have the name of a temporary one */
			n->copied = to.data;
			read_string(n, to.data, to.data + to.len, false);
			flush(n, to.data + to.len);
			n->copied = p += len;
			/* of the root directory only what is below has a slash of its own */
			if (!to.len && (p == end || *p != '/'))
				tr_buffer_put_byte(&n->text, '/');
			continue;
		}
		p += p < end && *p == '/';
		const char *name = p;
		len = 0;
		if (p < end && !n->rules->temporary && tr_begins_temporary(p, end))
			len = tr_temporary_begin(begin, p, end, &before);
		while ((p = find_any(p, end, '"', '\\', '/')) < end && *p == '\\')
			p += 2;
		p = p < end ? p : end;
		if (!len && !n->rules->temporary && tr_ends_temporary(begin, name, p))
			len = tr_temporary_end(begin, name, p, &before);
		if (len) {
			flush(n, name + before);
			n->copied = name + before + len;
			uint64_t class = before && name[before - 1] == '[' ? KERNEL : TEMPORARY;
			add_name(n, class, (struct tr_text){ name + before, len }, 0);
			/* a name in the root directory has a slash in its prefix */
			p = p < n->copied ? n->copied : p;
			continue;
		}
		if (p == end)
			return end;
		if (*p == '"')
			return p;
	}
}

/*
 * Returns the quote after a string, or the end, if nothing is replaced in it: most strings have
 * neither a slash nor an escape. NULL: something can be.
 */
static inline const char *skip_plain(const struct tr_normal *n, const char *p, const char *end,
				     bool first)
{
	if (n->rules->replace || (first && n->rules->root_count) || p == end ||
	    tr_begins_temporary(p, end))
		return NULL;
	const char *stop = find_any(p, end, '"', '\\', '/');
	bool plain = (stop == end || *stop == '"') && !tr_ends_temporary(p, p, stop);
	return plain ? stop : NULL;
}

/* Like read_string; replaces also what the user replaces. */
static const char *put_string(struct tr_normal *n, const char *p, const char *end, bool first)
{
	const char *stop = skip_plain(n, p, end, first);

	if (stop)
		return stop;
	if (!n->rules->replace)
		return read_string(n, p, end, first);
	flush(n, p);
	size_t from = n->text.len;
	p = read_string(n, p, end, first);
	flush(n, p);
	if (!n->text.failed) {
		struct tr_text whole = { n->text.data + from, n->text.len - from };
		tr_buffer_reset(&n->scratch);
		if (!n->rules->replace(n->rules->context, whole, &n->scratch))
			n->failed = true;
		n->text.len = from;
		tr_buffer_put_text(&n->text, tr_buffer_text(&n->scratch));
	}
	return p;
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

/* The class of a field of a process, or of a member of it, with its value; 0: it is compared as it is. */
static uint64_t class_of(const struct tr_normal *n, struct tr_text key, const char *value)
{
	static const char dup[] = "\tcmd=F_DUPFD";
	enum tr_run_value is = tr_run_value(n->call, key);

	if (is == TR_RUN_READING)
		return n->rules->readings ? 0 : READING;
	if (is == TR_RUN_TASK)
		return n->rules->tasks ? 0 : TASK;
	if (is >= TR_RUN_NUMBER)
		return RUN + is;
	if (is == TR_RUN_PLAIN || n->rules->descriptors)
		return 0;
	/* most calls of fcntl return something else */
	if (is == TR_RUN_OPENED && tr_text_starts(n->name, TR_TEXT("fcntl")) &&
	    !memmem(n->name.data, (size_t)(value - n->name.data), dup, sizeof dup - 1))
		return NUMBER;
	return RUN + is;
}

/* The class of the member of a structure whose value begins at p. */
static uint64_t class_of_member(const struct tr_normal *n, const char *value, const char *p)
{
	const char *end = p - 1, *begin = end;

	while (begin > value && (tr_is_alphanumeric(begin[-1]) || begin[-1] == '_'))
		begin--;
	return class_of(n, tr_text_span(begin, end), p);
}

/* True if a number is a name. The descriptors 0 to 2 and task 1 are the same in all runs. */
static bool is_name(uint64_t class, struct tr_text number, char before)
{
	bool run = class > RUN && class < NUMBER;

	if (!class || (class >= NUMBER && class <= UNMAPPED) || *number.data == '0' ||
	    before == '(' || (tr_in_file_name(before) && !(class == TASK && before == '-')))
		return false;
	return !run || number.len > 1 || *number.data > '2';
}

/*
 * Skips the beginning of the value of MAKEFLAGS at p, which begins with its quote, and replaces the
 * descriptors of make's job server in it.
 */
static const char *put_job_server(struct tr_normal *n, const char *p, const char *end)
{
	static const char option[] = "--jobserver-auth=", old[] = "--jobserver-fds=";
	const char *stop = tr_normal_string_end(p, end);
	size_t len = sizeof option - 1;
	const char *at = memmem(p, (size_t)(stop - p), option, len);

	if (!at && (at = memmem(p, (size_t)(stop - p), old, sizeof old - 1)))
		len = sizeof old - 1;
	if (!at || at[len] < '0' || at[len] > '9')
		return p + 1;
	flush(n, at + len);
	tr_buffer_put_byte(&n->text, '*');
	p = skip_digits(at + len, stop);
	p = *p == ',' ? skip_digits(p + 1, stop) : p;
	return n->copied = p;
}

/* Returns the end of a member that is a string or a number. */
static const char *member_end(const char *p, const char *end)
{
	if (*p == '"')
		return tr_normal_string_end(p, end);
	while (p < end && tr_in_file_name(*p))
		p++;
	return p;
}

/*
 * Reads a value up to the TAB after it, or the end, and replaces what a run chooses. class: of the
 * numbers in it, or 0. Numbers of tables (@E3) are those of definitions, which each trace counts
 * itself. A number below a page is no address.
 */
static const char *put_value(struct tr_normal *n, struct tr_text key, const char *value,
			     const char *end, uint64_t class, bool first)
{
	static const bool stops[256] = {
		['\n'] = true, ['\t'] = true, ['"'] = true, ['@'] = true, ['0'] = true,
		['1'] = true,  ['2'] = true,  ['3'] = true, ['4'] = true, ['5'] = true,
		['6'] = true,  ['7'] = true,  ['8'] = true, ['9'] = true,
	};
	enum { PAGE = 4096 };
	const char *p = value;

	for (;;) {
		/* the LF at the end stops as well */
		while (!stops[(unsigned char)*p])
			p++;
		if (p == end || *p == '\t')
			return p;
		char before = p > value ? p[-1] : '=';
		const char *begin = p;
		uint64_t of = class;
		if (n->in_process && before == '=' && p > value &&
		    (of = class_of_member(n, value, p)) == READING) {
			flush(n, p);
			n->copied = p = member_end(p, end);
		} else if (*p == '"' && is_descriptor(class) &&
			   (before == '[' || (before >= '0' && before <= '9'))) {
			p++; /* select has ["3 5"] */
		} else if (*p == '"') {
			p = put_string(n, p + 1, end, first);
			p += p < end;
			struct tr_text name = tr_text_span(begin, p);
			if (end - p < 2 || *p != ':' || p[1] != '"')
				continue;
			if (tr_text_is(name, "\"mtime\"") && tr_text_is(key, "extra")) {
				/* when an output was made, in the log of ninja */
				flush(n, p);
				n->copied = p = tr_normal_string_end(p + 1, end);
			} else if (begin[1] == 'M' && !n->rules->descriptors &&
				   (tr_text_is(name, "\"MAKEFLAGS\"") ||
				    tr_text_is(name, "\"MFLAGS\""))) {
				p = put_job_server(n, p + 1, end);
				p = put_string(n, p, end, first);
				p += p < end;
			}
		} else if (*p == '@') {
			flush(n, p);
			p += p + 1 < end && p[1] != '\t' ? 2 : 1;
			n->copied = p = skip_digits(p, end);
		} else if (*p == '0' && end - p > 2 && p[1] == 'x' && before != '(' &&
			   before != '|' && !tr_in_file_name(before)) {
			uint64_t number;
			p = skip_hex(p + 2, end, &number);
			if (n->rules->addresses || number < PAGE || of == NUMBER)
				continue;
			flush(n, begin);
			add_name(n, of > NUMBER && of <= UNMAPPED ? of : ADDRESS,
				 tr_text_span(begin, p), number);
			n->copied = p;
		} else {
			p = skip_digits(p, end);
			struct tr_text number = tr_text_span(begin, p);
			if (!is_name(of, number, before))
				continue;
			flush(n, begin);
			n->copied = p;
			uint64_t decimal = 0;
			tr_decimal_read(number, UINT64_MAX, &decimal);
			if (of == TASK && tr_text_equal(number, n->task))
				tr_buffer_put_literal(&n->text, "self");
			else
				add_name(n, of, number, decimal);
		}
	}
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

/* Adds a class. False: it is known. */
static bool learn_objects(struct tr_normal *n, uint64_t class)
{
	if (tr_id_map_get(&n->objects, class))
		return false;
	/* the values of this map are no addresses, but the classes themselves */
	n->failed |= !tr_id_map_put(&n->objects, class, (void *)(uintptr_t) class);
	/* what was no name before can be one from now on */
	if (n->memo)
		memset(n->memo, 0, MEMOS * sizeof *n->memo);
	return true;
}

bool tr_normal_learn_objects(struct tr_normal *n, const struct tr_normal *other)
{
	bool learnt = false;
	size_t position = 0;

	for (void *class; (class = tr_id_map_next(&other->objects, &position));)
		learnt |= learn_objects(n, (uintptr_t) class);
	return learnt;
}

/*
 * The objects of OpenGL have numbers, which glGenTextures(textures=[1,2]) and glCreateShader()
 * return, and which other calls have in arguments of the same name. made: the name of what this call
 * creates. begin: of the value. Returns the class of the objects in the field, or 0.
 */
static uint64_t objects_in(struct tr_normal *n, const struct tr_normal_field *field, char begin,
			   struct tr_text made)
{
	bool list = begin == '[', number = begin >= '0' && begin <= '9';
	bool created = made.data && field->result;

	if ((!created && !n->objects.count) || (!list && !number && begin != '{'))
		return 0;
	uint64_t class = object_class(
		n, created && number && tr_text_is(field->key, "return") ? made : field->key);
	if (created && (list || number))
		learn_objects(n, class);
	return tr_id_map_get(&n->objects, class) ? class : 0;
}

/* Returns the column that begins at *p, and moves it to the next one. */
static inline struct tr_text next_column(struct tr_tabs *tabs, const char **p)
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

/* The objects that a function creates: "Textures" of glGenTextures. data NULL: it creates none. */
static struct tr_text made_by(const struct tr_normal *n)
{
	struct tr_text rest = n->name;

	if (n->known->class != TR_DIFF_THREAD || n->rules->objects ||
	    !(tr_text_skip(&rest, TR_TEXT("glGen")) || tr_text_skip(&rest, TR_TEXT("glCreate"))))
		return (struct tr_text){ NULL, 0 };
	return rest;
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
	flush(n, field->value.data + field->value.len);
	field->text = (struct tr_text){ NULL, n->text.len - from };
}

/*
 * Appends the text of a cell, or of any other string without quotes around it. As far as paths are
 * concerned, these are spelled alike.
 */
static void put_cell(struct tr_normal *n, struct tr_text cell, bool first)
{
	const char *p = cell.data, *end = p + cell.len;

	n->copied = p;
	for (p = put_string(n, p, end, first); p < end;)
		p = put_string(n, p + 1, end, first);
}

/*
 * Reads the name and its hash. Returns its normal text, which begins the buffer unless nothing was
 * replaced in it.
 */
static struct tr_text read_name(struct tr_normal *n, bool first)
{
	if (n->rules->ignored_count && is_left_out(n, TR_TEXT("name"))) {
		n->name_hash = n->kind_hash;
		return TR_TEXT("");
	}
	struct tr_text text = n->name;
	if (skip_plain(n, text.data, text.data + text.len, first) == text.data + text.len) {
		n->name_hash = tr_text_hash(n->kind_hash, text);
		return text;
	}
	put_cell(n, text, first);
	if (n->text.len || n->copied != n->name.data) {
		flush(n, n->name.data + n->name.len);
		text = tr_buffer_text(&n->text);
	}
	n->name_hash = tr_text_hash(n->kind_hash, text);
	return text;
}

/* Finds out which values of a system call a run chooses. */
static inline void set_call(struct tr_normal *n)
{
	n->in_process = n->known->class == TR_DIFF_PROCESS;
	n->call = NULL;
	if (!n->in_process)
		return;
	uint64_t name = tr_text_hash(n->rules->seed, n->name);
	struct tr_normal_call *before = &n->calls[name % TR_NORMAL_CALLS];
	if (before->name != name)
		*before = (struct tr_normal_call){ name, tr_run_call(n->name) };
	n->call = before->call;
}

/* Reads the column at p, which is not empty, and returns its end. */
static const char *put_field(struct tr_normal *n, const char *p, const char *end, bool first,
			     struct tr_text made, bool *result)
{
	struct tr_text column = { p, 0 };

	while (*p != '=' && *p != '\t' && *p != '\n')
		p++;
	struct tr_text key = tr_text_span(column.data, p);
	bool has_value = *p == '=';
	if (!has_value && tr_text_is(key, "->")) {
		*result = true;
		return p;
	}
	const char *value = has_value ? p + 1 : key.data;
	struct tr_normal_field *field = is_left_out(n, key) ? NULL : new_field(n);
	if (!field) {
		const char *tab = memchr(p, '\t', (size_t)(end - p));
		p = tab ? tab : end;
		if (n->known->module.data && tr_text_equal(key, n->known->module))
			n->module = tr_text_span(value, p);
		else if (tr_text_is(key, "dur"))
			n->spent = tr_text_span(value, p);
		else if (tr_text_is(key, "parent"))
			n->parent = tr_text_span(value, p);
		else if (tr_text_is(key, "child"))
			n->child = tr_text_span(value, p);
		return p;
	}
	size_t from = n->text.len;
	field->key = key;
	field->result = *result;
	field->names = n->name_count;
	n->copied = value;
	uint64_t class = 0;
	if (n->in_process)
		class = class_of(n, key, value);
	else if (value < end && (made.data || n->objects.count))
		class = objects_in(n, field, *value, made);
	if (class == READING) {
		p = memchr(value, '\t', (size_t)(end - value));
		n->copied = p = p ? p : end;
		tr_buffer_put_byte(&n->text, '*');
	} else {
		p = put_value(n, key, value, end, class, first);
	}
	field->value = tr_text_span(value, p);
	set_text(n, field, from);
	return p;
}

/* Prepares for the next record. */
static inline void begin(struct tr_normal *n, bool in_order)
{
	n->in_order = in_order;
	n->table = NULL;
	n->count = n->name_count = n->opened = 0;
	n->module.data = n->spent.data = n->parent.data = n->child.data = NULL;
	if (n->text.len)
		tr_buffer_reset(&n->text);
}

/* Orders fields by key, and those of one key as in the record. */
static int by_key(const void *left, const void *right, void *context)
{
	const struct tr_normal_field *fields = context;
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
	int order = tr_text_compare(fields[a].key, fields[b].key);

	return order ? order : a < b ? -1 : 1;
}

/* Sorts the fields of a record for tr_normal_partner. False: memory is exhausted. */
static bool sort_fields(struct tr_normal *n)
{
	if (n->order_cap < n->count &&
	    !tr_array_grow(&n->order, &n->order_cap, n->count, sizeof *n->order))
		return false;
	for (size_t i = 0; i < n->count; i++)
		n->order[i] = (uint32_t)i;
	qsort_r(n->order, n->count, sizeof *n->order, by_key, n->fields);
	for (size_t i = 0; i < n->count; i++) {
		struct tr_normal_field *field = &n->fields[n->order[i]];
		const struct tr_normal_field *last = i ? &n->fields[n->order[i - 1]] : NULL;
		field->same = last && tr_text_equal(last->key, field->key) ? last->same + 1 : 0;
	}
	n->sorted = n->count;
	return true;
}

bool tr_normal_read(struct tr_normal *n, struct tr_text line, bool first)
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
	if (!name)
		return false;
	name->key = TR_TEXT("name");
	name->value = n->name;
	name->text = read_name(n, first);
	set_call(n);
	if (n->text.len)
		name->text.data = NULL; /* see set_text */
	struct tr_text made = made_by(n);
	while (p < end && !n->failed) {
		p = put_field(n, p, end, first, made, &result);
		p += p < end;
	}
	n->failed |= n->text.failed;
	const char *text = tr_buffer_text(&n->text).data;
	for (size_t i = 0; i < n->count; i++) {
		if (n->fields[i].text.data)
			continue;
		n->fields[i].text.data = text;
		text += n->fields[i].text.len;
	}
	n->failed |= !sort_fields(n);
	return !n->failed;
}

/* A hash of the variables of a map in any order: an environment has none. */
static uint64_t hash_map(uint64_t seed, struct tr_text map)
{
	const char *p = map.data + 1, *end = map.data + map.len - 1, *begin = p;
	uint64_t sum = 0;

	while (p < end) {
		if (*p == ',') {
			sum += tr_text_hash(seed, tr_text_span(begin, p));
			begin = p + 1;
		}
		p = *p == '"' ? tr_normal_string_end(p, end) : p + 1;
	}
	return sum + tr_text_hash(seed, tr_text_span(begin, end));
}

/*
 * The memo of columns, whose hash is set; it can be that of others, which had this place before. What
 * a column means can depend on the call.
 */
static struct tr_normal_memo *find_memo(struct tr_normal *n, uint64_t seed, struct tr_text columns,
					uint64_t *hash)
{
	*hash = tr_text_hash(n->call ? tr_number_hash(seed, (uintptr_t)n->call) : seed, columns);
	return &n->memo[*hash % MEMOS];
}

/*
 * The hash of the field that was read last, from a column with that hash. Its normal text begins
 * there in the buffer, and its hash is that of a column that is spelled so.
 */
static uint64_t hash_field(struct tr_normal *n, const struct tr_normal_field *field, size_t from,
			   uint64_t column)
{
	struct tr_text text = field->text;

	if (!text.data)
		text.data = n->text.data + from;
	if (text.len > 1 && *text.data == '{' &&
	    (tr_text_starts(field->key, TR_TEXT("env")) || tr_text_is(field->key, "vars")))
		return tr_number_hash(tr_text_hash(n->kind_hash, field->key),
				      hash_map(n->rules->seed, text));
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

/* What tr_normal_hash learns from the fields of a record, besides their hashes. */
struct columns {
	struct tr_text made; /* see made_by */
	bool result;	     /* "->" was one of them */
	bool constant;	     /* the same text always contains the same */
	bool any;	     /* there was a field that is compared */
	uint64_t hash, path;
};

/* Adds a column of a line with that end. */
static void hash_column(struct tr_normal *n, struct tr_text column, const char *end, bool first,
			struct columns *columns)
{
	enum { SHORT = 24 };
	struct tr_normal_memo *memo = NULL;
	size_t from = n->text.len, names = n->name_count;
	uint64_t text = 0, hash;

	if (tr_text_is(column, "->")) {
		columns->result = true;
		columns->hash = tr_number_hash(columns->hash, 1);
		return;
	}
	if (column.len >= SHORT && !columns->made.data)
		memo = find_memo(n, n->kind_hash, column, &text);
	if (memo && memo->columns == text) {
		hash = memo->hash;
	} else {
		n->count = 0;
		put_field(n, column.data, end, first, columns->made, &columns->result);
		if (n->failed || n->text.failed)
			return;
		if (!n->count) { /* it is left out */
			columns->constant &= n->module.data > column.data &&
					     n->module.data <= column.data + column.len;
			return;
		}
		uint64_t plain = text;
		if ((!memo || n->call) && n->fields->text.data)
			plain = tr_text_hash(n->kind_hash, column);
		hash = hash_field(n, n->fields, from, plain);
		bool constant = n->name_count == names;
		columns->constant &= constant;
		if (memo && constant)
			*memo = (struct tr_normal_memo){ .columns = text, .hash = hash };
	}
	for (const struct tr_text *key = n->known->keys; key && key->data; key++) {
		if ((n->known->class == TR_DIFF_SET || !columns->any) &&
		    tr_text_starts(column, *key))
			columns->path = tr_number_hash(columns->path, hash);
	}
	/* the directory of a file comes before it */
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

/* A thread has the descriptors of its parent; those of a task that ended are forgotten. */
static void follow_task(struct tr_normal *n, struct tr_text fields)
{
	static const char shared[] = "CLONE_FILES";
	uint64_t seed = n->rules->seed;

	if (n->known->class == TR_DIFF_EXIT)
		tr_open_files_end(&n->files, tr_text_hash(seed, n->task));
	else if (n->in_process && n->child.data &&
		 memmem(fields.data, fields.len, shared, sizeof shared - 1))
		n->failed |= !tr_open_files_share(&n->files, tr_text_hash(seed, n->task),
						  tr_text_hash(seed, n->child));
}

bool tr_normal_hash(struct tr_normal *n, const struct tr_record *record, struct tr_text line,
		    bool first)
{
	enum { LONG = 128 };
	const char *end = line.data + line.len - 1;

	if (!n->memo && !(n->memo = calloc(MEMOS, sizeof *n->memo)))
		return false;
	const char *p = line.data + record->kind.len + 1;
	begin(n, true);
	set_kind(n, (struct tr_text){ line.data, record->kind.len });
	n->seq = cell_column(&record->seq, &p);
	n->time = cell_column(&record->time, &p);
	n->task = cell_column(&record->task, &p);
	n->name = cell_column(&record->name, &p);
	p = p < end ? p : end; /* there may be no fields */
	/* nothing is replaced in a number, but by the user */
	if (record->name.type == TR_CELL_TEXT || n->rules->ignored_count || n->rules->replace)
		read_name(n, first);
	else
		n->name_hash = tr_text_hash(n->kind_hash, n->name);
	set_call(n);
	struct tr_text rest = tr_text_span(p, end);
	struct columns columns = { .made = made_by(n), .constant = true, .hash = n->kind_hash };
	struct tr_normal_memo *memo = NULL;
	uint64_t text = 0;
	if (rest.len <= LONG && !columns.made.data)
		/* one column alone has another memo than among others */
		memo = find_memo(n, ~n->kind_hash, rest, &text);
	if (memo && memo->columns == text) {
		columns.hash = memo->hash;
		columns.path = memo->path;
		if (memo->module)
			n->module = (struct tr_text){ p + memo->module, memo->module_len };
		p = end;
	}
	struct tr_tabs tabs = tr_tabs_begin(line.data, p, end);
	while (p < end && !n->failed)
		hash_column(n, next_column(&tabs, &p), end, first, &columns);
	if (memo && memo->columns != text && columns.constant && !n->failed)
		*memo = (struct tr_normal_memo){
			.columns = text,
			.hash = columns.hash,
			.path = columns.path,
			.module = n->module.data ? (uint32_t)(n->module.data - rest.data) : 0,
			.module_len = n->module.data ? (uint32_t)n->module.len : 0,
		};
	n->content = tr_number_hash(n->name_hash, columns.hash);
	n->path = columns.path;
	/* a pipe has no path, by which it would be known */
	if (n->opened && n->path)
		n->names[n->opened - 1].hash |= TR_RUN_NAME_OPENED;
	follow_task(n, rest);
	return !n->failed && !n->text.failed;
}

struct tr_text tr_normal_string(struct tr_normal *n, struct tr_text string, bool first)
{
	begin(n, false);
	put_cell(n, string, first);
	flush(n, string.data + string.len);
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

const struct tr_normal_field *tr_normal_partner(const struct tr_normal *from, size_t index,
						const struct tr_normal *to)
{
	const struct tr_normal_field *field = &from->fields[index];
	size_t low = 0, high = to->sorted;

	/* those that were added are few */
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
	tr_open_files_free(&n->files);
	*n = (struct tr_normal){ .rules = NULL };
}
