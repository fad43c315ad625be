/* SPDX-License-Identifier: MIT */
/*
 * -j N: child processes read, convert and compress; this process names and writes the outputs, in
 * the order of the input. The result is the same as without -j.
 *
 *	child:  repack_one -> open_in_child -> codec -> sink -> messages
 *	parent: take -> repack.open_as -> the member or file
 */

#include <stdlib.h>

#include "tr_repack.h"

enum { DATA_MAX = 256 << 10 }; /* bytes of an output in a message */

/* A message of a child about an output. */
enum step { OPEN, DATA, FINISH, DROP };

/* The head of each message. */
struct head {
	enum step step;
	bool noted;		       /* OPEN: see struct repack_name */
	bool more;		       /* OPEN: further outputs of the place may follow */
	size_t stem, extension, coded; /* OPEN: the lengths of the texts that follow */
	const struct tr_codec *codec;  /* OPEN */
	struct verify_digest digest;   /* FINISH, with --verify */
};

struct jobs {
	struct tr_cli_jobs base;
	int before; /* exit status of the places before */
};

/* The sink of an output in a child. */
struct remote {
	struct tr_sink base;
	struct repack *r;
	bool finished;
};

static void tell(struct repack *r, const struct head *head, struct tr_text body)
{
	tr_cli_job_send(&r->cli, (struct tr_text){ (const char *)head, sizeof *head }, body);
}

static bool remote_write(struct tr_sink *sink, const char *data, size_t len, struct tr_error *err)
{
	struct remote *remote = tr_container(sink, struct remote, base);

	(void)err;
	while (len) {
		size_t part = len < DATA_MAX ? len : DATA_MAX;
		tell(remote->r, &(struct head){ .step = DATA }, (struct tr_text){ data, part });
		data += part;
		len -= part;
	}
	return true;
}

static bool remote_flush(struct tr_sink *sink, struct tr_error *err)
{
	(void)sink, (void)err;
	return true;
}

static bool remote_finish(struct tr_sink *sink, struct tr_error *err)
{
	struct remote *remote = tr_container(sink, struct remote, base);
	struct head head = { .step = FINISH };

	(void)err;
	if (remote->r->verify)
		head.digest = verify_last(remote->r->verify);
	tell(remote->r, &head, TR_TEXT(""));
	remote->finished = true;
	return true;
}

static void remote_close(struct tr_sink *sink)
{
	struct remote *remote = tr_container(sink, struct remote, base);

	if (!remote->finished)
		tell(remote->r, &(struct head){ .step = DROP }, TR_TEXT(""));
	free(remote);
}

/* Opens an output in a child (repack.open): the parent names and opens it later. */
static bool open_in_child(struct repack *r, const struct tr_format *format,
			  const struct tr_trace_place *place)
{
	const struct tr_codec *codec;
	struct tr_buffer texts = TR_BUFFER_INIT;

	if (!repack_codec(r, format, place, &codec))
		return false;
	struct repack_name name = repack_member_name(r, place, format, codec);
	struct head head = { .step = OPEN,
			     .noted = name.noted,
			     .more = repack_may_hold_more(r, place),
			     .stem = name.stem.len,
			     .extension = name.extension.len,
			     .coded = name.codec.len,
			     .codec = codec };
	tr_buffer_put_text(&texts, name.stem);
	tr_buffer_put_text(&texts, name.extension);
	tr_buffer_put_text(&texts, name.codec);
	struct remote *remote = texts.failed ? NULL : malloc(sizeof *remote);
	if (!remote) {
		tr_buffer_free(&texts);
		return tr_cli_out_of_memory(&r->cli);
	}
	tell(r, &head, tr_buffer_text(&texts));
	tr_buffer_free(&texts);
	*remote = (struct remote){ .base = { .write = remote_write,
					     .flush = remote_flush,
					     .finish = remote_finish,
					     .close = remote_close },
				   .r = r };
	return tr_cli_output_on(&r->cli, repack_encoded(r, &remote->base, codec));
}

/* tr_cli_jobs.work */
static void work(void *context, struct tr_trace_place *place)
{
	struct repack *r = context;

	r->open = open_in_child;
	repack_one(r, place);
}

/* tr_cli_jobs.begin */
static void begin(void *context, const struct tr_trace_place *place)
{
	struct repack *r = context;

	(void)place;
	r->job->before = r->cli.status;
	r->cli.status = 0;
	r->made = false;
	r->opened = 0;
}

struct tr_sink *repack_job_sink(struct repack *r, struct tr_sink *sink,
				const struct tr_codec *codec)
{
	if (!sink || !r->verify || verify_note(r->verify, codec))
		return sink;
	sink->close(sink);
	tr_cli_out_of_memory(&r->cli);
	return NULL;
}

/* Takes the first len bytes off the text. False: it is shorter. */
static bool take_text(struct tr_text *from, size_t len, struct tr_text *text)
{
	if (len > from->len)
		return false;
	*text = (struct tr_text){ from->data, len };
	*from = (struct tr_text){ from->data + len, from->len - len };
	return true;
}

/* Opens an output for a child. False: the texts are not those of the head. */
static bool open_for_child(struct repack *r, const struct tr_trace_place *place,
			   const struct head *head, struct tr_text texts)
{
	struct repack_name name = { .noted = head->noted };

	if (!take_text(&texts, head->stem, &name.stem) ||
	    !take_text(&texts, head->extension, &name.extension) ||
	    !take_text(&texts, head->coded, &name.codec))
		return false;
	r->made = false;
	bool opened = r->open_as(r, &name, place, head->codec);
	/* as without -j, input for an output that is not written is not read */
	r->job->base.muted = opened ? r->made : !head->more;
	return true;
}

/* tr_cli_jobs.take */
static bool take(void *context, const struct tr_trace_place *place, struct tr_text message)
{
	struct repack *r = context;
	struct head head;
	struct tr_text start;

	if (!take_text(&message, sizeof head, &start))
		return false;
	memcpy(&head, start.data, sizeof head);
	if (head.step == OPEN)
		return open_for_child(r, place, &head, message);
	if (!r->cli.out)
		return true;
	switch (head.step) {
	case DATA:
		tr_output_put_text(r->cli.out, message);
		/* as without -j, nothing more is read for an output that has failed */
		r->job->base.muted |= r->cli.out->failed;
		break;
	case FINISH:
		if (r->verify)
			verify_finished(r->verify, &head.digest);
		repack_finish_output(r, place);
		break;
	default:
		tr_output_discard(r->cli.out);
		r->cli.out = NULL;
		break;
	}
	return true;
}

/* tr_cli_jobs.end */
static void end(void *context, const struct tr_trace_place *place, bool complete)
{
	struct repack *r = context;

	(void)place;
	if (!complete && r->cli.out) {
		tr_output_discard(r->cli.out);
		r->cli.out = NULL;
	}
	r->job->base.skips = r->made;
	r->troubled += r->cli.status != 0;
	r->made_only += r->made && !r->cli.status;
	tr_cli_status(&r->cli, r->job->before);
}

/* tr_cli_jobs.here: the place takes the path of a run without -j. */
static void here(void *context, struct tr_trace_place *place)
{
	struct repack *r = context;
	struct jobs *job = r->job;

	r->job = NULL;
	repack_one(r, place);
	job->base.skips = r->made;
	r->job = job;
}

void repack_in_jobs(struct repack *r)
{
	struct jobs jobs = { .base = { .count = r->jobs,
				       .heavy = r->codec && r->codec->level_max,
				       .skips = r->resume,
				       .work = work,
				       .begin = begin,
				       .take = take,
				       .end = end,
				       .here = here } };

	r->job = &jobs;
	tr_cli_jobs_run(&r->cli, &jobs.base, r);
	r->job = NULL;
}
