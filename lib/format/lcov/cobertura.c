/* SPDX-License-Identifier: MIT */
/*
 * Writes Cobertura's XML: a package for each directory, with a class for each source file.
 *
 *	coverage > sources > source		the directory that all files are below
 *	         > packages > package > classes > class > methods > method > lines > line
 *	                                                > lines > line > conditions > condition
 *
 * A condition is a branch; its coverage is the share of its outcomes that happened. The lines of a
 * method are those up to the next function. complexity is 0, because a trace does not contain it.
 *
 * Source: Cobertura's coverage-04.dtd.
 */
#include "format/lcov/lcov.h"

#include <stdlib.h>
#include <string.h>

#include "core/utf8.h"

/* Appends text of an attribute or element. What XML cannot contain becomes U+FFFD. */
static void put_text(struct tr_buffer *to, struct tr_text text)
{
	const char *p = text.data, *end = p + text.len;
	while (p < end) {
		unsigned length = tr_utf8_length(p, end);
		uint32_t code = length ? tr_utf8_decode(p, length) : 0;
		/* XML has no surrogates, and no U+FFFE and U+FFFF */
		bool legal = code >= 0x20 && code != 0xfffe && code != 0xffff;
		if (code == '&')
			tr_buffer_put_literal(to, "&amp;");
		else if (code == '<')
			tr_buffer_put_literal(to, "&lt;");
		else if (code == '>')
			tr_buffer_put_literal(to, "&gt;");
		else if (code == '"')
			tr_buffer_put_literal(to, "&quot;");
		else if (legal)
			tr_buffer_put(to, p, length);
		else
			tr_buffer_put_literal(to, "\xef\xbf\xbd");
		p += length ? length : 1;
	}
}

/* Appends an attribute. */
static void put_attribute(struct tr_buffer *to, const char *name, struct tr_text value)
{
	tr_buffer_put_byte(to, ' ');
	tr_buffer_put_text(to, tr_text_from(name));
	tr_buffer_put_literal(to, "=\"");
	put_text(to, value);
	tr_buffer_put_byte(to, '"');
}

/* Appends an attribute with a number. */
static void put_number(struct tr_buffer *to, const char *name, uint64_t number)
{
	char digits[24];
	put_attribute(to, name, (struct tr_text){ digits, tr_decimal_write(number, digits) });
}

/* Appends an attribute with a share, from 0 to 1 in four digits. 0 of 0 counts as 1. */
static void put_rate(struct tr_buffer *to, const char *name, const struct tr_source_share *share)
{
	enum { ONE = 10000 };
	unsigned rate = share->all ? (unsigned)(share->hit * ONE / share->all) : ONE;
	char text[] = "0.0000";
	text[0] = rate == ONE ? '1' : '0';
	for (int i = 5; i > 1; i--, rate /= 10)
		text[i] = (char)('0' + rate % 10);
	put_attribute(to, name, tr_text_from(text));
}

/* Appends the rates that most elements have. */
static void put_rates(struct tr_buffer *to, const struct tr_source_shares *shares)
{
	put_rate(to, "line-rate", &shares->lines);
	put_rate(to, "branch-rate", &shares->branches);
	put_attribute(to, "complexity", TR_TEXT("0"));
}

/* Appends the share of outcomes as a percentage, rounded down. */
static void put_percentage(struct tr_buffer *to, uint64_t hit, uint64_t all)
{
	tr_buffer_put_decimal(to, 100 * hit / all);
	tr_buffer_put_byte(to, '%');
}

/* Appends a line with its conditions: the branches from `first` up to `end`. */
static void put_line(struct tr_buffer *to, const struct tr_source_line *line,
		     const struct tr_source_branch *branches, size_t first, size_t end)
{
	uint64_t all = end - first, hit = 0, number = 0;
	tr_buffer_put_literal(to, "<line");
	put_number(to, "number", line->line);
	put_number(to, "hits", line->count);
	for (size_t i = first; i < end; i++)
		hit += branches[i].count != 0;
	put_attribute(to, "branch", all ? TR_TEXT("true") : TR_TEXT("false"));
	if (!all) {
		tr_buffer_put_literal(to, "/>\n");
		return;
	}
	tr_buffer_put_literal(to, " condition-coverage=\"");
	put_percentage(to, hit, all);
	tr_buffer_put_literal(to, " (");
	tr_buffer_put_decimal(to, hit);
	tr_buffer_put_byte(to, '/');
	tr_buffer_put_decimal(to, all);
	tr_buffer_put_literal(to, ")\"><conditions>");
	for (size_t i = first, next; i < end; i = next, number++) {
		hit = 0;
		for (next = i; next < end && branches[next].block == branches[i].block; next++)
			hit += branches[next].count != 0;
		tr_buffer_put_literal(to, "<condition");
		put_number(to, "number", number);
		put_attribute(to, "type", TR_TEXT("jump"));
		tr_buffer_put_literal(to, " coverage=\"");
		put_percentage(to, hit, next - i);
		tr_buffer_put_literal(to, "\"/>");
	}
	tr_buffer_put_literal(to, "</conditions></line>\n");
}

/* Appends the lines of a file from `from` up to, but not including, `until`. */
static void put_lines(struct tr_buffer *to, const struct tr_source_file *file, uint64_t from,
		      uint64_t until)
{
	const struct tr_source_lines *lines = &file->lines;
	const struct tr_source_branch *branches = file->branches.list;
	size_t line = tr_array_search(i, 0, lines->count, lines->list[i].line < from);
	size_t branch = tr_array_search(i, 0, file->branches.count, branches[i].line < from);
	tr_buffer_put_literal(to, "<lines>\n");
	for (; line < lines->count && lines->list[line].line < until; line++) {
		uint32_t number = lines->list[line].line;
		while (branch < file->branches.count && branches[branch].line < number)
			branch++;
		size_t first = branch;
		while (branch < file->branches.count && branches[branch].line == number)
			branch++;
		put_line(to, &lines->list[line], branches, first, branch);
	}
	tr_buffer_put_literal(to, "</lines>\n");
}

/* Appends the functions of a file. */
static void put_methods(struct tr_buffer *to, const struct tr_source_file *file)
{
	const struct tr_source_functions *functions = &file->functions;
	tr_buffer_put_literal(to, "<methods>\n");
	for (size_t i = 0; i < functions->count; i++) {
		const struct tr_source_function *function = &functions->list[i];
		struct tr_source_shares shares = tr_source_function_share(file, i);
		tr_buffer_put_literal(to, "<method");
		put_attribute(to, "name", function->name);
		put_attribute(to, "signature", TR_TEXT(""));
		put_rates(to, &shares);
		tr_buffer_put_literal(to, ">");
		put_lines(to, file, function->line, tr_source_function_end(file, i));
		tr_buffer_put_literal(to, "</method>\n");
	}
	tr_buffer_put_literal(to, "</methods>\n");
}

/* Returns the directory of a path, without the slash after it. */
static struct tr_text directory_of(struct tr_text path)
{
	const char *slash = memrchr(path.data, '/', path.len);
	return (struct tr_text){ path.data, slash ? (size_t)(slash - path.data) : 0 };
}

/* Returns the part of a path that follows the root. */
static struct tr_text below(struct tr_text path, struct tr_text root)
{
	if (tr_text_starts(path, root) && path.len > root.len && path.data[root.len] == '/')
		return (struct tr_text){ path.data + root.len + 1, path.len - root.len - 1 };
	return path;
}

/* Appends the class of a file. */
static void put_class(struct tr_buffer *to, const struct tr_source_file *file, struct tr_text root)
{
	struct tr_source_shares shares = { .lines = { 0, 0 } };
	struct tr_text directory = directory_of(file->path), name = below(file->path, directory);
	tr_source_file_count(file, &shares);
	tr_buffer_put_literal(to, "<class");
	put_attribute(to, "name", name);
	put_attribute(to, "filename", below(file->path, root));
	put_rates(to, &shares);
	tr_buffer_put_literal(to, ">\n");
	put_methods(to, file);
	put_lines(to, file, 0, UINT64_MAX);
	tr_buffer_put_literal(to, "</class>\n");
}

/* Appends the beginning of a package, whose files are from `first` to `end`. */
static void begin_package(struct tr_buffer *to, const struct tr_sources *sources, size_t first,
			  size_t end, struct tr_text root)
{
	struct tr_source_shares shares = { .lines = { 0, 0 } };
	struct tr_text name = below(directory_of(sources->list[first]->path), root);
	for (size_t i = first; i < end; i++)
		tr_source_file_count(sources->list[i], &shares);
	if (tr_text_equal(name, root))
		name = TR_TEXT(".");
	tr_buffer_put_literal(to, "<package");
	put_attribute(to, "name", name);
	put_rates(to, &shares);
	tr_buffer_put_literal(to, "><classes>\n");
}

/* Returns the longest directory that all files are below. */
static struct tr_text common_root(const struct tr_sources *sources)
{
	struct tr_text root = sources->count ? directory_of(sources->list[0]->path) : TR_TEXT("");
	for (size_t i = 1; i < sources->count; i++) {
		struct tr_text path = sources->list[i]->path;
		while (root.len && (!tr_text_starts(path, root) || path.len == root.len ||
				    path.data[root.len] != '/'))
			root = directory_of(root);
	}
	return root;
}

/* Writes the head, with the figures of all files. */
static void put_head(struct tr_buffer *to, const struct tr_sources *sources,
		     const struct tr_settings *settings, struct tr_text root)
{
	struct tr_source_shares all = { .lines = { 0, 0 } };
	for (size_t i = 0; i < sources->count; i++)
		tr_source_file_count(sources->list[i], &all);
	tr_buffer_put_literal(to, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
				  "<!DOCTYPE coverage SYSTEM "
				  "\"http://cobertura.sourceforge.net/xml/coverage-04.dtd\">\n"
				  "<coverage");
	put_rate(to, "line-rate", &all.lines);
	put_rate(to, "branch-rate", &all.branches);
	put_number(to, "lines-covered", all.lines.hit);
	put_number(to, "lines-valid", all.lines.all);
	put_number(to, "branches-covered", all.branches.hit);
	put_number(to, "branches-valid", all.branches.all);
	put_attribute(to, "complexity", TR_TEXT("0"));
	put_attribute(to, "version", TR_TEXT(PACKAGE_NAME " " PACKAGE_VERSION));
	put_attribute(to, "timestamp", tr_setting_get(settings, "timestamp", "0"));
	tr_buffer_put_literal(to, ">\n<sources><source>");
	put_text(to, root.len ? root : TR_TEXT("/"));
	tr_buffer_put_literal(to, "</source></sources>\n<packages>\n");
}

/* Sorts files by directory, so that each directory is one package. */
static int by_directory(const void *a, const void *b)
{
	const struct tr_source_file *const *x = a, *const *y = b;
	int order = tr_text_compare(directory_of((*x)->path), directory_of((*y)->path));
	return order ? order : tr_text_compare((*x)->path, (*y)->path);
}

/* Writes packages of files that are sorted by directory. */
static bool write_packages(const struct tr_sources *files, const struct tr_settings *settings,
			   struct tr_output *out)
{
	struct tr_buffer text = TR_BUFFER_INIT;
	struct tr_text root = tr_setting_get(settings, "root", "");
	while (root.len && root.data[root.len - 1] == '/')
		root.len--;
	root = root.len ? root : common_root(files);
	put_head(&text, files, settings, root);
	for (size_t i = 0, next; i < files->count && !text.failed; i = next) {
		struct tr_text directory = directory_of(files->list[i]->path);
		for (next = i; next < files->count &&
			       tr_text_equal(directory_of(files->list[next]->path), directory);)
			next++;
		begin_package(&text, files, i, next, root);
		for (; i < next && !text.failed; i++) {
			put_class(&text, files->list[i], root);
			if (!text.failed)
				tr_output_put_text(out, tr_buffer_text(&text));
			text.len = 0;
		}
		tr_buffer_put_literal(&text, "</classes></package>\n");
	}
	tr_buffer_put_literal(&text, "</packages>\n</coverage>\n");
	bool good = !text.failed;
	if (good)
		tr_output_put_text(out, tr_buffer_text(&text));
	tr_buffer_free(&text);
	return good;
}

/* Writes all files that have anything. */
static bool write_files(const struct tr_sources *sources, const struct tr_settings *settings,
			struct tr_output *out)
{
	struct tr_sources files = { .count = 0 };
	files.list = malloc((sources->count + 1) * sizeof(void *));
	if (!files.list)
		return false;
	for (size_t i = 0; i < sources->count; i++)
		if (tr_source_file_any(sources->list[i]))
			files.list[files.count++] = sources->list[i];
	qsort(files.list, files.count, sizeof(void *), by_directory);
	bool good = write_packages(&files, settings, out);
	free(files.list);
	return good;
}

static const struct tr_lcov_form form = {
	.format = "cobertura",
	.one_test = true,
	.branches_in_lines = true,
	.write = write_files,
};

/* Creates the writer. NULL: the time is not a number, or memory is exhausted. */
static struct tr_writer *create(const struct tr_write_config *config, struct tr_output *out,
				struct tr_error *err)
{
	uint64_t seconds;
	struct tr_text time = tr_setting_get(&config->settings, "timestamp", "0");
	if (!tr_decimal_read(time, UINT64_MAX, &seconds)) {
		tr_error_say(err, TR_CAUSE_USAGE,
			     "timestamp takes seconds since 1970, as date +%s prints them");
		return NULL;
	}
	return tr_lcov_writer(&form, config, out, err);
}

static const char *const extensions[] = { ".xml", NULL };

static const struct tr_format_option options[] = {
	TR_LCOV_OPTIONS,
	{ "root", "DIR", false, true,
	  "write file names relative to this directory (default: the longest that contains all "
	  "files)" },
	{ "timestamp", "SECONDS", false, true,
	  "time of the report in seconds since 1970 (default 0, so that output is reproducible)" },
	{ NULL, NULL, false, false, NULL },
};

const struct tr_format tr_format_cobertura = {
	.name = "cobertura",
	.summary = "Cobertura's XML: coverage by source line",
	.exact = "-",
	.flags = TR_FORMAT_WRITES | TR_FORMAT_MERGES,
	.extensions = extensions,
	.options = options,
	.create = create,
};
