/* SPDX-License-Identifier: MIT */
/*
 * Stack frames, which -k prints on lines after a call or signal, the innermost first:
 *
 *	 > /usr/lib/libc.so.6(__write+0x14) [0xf8ef4]		offsets in the function and in the file
 *	 > /srv/prog() [0x1139]					no symbol
 *	 > /srv/prog(main+0x12) [0x1149] /srv/prog.c:7		-kk
 *	 > unexpected_backtracing_error [0x7f0000000000]
 *
 * The line before is kept until the last of its frames was read. Each frame that is new becomes a
 * definition before the record of that line, which lists them as .bt.
 */
#include "format/strace/strace.h"

#include <stdlib.h>

#include "record/literal.h"

/* How many frames are remembered; after that, all are forgotten and get new ids. */
enum { FRAMES = 1 << 16 };

bool tr_strace_may_have_frames(const struct tr_strace_reader *reader)
{
	return tr_strace_frame_mark(reader->base.in->pos, reader->base.in->end);
}

void tr_strace_keep_line(struct tr_strace_reader *reader, struct tr_text line)
{
	struct tr_strace_stack *stack = &reader->stack;

	tr_buffer_reset(&stack->line);
	tr_buffer_put_text(&stack->line, line);
	reader->out_of_memory |= stack->line.failed;
	stack->source_line = reader->here.line;
	stack->source_offset = reader->here.offset;
	stack->kept = true;
}

/* Takes a hexadecimal number that ends the text, after a prefix. False: it ends otherwise. */
static bool chop_number(struct tr_text *text, const char *prefix, uint64_t *number)
{
	size_t len = strlen(prefix), digits = 0;

	while (digits < text->len && digits <= 16 &&
	       memchr("0123456789abcdef", text->data[text->len - 1 - digits], 16))
		digits++;
	if (!digits || digits > 16 || text->len < len + digits ||
	    memcmp(text->data + text->len - digits - len, prefix, len) != 0)
		return false;
	*number = strtoull(text->data + text->len - digits, NULL, 16);
	text->len -= digits + len;
	return true;
}

/* Takes the source line of -kk, which follows the address: " FILE:LINE". */
static bool chop_place(struct tr_text *text, struct tr_text *file, unsigned long long *line)
{
	const char *bracket = memrchr(text->data, ']', text->len);
	const char *end = text->data + text->len;
	const char *colon = bracket ? memrchr(bracket, ':', (size_t)(end - bracket)) : NULL;

	if (!colon || bracket[1] != ' ' || colon == bracket + 2)
		return false;
	const char *p = colon + 1;
	if (!tr_strace_digits(&p, end, line) || p != end)
		return false;
	*file = tr_text_span(bracket + 2, colon);
	text->len = (size_t)(bracket + 1 - text->data);
	return true;
}

/* Returns the '(' that belongs to the ')' at the end; names of C++ contain others. NULL: none. */
static const char *opening(struct tr_text text)
{
	unsigned depth = 0;

	for (const char *p = text.data + text.len; p-- > text.data;) {
		depth += *p == ')';
		if (*p == '(' && --depth == 0)
			return p;
	}
	return NULL;
}

static void put_string(struct tr_buffer *to, const char *key, struct tr_text text)
{
	tr_buffer_put_text(to, tr_text_from(key));
	tr_string_quote(text, to);
}

static void put_frame(struct tr_buffer *to, struct tr_text text)
{
	struct tr_text all = text, file = TR_TEXT("");
	unsigned long long line = 0;
	uint64_t in_file, in_function = 0;
	bool has_place = chop_place(&text, &file, &line);
	bool has_address =
		tr_strace_chop(&text, TR_TEXT("]")) && chop_number(&text, " [0x", &in_file);
	const char *open =
		has_address && text.len && text.data[text.len - 1] == ')' ? opening(text) : NULL;
	struct tr_text symbol =
		open ? tr_text_span(open + 1, text.data + text.len - 1) : TR_TEXT("");
	bool has_symbol = symbol.len > 0;

	if (!open || open == text.data ||
	    (has_symbol && (!chop_number(&symbol, "+0x", &in_function) || !symbol.len))) {
		put_string(to, "\terror=", all);
		return;
	}
	put_string(to, "\tmodule=", tr_text_span(text.data, open));
	if (has_symbol)
		put_string(to, "\tfunction=", symbol);
	if (has_place) {
		put_string(to, "\tfile=", file);
		tr_buffer_put_literal(to, "\tline=");
		tr_buffer_put_decimal(to, line);
	}
	if (has_symbol) {
		tr_buffer_put_literal(to, "\toffset=");
		tr_buffer_put_decimal(to, in_function);
	}
	tr_buffer_put_literal(to, "\tfile_offset=");
	tr_buffer_put_decimal(to, in_file);
}

/* Returns the id of a frame, which is defined if it is new. 0: memory is exhausted. */
static uint64_t define(struct tr_strace_reader *reader, struct tr_text text)
{
	struct tr_strace_stack *stack = &reader->stack;
	const uint64_t *known = tr_map_get(&stack->ids, text);

	if (known)
		return *known;
	if (stack->ids.count >= FRAMES) {
		tr_map_clear(&stack->ids);
		tr_arena_reset(&stack->memory);
	}
	struct tr_text key = tr_arena_copy(&stack->memory, text);
	uint64_t *id = tr_arena_alloc(&stack->memory, sizeof *id);
	if (!key.data || !id || !tr_map_put(&stack->ids, key, id))
		return 0;
	*id = ++stack->last_id;
	struct tr_buffer *to = &reader->out.head;
	tr_buffer_reset(to);
	tr_buffer_put_literal(to, "%frame\tK");
	tr_buffer_put_decimal(to, *id);
	tr_buffer_put_literal(to, "\t-");
	put_frame(to, text);
	reader->out.from = &reader->here;
	tr_strace_emit(reader, NULL, 0);
	return *id;
}

bool tr_strace_add_frame(struct tr_strace_reader *reader, struct tr_text text)
{
	struct tr_strace_stack *stack = &reader->stack;
	struct tr_strace_line line;

	tr_strace_line_read(text, &line);
	if (line.type != TR_STRACE_FRAME || !line.arguments.len)
		return false;
	uint64_t id = define(reader, line.arguments);
	tr_buffer_put_text(&stack->list, stack->list.len ? TR_TEXT(",K") : TR_TEXT("K"));
	tr_buffer_put_decimal(&stack->list, id);
	reader->out_of_memory |= !id || stack->list.failed;
	return true;
}

void tr_strace_put_frames(struct tr_strace_reader *reader, const struct tr_strace_done *call)
{
	struct tr_buffer *to = &reader->out.head, *list = &reader->stack.list;
	bool abandoned = call && !call->result && call->from != &reader->here;

	if (!list->len || abandoned)
		return;
	tr_buffer_put_literal(to, "\t.bt=[");
	tr_buffer_put_text(to, tr_buffer_text(list));
	tr_buffer_put_byte(to, ']');
	tr_buffer_reset(list);
}

void tr_strace_stack_free(struct tr_strace_stack *stack)
{
	tr_buffer_free(&stack->line);
	tr_buffer_free(&stack->list);
	tr_map_free(&stack->ids);
	tr_arena_free(&stack->memory);
}
