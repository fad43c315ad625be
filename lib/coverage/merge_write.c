/* What was gathered as lines of the stream. */
#include <string.h>

#include "coverage/merge_private.h"

/* Columns up to the name. */
static void begin_line(struct tr_merge *merge, const char *kind)
{
	tr_buffer_put_text(&merge->text, tr_text_from(kind));
	tr_buffer_put_byte(&merge->text, '\t');
	tr_buffer_put_decimal(&merge->text, merge->seq++);
	tr_buffer_put_byte(&merge->text, '\t');
}

static void end_line(struct tr_merge *merge, struct tr_output *out)
{
	tr_output_put_text(out, tr_buffer_text(&merge->text));
	tr_output_record_end(out);
	merge->text.len = 0;
}

static void write_section(struct tr_merge *merge, const char *kind, struct tr_output *out)
{
	static const char *const keys[] = { "bits", "endian", "machine" };
	const struct tr_text values[] = { merge->section.bits, merge->section.endian,
					  merge->section.machine };

	begin_line(merge, "section");
	tr_buffer_put_literal(&merge->text, "-\t-\t");
	tr_buffer_put_text(&merge->text, tr_text_from(kind));
	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
		if (!values[i].len)
			continue;
		tr_buffer_put_byte(&merge->text, '\t');
		tr_buffer_put_text(&merge->text, tr_text_from(keys[i]));
		tr_buffer_put_byte(&merge->text, '=');
		tr_buffer_put_text(&merge->text, values[i]);
	}
	tr_buffer_put_byte(&merge->text, '\n');
	end_line(merge, out);
}

static void write_infos(struct tr_merge *merge, struct tr_output *out)
{
	struct tr_text left = tr_buffer_text(&merge->infos);

	while (left.len) {
		const char *end = left.data + left.len, *lf = memchr(left.data, '\n', left.len);
		begin_line(merge, "info");
		tr_buffer_put_text(&merge->text, tr_text_span(left.data, lf + 1));
		end_line(merge, out);
		left = tr_text_span(lf + 1, end);
	}
}

static void put_address(struct tr_merge *merge, uint64_t address)
{
	tr_buffer_put_literal(&merge->text, "-\t-\t0x");
	tr_buffer_put_hex(&merge->text, address, merge->digits);
}

/* base: what the addresses of an object are counted from. */
static void write_ranges(struct tr_merge *merge, const struct tr_ranges *ranges, uint64_t base,
			 struct tr_output *out)
{
	struct tr_ranges_position position = { 0, 0 };
	struct tr_range range;
	char op[TR_OP_SPELLED];

	while (tr_ranges_next(ranges, &position, &range)) {
		uint64_t address = base + range.first;
		begin_line(merge, "block");
		put_address(merge, merge->digits == 8 ? (uint32_t)address : address);
		tr_buffer_put_literal(&merge->text, "\tsize=");
		tr_buffer_put_decimal(&merge->text, range.last - range.first + 1);
		tr_buffer_put_literal(&merge->text, "\top=");
		tr_buffer_put(&merge->text, op, tr_op_spell(range.op, op));
		tr_buffer_put_byte(&merge->text, '\n');
		end_line(merge, out);
	}
}

static void write_object(struct tr_merge *merge, const struct tr_merge_object *object,
			 struct tr_output *out)
{
	struct tr_ranges_position position = { 0, 0 };
	struct tr_range range;

	if (!tr_ranges_next(object->ranges, &position, &range))
		return; /* nothing of it was executed, or kept */
	begin_line(merge, "load");
	put_address(merge, object->base);
	tr_buffer_put_byte(&merge->text, '\t');
	tr_buffer_put_text(&merge->text, object->key);
	end_line(merge, out);
	write_ranges(merge, object->ranges, object->base, out);
	begin_line(merge, "unload");
	put_address(merge, object->base);
	tr_buffer_put_byte(&merge->text, '\n');
	end_line(merge, out);
}

static void write_execution(struct tr_merge *merge, struct tr_output *out)
{
	tr_output_put_literal(out, "%trec\t1\tformat=gnatcov\n");
	if (merge->has_infos) {
		write_section(merge, "INFO", out);
		write_infos(merge, out);
		write_section(merge, "FLAT", out);
	}
	write_ranges(merge, merge->program, 0, out);
	for (size_t i = 0; i < merge->object_count; i++)
		write_object(merge, &merge->objects[i], out);
}

bool tr_merge_write(struct tr_merge *merge, uint64_t errors, bool truncated, struct tr_output *out)
{
	tr_buffer_reset(&merge->text);
	merge->seq = 0;
	if (merge->units && !tr_merge_units_write(merge->units, &merge->seq, out))
		return false;
	if (merge->modules && !tr_merge_modules_write(merge->modules, &merge->seq, out))
		return false;
	if (!merge->units && !merge->modules)
		write_execution(merge, out);
	tr_trailer_put(merge->seq, errors, truncated, &merge->text);
	tr_buffer_put_byte(&merge->text, '\n');
	end_line(merge, out);
	return !merge->text.failed;
}
