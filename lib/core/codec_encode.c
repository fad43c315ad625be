/* The part of every encoder that no library does: see codec_stream.h. */
#include "core/codec_stream.h"

#include <stdlib.h>

enum { BLOCK_SIZE = 64 << 10 };

struct encoder {
	struct tr_sink sink; /* first: this is what the caller holds */
	const struct tr_encoder_class *class;
	void *state;
	struct tr_sink *inner;
	char block[BLOCK_SIZE];
};

static bool run(struct encoder *e, const char *data, size_t len, enum tr_encode what,
		struct tr_error *err)
{
	enum tr_status status;
	do {
		struct tr_room room = { e->block, e->block + sizeof e->block };
		status = e->class->step(e->state, &data, &len, what, &room, err);
		size_t made = (size_t)(room.pos - e->block);
		if (status == TR_FATAL || (made && !e->inner->write(e->inner, e->block, made, err)))
			return false;
	} while (status == TR_OK);
	return true;
}

static bool write_encoder(struct tr_sink *sink, const char *data, size_t len, struct tr_error *err)
{
	return len == 0 || run((struct encoder *)sink, data, len, TR_ENCODE_MORE, err);
}

static bool flush_encoder(struct tr_sink *sink, struct tr_error *err)
{
	struct encoder *e = (struct encoder *)sink;
	return run(e, NULL, 0, TR_ENCODE_FLUSH, err) && e->inner->flush(e->inner, err);
}

static bool finish_encoder(struct tr_sink *sink, struct tr_error *err)
{
	struct encoder *e = (struct encoder *)sink;
	return run(e, NULL, 0, TR_ENCODE_FINISH, err) && e->inner->finish(e->inner, err);
}

static void close_encoder(struct tr_sink *sink)
{
	struct encoder *e = (struct encoder *)sink;
	e->class->destroy(e->state);
	e->inner->close(e->inner);
	free(e);
}

struct tr_sink *tr_encoder_new(const struct tr_encoder_class *class, void *state,
			       struct tr_sink *inner, struct tr_error *err)
{
	struct encoder *e = state ? malloc(sizeof *e) : NULL;
	if (!e) {
		if (state)
			class->destroy(state);
		inner->close(inner);
		tr_error_memory(err);
		return NULL;
	}
	e->sink = (struct tr_sink){
		.write = write_encoder,
		.flush = flush_encoder,
		.finish = finish_encoder,
		.close = close_encoder,
	};
	e->class = class;
	e->state = state;
	e->inner = inner;
	return &e->sink;
}
