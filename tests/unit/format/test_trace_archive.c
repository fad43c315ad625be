/* SPDX-License-Identifier: MIT */
/*
 * Archives from a slow pipe, with members that are read on another thread: what waits there must
 * not call the tool, and a member that is left early must not end what is beneath it.
 */

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/archive.h"
#include "core/codec.h"
#include "format/trace.h"
#include "memory.h"
#include "tap.h"

enum { LINES = 30000, PIECE = 8192 };

static pthread_t tool;
static unsigned here, elsewhere;

static void on_wait(void *context)
{
	(void)context;
	if (pthread_equal(pthread_self(), tool))
		here++;
	else
		__atomic_fetch_add(&elsewhere, 1, __ATOMIC_RELAXED);
}

static void give_up(const char *why)
{
	diag("%s", why);
	exit(1);
}

/* A stream that does not become small. */
static void make_stream(struct tr_buffer *to)
{
	uint32_t noise = 1;

	for (unsigned i = 0; i < LINES; i++) {
		char line[80];
		noise = noise * 1664525 + 1013904223;
		int len = snprintf(line, sizeof line, "exec\t%u\t-\t%u\tgcc%x\n", i, i, noise);
		tr_buffer_put(to, line, (size_t)len);
	}
}

static void add(struct tr_archive_writer *writer, const char *name, const char *codec_name,
		struct tr_text data)
{
	struct tr_error err;
	struct tr_sink *sink = tr_archive_member_sink(writer, name, 0, &err);
	const struct tr_codec *codec =
		codec_name ? tr_codec_by_name(tr_text_from(codec_name)) : NULL;

	if (codec)
		sink = codec->encoder(sink, codec->level_default, 1, &err);
	if (!sink->write(sink, data.data, data.len, &err) || !sink->finish(sink, &err))
		give_up(err.text);
	sink->close(sink);
}

static void make_archive(const char *const *codecs, size_t count, const char *outer,
			 struct tr_buffer *to)
{
	struct tr_buffer stream = TR_BUFFER_INIT;
	struct tr_error err;
	struct tr_sink *sink = memory_sink(to, NULL);
	const struct tr_codec *codec = outer ? tr_codec_by_name(tr_text_from(outer)) : NULL;

	if (codec)
		sink = codec->encoder(sink, codec->level_default, 1, &err);
	struct tr_archive_writer *writer = tr_archive_create("tar", sink, &err);
	make_stream(&stream);
	for (size_t i = 0; i < count; i++) {
		char name[] = "0.trec";
		name[0] = (char)('0' + i);
		add(writer, name, codecs[i], tr_buffer_text(&stream));
	}
	if (!tr_archive_finish(writer, &err))
		give_up(err.text);
	tr_archive_writer_free(writer);
	tr_buffer_free(&stream);
}

/* Standard input becomes a pipe that somebody fills slowly. */
static pid_t feed(struct tr_text data)
{
	int ends[2];

	if (pipe(ends) != 0)
		give_up("no pipe");
	fflush(stdout);
	pid_t child = fork();
	if (child == 0) {
		close(ends[0]);
		usleep(50000);
		for (size_t at = 0; at < data.len; at += PIECE) {
			size_t left = data.len - at;
			if (write(ends[1], data.data + at, left < PIECE ? left : PIECE) < 0)
				break;
			usleep(300);
		}
		_exit(0);
	}
	close(ends[1]);
	dup2(ends[0], STDIN_FILENO);
	close(ends[0]);
	return child;
}

/* How many lines came, when `most` are wanted of each member. */
static unsigned read_all(unsigned most, unsigned *members)
{
	static const char *const operands[] = { "-" };
	struct tr_trace_config config = { .read.limits = TR_LIMITS_DEFAULT,
					  .threads = true,
					  .on_wait = on_wait };
	struct tr_trace *trace = tr_trace_open(operands, 1, &config);
	struct tr_trace_place *place;
	struct tr_record *record;
	struct tr_error err;
	unsigned lines = 0;

	*members = 0;
	while (tr_trace_step(trace, &place, &err) == TR_OK) {
		++*members;
		for (unsigned i = 0; i < most && tr_trace_next(trace, &record, &err) == TR_OK; i++)
			lines++;
	}
	tr_trace_free(trace);
	return lines;
}

static void check(const char *name, const char *const *codecs, size_t count, const char *outer)
{
	struct tr_buffer archive = TR_BUFFER_INIT;
	unsigned members;

	make_archive(codecs, count, outer, &archive);
	for (unsigned most = LINES + 10; most; most = most > 5 ? 5 : 0) {
		here = elsewhere = 0;
		pid_t child = feed(tr_buffer_text(&archive));
		unsigned lines = read_all(most, &members);
		waitpid(child, NULL, 0);
		ok(members == count, "%s: all members, %u lines of each", name, most);
		if (most > LINES)
			ok(lines >= LINES * count, "%s: all lines", name);
		ok(here > 0, "%s: on_wait is called", name);
		ok(elsewhere == 0, "%s: and on its own thread", name);
	}
	tr_buffer_free(&archive);
}

int main(void)
{
	static const char *const packed[] = { "gzip", NULL, "xz", "zstd" };
	static const char *const plain[] = { NULL, NULL };

	tool = pthread_self();
	signal(SIGPIPE, SIG_IGN);
	check("tar", packed, 4, NULL);
	check("tar.gz", packed, 4, "gzip");
	check("tar of plain members", plain, 2, NULL);
	check("tar.xz of plain members", plain, 2, "xz");
	return done_testing();
}
