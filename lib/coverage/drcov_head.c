#include "coverage/drcov_head.h"


struct tr_text tr_drcov_next_line(struct tr_text *text)
{
	const char *lf = text->len ? memchr(text->data, '\n', text->len) : NULL;
	struct tr_text line = { text->data, lf ? (size_t)(lf - text->data) + 1 : text->len };
	text->data += line.len;
	text->len -= line.len;
	return line;
}

/* Steps over the word at the beginning, and blanks behind it. */
static bool take(struct tr_text *text, const char *word)
{
	struct tr_text start = tr_text_from(word);
	if (!tr_text_starts(*text, start))
		return false;
	text->data += start.len;
	text->len -= start.len;
	while (text->len && *text->data == ' ') {
		text->data++;
		text->len--;
	}
	return true;
}

static bool take_number(struct tr_text *text, uint64_t *number)
{
	uint64_t n = 0;
	size_t i = 0;
	for (; i < text->len; i++) {
		unsigned digit = (unsigned char)text->data[i] - (unsigned)'0';
		if (digit > 9)
			break;
		if (n > (UINT64_MAX - digit) / 10)
			return false;
		n = n * 10 + digit;
	}
	text->data += i;
	text->len -= i;
	*number = n;
	return i > 0;
}

/* "version 2, count 12" */
static bool versioned(struct tr_text text, uint64_t *version, uint64_t *count)
{
	return take(&text, "version") && take_number(&text, version) && take(&text, ",") &&
	       take(&text, "count") && take_number(&text, count) && text.len == 0;
}

static bool table_line(struct tr_drcov_head *head, struct tr_text text)
{
	struct tr_text number = text;
	if (versioned(text, &head->table, &head->count)) {
		head->has_table = head->table > 0;
	} else if (take_number(&number, &head->count) && number.len == 0) {
		head->table = 1;
		head->has_table = true;
	}
	return head->has_table;
}

bool tr_drcov_head_line(struct tr_drcov_head *head, struct tr_text line)
{
	struct tr_text text = tr_text_trimmed(line);
	if (!head->has_version) {
		head->has_version = take(&text, TR_DRCOV_VERSION) &&
				    take_number(&text, &head->version) && text.len == 0;
		return head->has_version;
	}
	if (!head->has_table && !head->flavor.data && take(&text, "DRCOV FLAVOR:")) {
		head->flavor = text;
		return true;
	}
	if (!head->has_table && take(&text, "Module Table:"))
		return table_line(head, text);
	if (head->has_table && !head->has_columns && take(&text, "Columns:")) {
		head->has_columns = tr_module_columns_parse(&head->columns, text);
		return head->has_columns;
	}
	return false;
}

bool tr_drcov_head_whole(const struct tr_drcov_head *head)
{
	return head->has_table && (head->table == 1 || head->has_columns);
}

void tr_drcov_head_supply(struct tr_drcov_head *head)
{
	if (!head->has_columns)
		tr_module_columns_of(&head->columns, head->table > 5 ? 5 : (unsigned)head->table,
				     false);
}

void tr_drcov_head_parse(struct tr_drcov_head *head, struct tr_text text)
{
	*head = (struct tr_drcov_head){ .has_version = false };
	while (text.len)
		(void)tr_drcov_head_line(head, tr_drcov_next_line(&text));
	tr_drcov_head_supply(head);
}

void tr_drcov_head_write(const struct tr_drcov_head *head, struct tr_buffer *to)
{
	tr_buffer_put_literal(to, TR_DRCOV_VERSION " ");
	tr_buffer_put_decimal(to, head->version);
	if (head->flavor.data) {
		tr_buffer_put_literal(to, "\nDRCOV FLAVOR: ");
		tr_buffer_put_text(to, head->flavor);
	}
	tr_buffer_put_literal(to, "\nModule Table: ");
	if (head->table > 1) {
		tr_buffer_put_literal(to, "version ");
		tr_buffer_put_decimal(to, head->table);
		tr_buffer_put_literal(to, ", count ");
	}
	tr_buffer_put_decimal(to, head->count);
	if (head->table > 1) {
		tr_buffer_put_literal(to, "\nColumns: ");
		tr_module_columns_write(&head->columns, to);
	}
	tr_buffer_put_byte(to, '\n');
}

bool tr_drcov_head_equal(const struct tr_drcov_head *a, const struct tr_drcov_head *b)
{
	return a->version == b->version && a->table == b->table && a->count == b->count &&
	       !a->flavor.data == !b->flavor.data && tr_text_equal(a->flavor, b->flavor) &&
	       tr_module_columns_equal(&a->columns, &b->columns);
}

bool tr_drcov_blocks_line(struct tr_text line, uint64_t *count)
{
	struct tr_text text = tr_text_trimmed(line);
	return take(&text, "BB Table:") && take_number(&text, count) && take(&text, " ") &&
	       tr_text_is(text, "bbs");
}

void tr_drcov_blocks_write(uint64_t count, bool text, struct tr_buffer *to)
{
	tr_buffer_put_literal(to, "BB Table: ");
	tr_buffer_put_decimal(to, count);
	tr_buffer_put_literal(to, " bbs\n");
	if (text)
		tr_buffer_put_literal(to, TR_DRCOV_TEXT_LINE "\n");
}

bool tr_drcov_hits_line(struct tr_text line, uint64_t *count)
{
	struct tr_text text = tr_text_trimmed(line);
	uint64_t version;
	return take(&text, "Hit Count Table:") && versioned(text, &version, count) && version == 1;
}

void tr_drcov_hits_write(uint64_t count, struct tr_buffer *to)
{
	tr_buffer_put_literal(to, "Hit Count Table: version 1, count ");
	tr_buffer_put_decimal(to, count);
	tr_buffer_put_byte(to, '\n');
}
