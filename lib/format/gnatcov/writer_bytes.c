/* Headers and lists of information as bytes. */
#include "config.h"

#include "core/wire.h"
#include "format/gnatcov/writer.h"

void tr_gnatcov_write_header(struct tr_gnatcov_writer *writer,
			     const struct tr_gnatcov_section *section)
{
	char *p = tr_output_room(writer->base.out, TR_GNATCOV_HEADER_SIZE);

	writer->section = *section;
	writer->was_big = section->big;
	if (writer->big >= 0)
		writer->section.big = writer->big;
	if (writer->machine >= 0)
		writer->section.machine = (uint16_t)writer->machine;
	section = &writer->section;
	memcpy(p, TR_GNATCOV_MAGIC, TR_GNATCOV_MAGIC_SIZE);
	p[12] = TR_GNATCOV_VERSION;
	p[13] = (char)section->kind;
	p[14] = (char)section->pc_size;
	p[15] = section->big;
	p[16] = (char)(section->machine >> 8);
	p[17] = (char)section->machine;
	tr_wire_put_pad(p + 18, 2, section->pad);
	tr_output_used(writer->base.out, TR_GNATCOV_HEADER_SIZE);
	writer->place =
		section->kind == TR_GNATCOV_INFO ? TR_GNATCOV_IN_INFO : TR_GNATCOV_IN_ENTRIES;
	writer->tagged = false;
}

void tr_gnatcov_write_item(struct tr_gnatcov_writer *writer, const struct tr_gnatcov_item *item)
{
	unsigned padding = (unsigned)-item->data.len % TR_GNATCOV_INFO_ALIGN;
	char *p = tr_output_room(writer->base.out, TR_GNATCOV_INFO_SIZE);

	tr_wire_put_u32(p, writer->section.big, item->tag);
	tr_wire_put_u32(p + 4, writer->section.big, (uint32_t)item->data.len);
	tr_output_used(writer->base.out, TR_GNATCOV_INFO_SIZE);
	tr_output_put_text(writer->base.out, item->data);
	p = tr_output_room(writer->base.out, TR_GNATCOV_INFO_ALIGN);
	tr_wire_put_pad(p, padding, item->pad);
	tr_output_used(writer->base.out, padding);
}

void tr_gnatcov_end_list(struct tr_gnatcov_writer *writer)
{
	const struct tr_gnatcov_item end = { TR_GNATCOV_END, { "", 0 }, 0 };

	tr_gnatcov_write_item(writer, &end);
}

void tr_gnatcov_write_tag(struct tr_gnatcov_writer *writer)
{
	const struct tr_gnatcov_item tag = { TR_GNATCOV_USER_DATA, writer->tag, 0 };

	if (!writer->tagged && writer->tag.len)
		tr_gnatcov_write_item(writer, &tag);
	writer->tagged = true;
}

void tr_gnatcov_close_list(struct tr_gnatcov_writer *writer)
{
	if (writer->place != TR_GNATCOV_IN_INFO)
		return;
	tr_gnatcov_write_tag(writer);
	tr_gnatcov_end_list(writer);
	writer->place = TR_GNATCOV_NOWHERE;
}

void tr_gnatcov_write_info_header(struct tr_gnatcov_writer *writer,
				  const struct tr_gnatcov_section *like)
{
	struct tr_gnatcov_section info = *like;

	info.kind = TR_GNATCOV_INFO;
	info.pad = 0;
	tr_gnatcov_write_header(writer, &info);
}
