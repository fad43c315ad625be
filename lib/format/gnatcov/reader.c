/* SPDX-License-Identifier: MIT */
/* From one unit to the next: headers, information, entries, and the way back
 * into step. */

#include "format/gnatcov/reader.h"

#include <stdlib.h>

#include "core/wire.h"

struct tr_reader *tr_gnatcov_open(const struct tr_read_config *config, struct tr_input *in,
				  struct tr_error *err)
{
	struct tr_gnatcov_reader *reader = calloc(1, sizeof *reader);

	(void)config;
	if (reader)
		reader->ops = tr_op_values_new();
	if (!reader || !reader->ops) {
		free(reader);
		tr_error_memory(err);
		return NULL;
	}
	reader->in = in;
	reader->told_at = TR_NO_POSITION;
	tr_block_record_init(&reader->block, reader->ops, &reader->arena);
	return (struct tr_reader *)reader;
}

void tr_gnatcov_close(struct tr_reader *base)
{
	struct tr_gnatcov_reader *reader = (struct tr_gnatcov_reader *)base;

	tr_objects_free(&reader->objects);
	tr_arena_free(&reader->arena);
	tr_buffer_free(&reader->text);
	free(reader->ops);
	free(reader);
}

/* A section of entries is over. */
static enum tr_status end_of_entries(struct tr_gnatcov_reader *reader, enum tr_gnatcov_state state,
				     struct tr_error *err)
{
	reader->state = state;
	if (!reader->kernel || reader->loaded || reader->in->damaged)
		return TR_END;
	tr_error_set(err, TR_CAUSE_INPUT,
		     "the information names a kernel, but there is no load entry for it");
	err->severity = TR_FLAW;
	tr_error_at_offset(err, reader->in->offset);
	return TR_WARN;
}

/* What is left is no whole entry. */
static enum tr_status last_bytes(struct tr_gnatcov_reader *reader, size_t size,
				 struct tr_error *err)
{
	const struct tr_input *in = reader->in;
	size_t left = tr_input_available(in);

	if (!in->at_end || in->damaged)
		return tr_gnatcov_stuck(reader);
	if (left == 0)
		return end_of_entries(reader, TR_GNATCOV_DONE, err);
	tr_error_set(err, TR_CAUSE_CUT, "truncated: %zu of the %zu bytes of an entry", left, size);
	return tr_gnatcov_cut(reader, err);
}

/*
 * Whether a header stands where an entry should: of a program that was run
 * again, or of the next file of a cat. Nothing but a header says that magic.
 */
static bool is_header(const struct tr_gnatcov_reader *reader)
{
	struct tr_input *in = reader->in;

	if (memcmp(in->pos, TR_GNATCOV_MAGIC, 4) != 0)
		return false;
	tr_input_more(in, TR_GNATCOV_MAGIC_SIZE);
	size_t there = tr_input_available(in);
	if (there > TR_GNATCOV_MAGIC_SIZE)
		there = TR_GNATCOV_MAGIC_SIZE;
	return memcmp(in->pos, TR_GNATCOV_MAGIC, there) == 0;
}

/*
 * An emulator that was killed leaves part of an entry behind, and the next run
 * appends its header to that. Looked for where an entry is odd: the bytes of a
 * header never make a usual one.
 */
static size_t header_inside(const struct tr_gnatcov_reader *reader, size_t size)
{
	struct tr_input *in = reader->in;

	if (!memchr(in->pos + 1, *TR_GNATCOV_MAGIC, size - 1))
		return 0;
	tr_input_more(in, size + TR_GNATCOV_MAGIC_SIZE - 1);
	size_t there = tr_input_available(in);
	if (there > size + TR_GNATCOV_MAGIC_SIZE - 1)
		there = size + TR_GNATCOV_MAGIC_SIZE - 1;
	const char *found = memmem(in->pos + 1, there - 1, TR_GNATCOV_MAGIC, TR_GNATCOV_MAGIC_SIZE);
	return found ? (size_t)(found - in->pos) : 0;
}

static enum tr_status part_of_entry(struct tr_gnatcov_reader *reader, size_t part,
				    struct tr_error *err)
{
	tr_error_set(err, TR_CAUSE_INPUT,
		     "a section begins inside an entry: the part before it is truncated");
	tr_error_at_offset(err, reader->in->offset);
	tr_input_skip(reader->in, part);
	reader->state = TR_GNATCOV_AT_HEADER;
	return TR_WARN;
}

/* Inline, so that an entry goes through registers and not through memory, piece
 * by piece. */
static inline __attribute__((always_inline)) void
decode(const char *p, const struct tr_gnatcov_section *section, struct tr_block *entry)
{
	if (section->pc_size == 4) {
		entry->address = tr_wire_u32(p, section->big);
		entry->pad = (unsigned char)p[7];
		p += 4;
	} else {
		entry->address = tr_wire_u64(p, section->big);
		p += 8;
		entry->pad = tr_wire_pad(p + 3, 5);
	}
	entry->digits = section->pc_size * 2;
	entry->size = tr_wire_u16(p, section->big);
	entry->op = (uint8_t)p[2];
}

enum { NEVER_SET = 0x4c }; /* bits of an op that mean nothing */

static inline bool has_pad(const char *tail, size_t size)
{
	uint32_t more = 0;

	if (size == 8)
		return tail[3] != 0;
	memcpy(&more, tail + 4, sizeof more);
	return tail[3] || more;
}

/*
 * An entry that nothing is odd about, and nearly all are so. False: it has to
 * be looked at closely, or is not wholly there, or the record has to be made
 * ready. No function is called from here, so that no register has to be saved.
 */
static inline bool read_plain_entry(struct tr_gnatcov_reader *reader, struct tr_record **record)
{
	struct tr_input *in = reader->in;
	size_t size = reader->section.pc_size * 2u;
	const char *tail = in->pos + size / 2;
	struct tr_block entry;

	if (tr_input_available(in) < size || memcmp(in->pos, TR_GNATCOV_MAGIC, 4) == 0 ||
	    (uint8_t)tail[2] & (NEVER_SET | TR_EXEC_SPECIAL) || has_pad(tail, size) ||
	    !tr_arena_is_empty(&reader->arena) || !tr_block_record_is_ready(&reader->block))
		return false;
	decode(in->pos, &reader->section, &entry);
	entry.pad = 0;
	tr_block_record_set(&reader->block, &entry, reader->seq++, in->offset);
	tr_input_skip(in, size);
	*record = &reader->block.record;
	return true;
}

/* TR_END: look again, the state has changed. */
static enum tr_status read_entry(struct tr_gnatcov_reader *reader, struct tr_record **record,
				 struct tr_error *err)
{
	struct tr_input *in = reader->in;
	size_t size = reader->section.pc_size * 2u;
	struct tr_block entry;

	if (tr_input_available(in) < size && !tr_input_more(in, size))
		return last_bytes(reader, size, err);
	if (is_header(reader))
		return end_of_entries(reader, TR_GNATCOV_AT_HEADER, err);
	decode(in->pos, &reader->section, &entry);
	if (entry.op & NEVER_SET || entry.pad) {
		size_t part = header_inside(reader, size);
		if (part)
			return part_of_entry(reader, part, err);
	}
	if (entry.op == TR_EXEC_SPECIAL)
		return tr_gnatcov_read_special(reader, &entry, size, record, err);
	tr_block_record_set(&reader->block, &entry, reader->seq++, in->offset);
	tr_input_skip(in, size);
	*record = &reader->block.record;
	return TR_OK;
}

/* Steps to the next header, wherever it is. */
static enum tr_status find_header(struct tr_gnatcov_reader *reader)
{
	struct tr_input *in = reader->in;

	for (;;) {
		bool more = tr_input_more(in, TR_GNATCOV_MAGIC_SIZE);
		const char *found = memmem(in->pos, tr_input_available(in), TR_GNATCOV_MAGIC,
					   TR_GNATCOV_MAGIC_SIZE);
		if (found) {
			tr_input_skip(in, (size_t)(found - in->pos));
			reader->state = TR_GNATCOV_AT_HEADER;
			return TR_END;
		}
		if (!more) {
			if (!in->at_end)
				return tr_gnatcov_stuck(reader);
			tr_input_skip(in, tr_input_available(in));
			reader->state = TR_GNATCOV_DONE;
			return TR_END;
		}
		tr_input_skip(in, tr_input_available(in) - (TR_GNATCOV_MAGIC_SIZE - 1));
	}
}

/* All that is no plain entry: out of line, so that those need not save what it
 * uses. */
static __attribute__((noinline)) enum tr_status
next_unit(struct tr_gnatcov_reader *reader, struct tr_record **record, struct tr_error *err)
{
	enum tr_status status = TR_END;

	tr_arena_reset(&reader->arena);
	while (status == TR_END) {
		switch (reader->state) {
		case TR_GNATCOV_AT_ENTRY:
			status = read_entry(reader, record, err);
			break;
		case TR_GNATCOV_AT_INFO:
			status = tr_gnatcov_read_info(reader, record, err);
			break;
		case TR_GNATCOV_AT_HEADER:
			status = tr_gnatcov_read_header(reader, record, err);
			break;
		case TR_GNATCOV_LOST:
			status = find_header(reader);
			break;
		case TR_GNATCOV_DONE:
			return TR_END;
		}
	}
	return status;
}

enum tr_status tr_gnatcov_next(struct tr_reader *base, struct tr_record **record,
			       struct tr_error *err)
{
	struct tr_gnatcov_reader *reader = (struct tr_gnatcov_reader *)base;

	if (reader->state == TR_GNATCOV_AT_ENTRY && read_plain_entry(reader, record))
		return TR_OK;
	return next_unit(reader, record, err);
}
