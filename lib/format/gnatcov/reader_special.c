/* Special entries: where a kernel was loaded, shared objects that come and go. */
#include "config.h"

#include "format/gnatcov/reader.h"

/* What is asked of a shared object, and what came. */
struct loaded {
	bool named, stamped;
	uint64_t file_size, crc, code_size;
	bool bad_number, bad_tag;
};

static void note_tag(struct loaded *loaded, const struct tr_gnatcov_info *info)
{
	uint64_t number = 0;

	if (tr_gnatcov_is_number(info->tag) && !tr_ada_number(info->data, &number))
		loaded->bad_number = true;
	switch (info->tag) {
	case TR_GNATCOV_EXEC_FILE_NAME:
		loaded->named = info->data.len > 0;
		break;
	case TR_GNATCOV_EXEC_FILE_TIME_STAMP:
		loaded->stamped = info->data.len > 0;
		break;
	case TR_GNATCOV_EXEC_FILE_SIZE:
		loaded->file_size = number;
		break;
	case TR_GNATCOV_EXEC_FILE_CRC32:
		loaded->crc = number;
		break;
	case TR_GNATCOV_EXEC_CODE_SIZE:
		loaded->code_size = number;
		break;
	default:
		loaded->bad_tag |= !tr_gnatcov_tag_name(info->tag);
	}
}

/* gnatcov asks for 5 tags. As fields of a record, entries take many times their own size. */
enum { LIST_MAX = 4096 };

/* Reads the list behind a load entry into fields. *size grows by all of it. */
static enum tr_status read_list(struct tr_gnatcov_reader *reader, struct loaded *loaded,
				size_t *size, struct tr_error *err)
{
	struct tr_gnatcov_info info = { 0 };
	enum tr_status status;

	while ((status = tr_gnatcov_info_at(reader, *size, &info, err)) == TR_OK &&
	       info.tag != TR_GNATCOV_END) {
		const char *key = tr_gnatcov_tag_text(reader, info.tag);
		if (reader->record.count > LIST_MAX) {
			tr_error_set(err, TR_CAUSE_LIMIT,
				     "more than %d entries of information on a shared object",
				     LIST_MAX);
			return tr_gnatcov_lost(reader, *size, err);
		}
		note_tag(loaded, &info);
		if (!key || !tr_gnatcov_add(reader, key, tr_gnatcov_string(reader, info.data)) ||
		    !tr_gnatcov_add_pad(reader, info.pad))
			return tr_error_memory(err);
		*size += info.size;
	}
	*size += info.size;
	return status;
}

static bool load_has_flaw(struct tr_gnatcov_reader *reader, const struct loaded *loaded,
			  const struct tr_block *entry, struct tr_error *err)
{
	struct tr_object object = { entry->address, entry->address + loaded->code_size - 1, 0 };
	enum tr_objects_answer answer = TR_OBJECTS_ADDED;

	if (entry->digits == 8)
		object.last = loaded->code_size > UINT32_MAX ? 0 : (uint32_t)object.last;
	if (loaded->bad_number)
		tr_error_set(err, TR_CAUSE_INPUT,
			     "a size or checksum of a shared object is no number");
	else if (!loaded->named || !loaded->stamped || !loaded->file_size || !loaded->crc ||
		 !loaded->code_size)
		tr_error_set(err, TR_CAUSE_INPUT,
			     "a shared object was loaded with incomplete information");
	else if (loaded->bad_tag)
		tr_error_set(err, TR_CAUSE_INPUT,
			     "a shared object has an unknown kind of information");
	if (loaded->code_size)
		answer = tr_objects_load(&reader->objects, object);
	if (answer == TR_OBJECTS_OVERLAP)
		tr_error_set(err, TR_CAUSE_INPUT,
			     "a shared object was loaded over one that is there");
	else if (answer == TR_OBJECTS_FULL)
		tr_error_set(err, TR_CAUSE_LIMIT, "more than %d shared objects are loaded",
			     TR_OBJECTS_MAX);
	else if (answer == TR_OBJECTS_MEMORY)
		tr_error_memory(err);
	return err->cause != TR_CAUSE_NONE;
}

static struct tr_cell address_cell(const struct tr_block *entry)
{
	return (struct tr_cell){ .type = TR_CELL_ADDRESS,
				 .width = entry->digits,
				 .number = entry->address };
}

static enum tr_status read_load(struct tr_gnatcov_reader *reader, const struct tr_block *entry,
				size_t size, struct tr_record **record, struct tr_error *err)
{
	struct loaded loaded = { 0 };

	tr_gnatcov_begin(reader, "load", address_cell(entry));
	if (!tr_gnatcov_add_pad(reader, entry->pad))
		return tr_error_memory(err);
	enum tr_status status = read_list(reader, &loaded, &size, err);
	if (status != TR_OK)
		return status;
	tr_error_clear(err);
	/* with the second look the object is there already: that is no news */
	if (reader->told_at != reader->in->offset && load_has_flaw(reader, &loaded, entry, err)) {
		if (err->cause == TR_CAUSE_MEMORY)
			return TR_FATAL;
		tr_gnatcov_tell(reader, err);
		return TR_WARN;
	}
	tr_input_skip(reader->in, size);
	return tr_gnatcov_hand_out(reader, record);
}

/* An entry of one of the other kinds, whose flaw (in err) has been told before. */
static enum tr_status pass_on(struct tr_gnatcov_reader *reader, const struct tr_block *entry,
			      size_t size, const char *kind, struct tr_record **record,
			      struct tr_error *err)
{
	if (kind) {
		tr_gnatcov_begin(reader, kind, address_cell(entry));
		if (!tr_gnatcov_add_pad(reader, entry->pad))
			return tr_error_memory(err);
		tr_input_skip(reader->in, size);
		return tr_gnatcov_hand_out(reader, record);
	}
	tr_block_record_set(&reader->block, entry, reader->seq++, reader->in->offset);
	tr_input_skip(reader->in, size);
	*record = &reader->block.record;
	return TR_OK;
}

/* True: err says what is wrong with where or how a special entry stands. */
static bool special_has_flaw(struct tr_gnatcov_reader *reader, const struct tr_block *entry,
			     struct tr_error *err)
{
	bool due = reader->kernel && !reader->loaded;

	if (entry->size == TR_GNATCOV_LOADADDR && !due)
		tr_error_set(err, TR_CAUSE_INPUT, "unexpected load address of a kernel");
	else if (entry->size == TR_GNATCOV_LOADADDR && entry->address == 0)
		tr_error_set(err, TR_CAUSE_INPUT, "the load address of the kernel is 0");
	else if (entry->size == 0 || entry->size > TR_GNATCOV_UNLOAD)
		tr_error_set(err, TR_CAUSE_INPUT, "unknown special entry 0x%04x", entry->size);
	else if (entry->size != TR_GNATCOV_LOADADDR && due)
		tr_error_set(err, TR_CAUSE_INPUT,
			     "special entry 0x%04x where the load address of the kernel is due",
			     entry->size);
	else if (entry->size == TR_GNATCOV_UNLOAD &&
		 !tr_objects_find(&reader->objects, entry->address))
		tr_error_set(err, TR_CAUSE_INPUT, "a shared object is unloaded that is not loaded");
	else
		return false;
	return true;
}

enum tr_status tr_gnatcov_read_special(struct tr_gnatcov_reader *reader,
				       const struct tr_block *entry, size_t size,
				       struct tr_record **record, struct tr_error *err)
{
	bool told = reader->told_at == reader->in->offset;

	if (!told && special_has_flaw(reader, entry, err)) {
		/* a list that follows is judged with the entry that it belongs to */
		if (entry->size == TR_GNATCOV_LOAD)
			reader->loaded = true;
		else
			tr_gnatcov_tell(reader, err);
		err->severity = TR_FLAW;
		tr_error_at_offset(err, reader->in->offset);
		return TR_WARN;
	}
	switch (entry->size) {
	case TR_GNATCOV_LOADADDR:
		reader->loaded = true;
		return pass_on(reader, entry, size, "loadaddr", record, err);
	case TR_GNATCOV_LOAD:
		return read_load(reader, entry, size, record, err);
	case TR_GNATCOV_UNLOAD:
		tr_objects_unload(&reader->objects, entry->address);
		return pass_on(reader, entry, size, "unload", record, err);
	default:
		return pass_on(reader, entry, size, NULL, record, err);
	}
}
