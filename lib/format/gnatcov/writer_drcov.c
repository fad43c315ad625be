/*
 * Coverage of modules as an execution trace: INFO with the program's name and
 * the list of modules, then FLAT. Hit counts have no place there.
 */
#include "config.h"

#include "format/gnatcov/writer.h"

enum tr_status tr_gnatcov_begin_drcov(struct tr_gnatcov_writer *writer, struct tr_record *header,
				      struct tr_error *err)
{
	writer->drcov = true;
	tr_buffer_reset(&writer->program);
	if (tr_module_list_begin(&writer->modules, header))
		return TR_OK;
	return tr_error_memory(err);
}

/* All modules are known when the first block comes: they stand before the blocks. */
static bool begin_entries(struct tr_gnatcov_writer *writer)
{
	struct tr_gnatcov_section section = { .kind = TR_GNATCOV_FLAT };
	struct tr_buffer list = TR_BUFFER_INIT;

	tr_module_list_write(&writer->modules, &list);
	section.pc_size = (uint8_t)(tr_module_list_digits(&writer->modules) / 2);
	tr_gnatcov_write_info_header(writer, &section);
	if (writer->program.len) {
		const struct tr_gnatcov_item name = { TR_GNATCOV_EXEC_FILE_NAME,
						      tr_buffer_text(&writer->program), 0 };
		tr_gnatcov_write_item(writer, &name);
	}
	tr_gnatcov_write_tag(writer); /* before the list: lookups take the first */
	const struct tr_gnatcov_item modules = { TR_GNATCOV_USER_DATA, tr_buffer_text(&list), 0 };
	tr_gnatcov_write_item(writer, &modules);
	tr_gnatcov_close_list(writer);
	tr_gnatcov_write_header(writer, &section);
	bool good = !list.failed;
	tr_buffer_free(&list);
	return good;
}

static enum tr_status put_module(struct tr_gnatcov_writer *writer, struct tr_record *record,
				 struct tr_error *err)
{
	struct tr_text path;

	if (writer->place != TR_GNATCOV_NOWHERE) {
		tr_error_set(err, TR_CAUSE_INPUT, "left out: a module after the first block");
		return TR_WARN;
	}
	enum tr_status status = tr_module_list_add(&writer->modules, record, err);
	if (status != TR_OK || writer->modules.count > 1 || record->name.type != TR_CELL_TEXT)
		return status;
	if (!tr_cell_bytes(record->name.text, record->arena, &path, err))
		return err->cause == TR_CAUSE_MEMORY ? TR_FATAL : TR_OK;
	tr_buffer_put_text(&writer->program, path);
	return writer->program.failed ? tr_error_memory(err) : TR_OK;
}

static enum tr_status put_block(struct tr_gnatcov_writer *writer, struct tr_record *record,
				struct tr_error *err)
{
	struct tr_block block;
	enum tr_status status = tr_block_read(record, &block, err);

	if (status != TR_OK)
		return status;
	if (writer->place == TR_GNATCOV_NOWHERE && !begin_entries(writer))
		return tr_error_memory(err);
	struct tr_field *field = tr_record_field(record, "module");
	struct tr_value *id = field ? tr_field_value(record, field, err) : NULL;
	if (field && !id && err->cause == TR_CAUSE_MEMORY)
		return TR_FATAL;
	if (id && id->type == TR_UINT)
		tr_module_list_absolute(&writer->modules, id->as.number, &block.address);
	block.digits = writer->section.pc_size * 2;
	return tr_gnatcov_write_entry(writer, &block, err);
}

enum tr_status tr_gnatcov_put_drcov(struct tr_gnatcov_writer *writer, struct tr_record *record,
				    struct tr_error *err)
{
	if (tr_text_is(record->kind, "block"))
		return put_block(writer, record, err);
	if (tr_text_is(record->kind, "module"))
		return put_module(writer, record, err);
	return tr_text_is(record->kind, "meta") ? TR_OK : TR_END;
}

bool tr_gnatcov_end_drcov(struct tr_gnatcov_writer *writer)
{
	writer->drcov = false;
	return writer->place != TR_GNATCOV_NOWHERE || begin_entries(writer);
}
