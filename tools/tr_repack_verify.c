/* SPDX-License-Identifier: MIT */
/*
 * --verify reads the file back, before it gets its name, and compares it with the bytes that were
 * written, by length and a hash of 64 bits. This finds bugs and bad hardware, not attacks.
 */

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

#include "tr_repack.h"

/* The data that were written to a file or member; they are digested before they are compressed. */
struct written {
	const struct tr_codec *codec;
	struct verify_digest digest;
	bool finished;
};

struct verify {
	struct written *list; /* in the order of the archive */
	size_t count, cap;
};

struct verify *verify_new(void)
{
	return calloc(1, sizeof(struct verify));
}

void verify_free(struct verify *verify)
{
	if (!verify)
		return;
	free(verify->list);
	free(verify);
}

/*
 * One step of the hash: a multiplication by an odd number, and a shift that brings high bits down.
 */
static uint64_t mix(uint64_t hash, uint64_t word)
{
	hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
	return hash ^ hash >> 29;
}

/* The next eight bytes as a word, at any address. */
static uint64_t load(const unsigned char *bytes)
{
	uint64_t word;

	memcpy(&word, bytes, sizeof word);
	return word;
}

/*
 * Adds bytes. The digest does not depend on how they are cut, because a reader cuts them
 * differently from the writer.
 */
static void digest_add(struct verify_digest *d, const char *data, size_t len)
{
	size_t held = d->length % 8;

	d->length += len;
	if (held) {
		size_t take = len < 8 - held ? len : 8 - held;
		memcpy(d->rest + held, data, take);
		data += take;
		len -= take;
		if (held + take < 8)
			return;
		d->hash = mix(d->hash, load(d->rest));
	}
	for (; len >= 8; data += 8, len -= 8)
		d->hash = mix(d->hash, load((const unsigned char *)data));
	memcpy(d->rest, data, len);
}

static bool digest_equal(const struct verify_digest *a, const struct verify_digest *b)
{
	return a->length == b->length && a->hash == b->hash &&
	       memcmp(a->rest, b->rest, a->length % 8) == 0;
}

/* A sink that passes bytes on to inner, which it owns. */
struct watch {
	struct tr_sink base;
	struct tr_sink *inner;
	struct verify *verify;
	size_t at; /* in verify->list; of a file: the first that comes, of a lone file the only one */
	const struct tr_codec *outer; /* of a file */
	bool archive;
};

/* These three pass everything on to the inner sink. */
static bool watch_write(struct tr_sink *sink, const char *data, size_t len, struct tr_error *err)
{
	struct watch *watch = tr_container(sink, struct watch, base);

	return watch->inner->write(watch->inner, data, len, err);
}

static bool watch_flush(struct tr_sink *sink, struct tr_error *err)
{
	struct watch *watch = tr_container(sink, struct watch, base);

	return watch->inner->flush(watch->inner, err);
}

static void watch_close(struct tr_sink *sink)
{
	struct watch *watch = tr_container(sink, struct watch, base);

	watch->inner->close(watch->inner);
	free(watch);
}

/* NULL: memory is exhausted, and inner is closed. */
static struct watch *new_watch(struct verify *verify, struct tr_sink *inner)
{
	struct watch *watch = malloc(sizeof *watch);

	if (!watch) {
		inner->close(inner);
		return NULL;
	}
	*watch = (struct watch){
		.base = { .write = watch_write, .flush = watch_flush, .close = watch_close },
		.inner = inner,
		.verify = verify,
		.at = verify->count,
	};
	return watch;
}

/* Digests bytes on their way to the codec. */
static bool tee_write(struct tr_sink *sink, const char *data, size_t len, struct tr_error *err)
{
	struct watch *tee = tr_container(sink, struct watch, base);

	digest_add(&tee->verify->list[tee->at].digest, data, len);
	return tee->inner->write(tee->inner, data, len, err);
}

/* Marks the file or member as finished. */
static bool tee_finish(struct tr_sink *sink, struct tr_error *err)
{
	struct watch *tee = tr_container(sink, struct watch, base);

	/* marked first: the finish of a lone file is where it is read back */
	tee->verify->list[tee->at].finished = true;
	return tee->inner->finish(tee->inner, err);
}

struct tr_sink *verify_tee(struct verify *verify, struct tr_sink *sink,
			   const struct tr_codec *codec)
{
	struct watch *tee = new_watch(verify, sink);

	if (!tee)
		return NULL;
	if (!verify_note(verify, codec)) {
		watch_close(&tee->base);
		return NULL;
	}
	tee->base.write = tee_write;
	tee->base.finish = tee_finish;
	return &tee->base;
}

struct verify_digest verify_last(const struct verify *verify)
{
	return verify->list[verify->count - 1].digest;
}

bool verify_note(struct verify *verify, const struct tr_codec *codec)
{
	if (!tr_array_room(verify->list, verify->count, verify->cap))
		return false;
	verify->list[verify->count++] = (struct written){ .codec = codec };
	return true;
}

void verify_finished(struct verify *verify, const struct verify_digest *digest)
{
	struct written *last = &verify->list[verify->count - 1];

	last->digest = *digest;
	last->finished = true;
}

/* Sets the message of a difference. False, for return. */
static bool differs(struct tr_error *err, const char *what)
{
	tr_error_set(err, TR_CAUSE_SYSTEM, "--verify: the output reads back %s", what);
	return false;
}

/* The output is our own, so no ratio is suspicious. */
static struct tr_limits own_limits(void)
{
	struct tr_limits limits = TR_LIMITS_DEFAULT;

	limits.max_ratio = 0;
	return limits;
}

/* Compares the decoded bytes of a window, which it frees, with the written ones. */
static bool compare(struct tr_input *in, const struct written *written, struct tr_error *err)
{
	const struct tr_limits limits = own_limits();
	struct verify_digest seen = { 0 };

	if (in && written->codec)
		in = tr_codec_open_as(in, written->codec, &limits, false, err);
	if (!in)
		return false;
	while (tr_input_more(in, 1)) {
		digest_add(&seen, in->pos, tr_input_available(in));
		tr_input_skip(in, tr_input_available(in));
	}
	bool good = !in->damaged && digest_equal(&seen, &written->digest);
	if (in->damaged)
		tr_input_error(in, err);
	else if (!good)
		differs(err, "differently");
	tr_input_free(in);
	return good;
}

/*
 * Compares the members of the archive, in their order, with what was written. Consumes the input.
 */
static bool compare_archive(struct verify *verify, struct tr_input *in, struct tr_error *err)
{
	const struct tr_limits limits = own_limits();
	struct tr_archive *archive = tr_archive_open(in, &limits, err);
	struct tr_archive_member member;
	bool good = archive != NULL;

	for (size_t i = 0; good && i < verify->count; i++) {
		if (!verify->list[i].finished)
			continue; /* a member that was given up is not in the archive */
		enum tr_status status = tr_archive_next(archive, &member, err);
		if (status == TR_END)
			differs(err, "with members missing");
		good = status == TR_OK;
		struct tr_source *source = good ? tr_archive_source(archive) : NULL;
		if (good && !source)
			tr_error_memory(err);
		good = source && compare(tr_input_new(source, &limits, 0), &verify->list[i], err);
	}
	if (good && tr_archive_next(archive, &member, err) != TR_END)
		good = differs(err, "with more members");
	tr_archive_free(archive);
	return good;
}

/*
 * Opens the temporary file, by its directory and name, because the file has not got its final name
 * yet. NULL: err is filled.
 */
static struct tr_input *open_back(const struct tr_unfinished *file, const struct tr_codec *outer,
				  struct tr_error *err)
{
	const struct tr_limits limits = own_limits();
	int fd = openat(file->dir, file->temporary, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);

	if (fd < 0) {
		tr_error_system(err, errno, "--verify: cannot read back");
		return NULL;
	}
	struct tr_source *source = tr_source_fd(fd, true);
	struct tr_input *in = source ? tr_input_new(source, &limits, 0) : NULL;
	if (!in)
		tr_error_memory(err);
	return in && outer ? tr_codec_open_as(in, outer, &limits, true, err) : in;
}

/*
 * Reads the file back, after its last byte is flushed, and lets it get its name only if it is
 * equal.
 */
static bool check_finish(struct tr_sink *sink, struct tr_error *err)
{
	struct watch *check = tr_container(sink, struct watch, base);
	const struct tr_unfinished *file = tr_sink_file_unfinished(check->inner);
	struct tr_input *in;

	if (!file) {
		tr_error_set(err, TR_CAUSE_USAGE, "--verify needs a regular file");
		return false;
	}
	if (!check->inner->flush(check->inner, err) || !(in = open_back(file, check->outer, err)))
		return false;
	bool good = check->archive ? compare_archive(check->verify, in, err)
				   : compare(in, &check->verify->list[check->at], err);
	return good && check->inner->finish(check->inner, err);
}

struct tr_sink *verify_file(struct verify *verify, struct tr_sink *sink,
			    const struct tr_codec *outer, bool archive)
{
	struct watch *check = new_watch(verify, sink);

	if (!check)
		return NULL;
	check->base.finish = check_finish;
	check->outer = outer;
	check->archive = archive;
	return &check->base;
}
