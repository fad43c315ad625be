#include "coverage/module_columns.h"

static const char *const names[TR_MODULE_OTHER] = {
	[TR_MODULE_ID] = "id",
	[TR_MODULE_CONTAINING_ID] = "containing_id",
	[TR_MODULE_BASE] = "base",
	[TR_MODULE_END] = "end",
	[TR_MODULE_ENTRY] = "entry",
	[TR_MODULE_OFFSET] = "offset",
	[TR_MODULE_PREFERRED_BASE] = "preferred_base",
	[TR_MODULE_CHECKSUM] = "checksum",
	[TR_MODULE_TIMESTAMP] = "timestamp",
	[TR_MODULE_SIZE] = "size",
	[TR_MODULE_PATH] = "path",
};

static enum tr_module_column kind_of(struct tr_text name)
{
	if (tr_text_is(name, "start"))
		return TR_MODULE_BASE;
	for (unsigned i = 0; i < TR_MODULE_OTHER; i++)
		if (tr_text_is(name, names[i]))
			return (enum tr_module_column)i;
	return TR_MODULE_OTHER;
}

bool tr_module_columns_add(struct tr_module_columns *columns, struct tr_text name)
{
	enum tr_module_column kind = kind_of(name);
	size_t used = columns->count ? columns->ends[columns->count - 1] : 0;
	if (columns->count == TR_MODULE_COLUMNS || name.len > sizeof columns->text - used)
		return false;
	for (size_t i = 0; i < columns->count; i++)
		if (kind == TR_MODULE_OTHER ? tr_text_equal(tr_module_column_name(columns, i), name)
					    : columns->kinds[i] == kind)
			return false;
	if (name.len)
		memcpy(columns->text + used, name.data, name.len);
	columns->ends[columns->count] = (uint16_t)(used + name.len);
	columns->kinds[columns->count++] = kind;
	return true;
}

bool tr_module_columns_parse(struct tr_module_columns *columns, struct tr_text list)
{
	const char *p = list.data, *end = p + list.len;
	columns->count = 0;
	while (p < end) {
		const char *comma = memchr(p, ',', (size_t)(end - p));
		const char *stop = comma ? comma : end;
		if (!tr_module_columns_add(columns, tr_text_trimmed(tr_text_span(p, stop))))
			return false;
		p = comma ? comma + 1 : end;
	}
	return columns->count > 0;
}

void tr_module_columns_of(struct tr_module_columns *columns, unsigned table, bool windows)
{
	static const char *const lists[] = {
		"id, size, path",
		"id, base, end, entry, path",
		"id, containing_id, start, end, entry, path",
		"id, containing_id, start, end, entry, offset, path",
		"id, containing_id, start, end, entry, offset, preferred_base, path",
	};
	table = table < 1 ? 1 : table > 5 ? 5 : table;
	(void)tr_module_columns_parse(columns, tr_text_from(lists[table - 1]));
	if (!windows || table == 1)
		return;
	columns->count--; /* they stand before the path */
	(void)tr_module_columns_add(columns, TR_TEXT("checksum"));
	(void)tr_module_columns_add(columns, TR_TEXT("timestamp"));
	(void)tr_module_columns_add(columns, TR_TEXT("path"));
}

bool tr_module_columns_have(const struct tr_module_columns *columns, enum tr_module_column kind)
{
	for (size_t i = 0; i < columns->count; i++)
		if (columns->kinds[i] == kind)
			return true;
	return false;
}

bool tr_module_columns_equal(const struct tr_module_columns *a, const struct tr_module_columns *b)
{
	bool equal = a->count == b->count;
	for (size_t i = 0; equal && i < a->count; i++)
		equal = tr_text_equal(tr_module_column_name(a, i), tr_module_column_name(b, i));
	return equal;
}

void tr_module_columns_write(const struct tr_module_columns *columns, struct tr_buffer *to)
{
	for (size_t i = 0; i < columns->count; i++) {
		if (i)
			tr_buffer_put_literal(to, ", ");
		tr_buffer_put_text(to, tr_module_column_name(columns, i));
	}
}
