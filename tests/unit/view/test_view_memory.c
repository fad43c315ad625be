/* SPDX-License-Identifier: MIT */
/*
 * Every allocation of a view fails once. The view then ends with TR_FATAL, or shows the same as
 * before; nothing is freed twice or lost, which the sanitizers would report.
 */
#include <stdlib.h>
#include <string.h>

#include "failing_alloc.h"
#include "memory.h"
#include "tap.h"
#include "view/critical_text.h"
#include "views.h"

enum { SPOOL = 1 << 16 };

static const char processes[] =
	"%trec\t1\n"
	"env\t0\t-\t-\t-\tvars={\"PATH\":\"/bin\",\"A\":\"\\u0001\"}\n"
	"exec\t1\t100.5\t1\t/usr/bin/make\targv=[\"make\"]\tcwd=\"/srv\\n\"\tenvtop={\"A\":null}\n"
	"fork\t2\t101\t1\t-\tchild=2\n"
	"exec\t3\t101.5\t2\t/bin/sh\tparent=1\tcwd=\"/srv\"\targv=[\"sh\",\"-c\",\"a\\n\"]\t"
	"env={\"PATH\":\"/bin\"}\n"
	"sys\t4\t102\t2\topen\tpath=\"\\x80\"\terror=ENOENT\tdur=0.5\n"
	"sys\t4\t102\t2\topen\tpath=\"in\"\tflags=O_RDWR|O_CREAT\t->\treturn=3\n"
	"sys\t4\t102\t2\twrite\tfd=3\tcount=1\t->\treturn=1\n"
	"exec\t5\t102.5\t2\t/usr/bin/cc\tparent=1\tcwd=\"/\"\targv=[\"cc\",\"-c\",\"a.c\"]\t"
	"envdiff={\"B\":\"1\"}\n"
	"exit\t6\t103\t2\t-\tsignal=\"SIGKILL\"\n"
	"exit\t7\t104\t1\t-\tstatus=0\n"
	"!end\t7\n";

/* A call within another, two enters of one number, a leave alone, and calls that never return. */
static const char calls[] =
	"%trec\t1\n"
	"%fn\tF1\tglFinish\targs=[\"a\",\"\"]\n"
	"%struct\tS5\tGUID\tmembers=[\"a\"]\n"
	"%frame\tK1\tmodule=\"m\"\tfunction=\"f\\n\"\tfile=\"a.c\"\tline=7\toffset=9\n"
	"enter\t0\t5\t0\tglXSwapBuffers\tdpy=0x1\t.bt=[K1,K2]\n"
	"call\t1\t5.5\t1\tglDrawArrays\tmode=GL_LINES(1@E1)\tdata=[b64:AQID,{\"a\":\"\\n\"}]\t->\n"
	"enter\t3\t6\t0\tglFinish\ta=1.25f\t#1=\"\\x80\"\n"
	"enter\t3\t7\t0\tglFinish\ta={a=1}@S5\n"
	"leave\t3\t8\t0\tglFinish\t->\treturn=A|B(0x3@M1)\n"
	"leave\t0\t9\t0\tglXSwapBuffers\t->\treturn=1.5f\n"
	"leave\t9\t9\t0\t-\t->\treturn=L\"w\"\n"
	"enter\t4\t9.5\t2\tglFlush\n"
	"enter\t5\t9.5\tx\\ty\tglFlush\n"
	"!end\t9\n";

struct view {
	const char *name;
	void *(*make)(struct tr_output *out);
	/* record NULL: the end of the stream */
	enum tr_status (*put)(void *view, struct tr_record *record, struct tr_error *err);
	void (*drop)(void *view);
};

static void *make_chrome(struct tr_output *out)
{
	return tr_chrome_new(SPOOL, tr_format_call_kinds, out);
}

static void *make_html(struct tr_output *out)
{
	struct tr_html_config config = { .title = TR_TEXT("t"),
					 .limit = 1000,
					 .max_spool = SPOOL,
					 .call_kinds = tr_format_call_kinds,
					 .cores = 2,
					 .critical = true };
	return tr_html_new(&config, out);
}

static void *make_json(struct tr_output *out)
{
	struct tr_json_view_config config = {
		.computed = true, .call_kinds = tr_format_call_kinds, .array = true, .pretty = true
	};
	return tr_json_view_new(&config, out);
}

static struct tr_output *figures_out;

static enum tr_status put_stat(void *view, struct tr_record *record, struct tr_error *err)
{
	bool fine = record ? tr_stat_put(view, record, TR_STAT_NO_KEY)
			   : tr_stat_write(view, figures_out);
	return fine ? TR_OK : tr_error_memory(err);
}

static void drop_stat(void *view)
{
	tr_stat_free(view);
}

static void *make_stat(struct tr_output *out)
{
	struct tr_stat_config config = { .top = 10,
					 .call_kinds = tr_format_call_kinds,
					 .call_api = tr_format_call_api };
	figures_out = out;
	return tr_stat_new(&config);
}

static enum tr_status put_critical(void *view, struct tr_record *record, struct tr_error *err)
{
	enum tr_status status = tr_critical_text_put(view, record, err);

	if (status == TR_OK && !record && !tr_critical_text_write(view, figures_out))
		return tr_error_memory(err);
	return status;
}

static void drop_critical(void *view)
{
	tr_critical_text_free(view);
}

static void *make_critical(struct tr_output *out)
{
	struct tr_critical_text_config config = { .top = 1, .max_spool = SPOOL };
	figures_out = out;
	return tr_critical_text_new(&config);
}

static void *make_tree(struct tr_output *out)
{
	struct tr_tree_text_config config = { .max_spool = SPOOL };
	return tr_tree_text_new(&config, out);
}

static void *make_dot(struct tr_output *out)
{
	struct tr_dot_text_config config = { .width = 10, .max_spool = SPOOL };
	return tr_dot_text_new(&config, out);
}

static void *make_script(struct tr_output *out)
{
	struct tr_script_text_config config = { .max_spool = SPOOL, .max_ratio = 1000 };
	return tr_script_text_new(&config, out);
}

static void *make_apitrace(struct tr_output *out)
{
	struct tr_setting color = { TR_TEXT("color"), TR_TEXT("yes") };
	struct tr_text_config config = { .settings = { &color, 1 } };
	struct tr_error err;

	return tr_format_apitrace.styles[0].create(&config, out, &err);
}

static const struct view views[] = {
	{ "chrome", make_chrome, put_chrome, drop_chrome },
	{ "html", make_html, put_html, drop_html },
	{ "json", make_json, put_json, drop_json },
	{ "stat", make_stat, put_stat, drop_stat },
	{ "critical", make_critical, put_critical, drop_critical },
	{ "tree", make_tree, put_tree_text, drop_tree_text },
	{ "dot", make_dot, put_dot_text, drop_dot_text },
	{ "script", make_script, put_script_text, drop_script_text },
	{ "apitrace", make_apitrace, put_apitrace_text, drop_apitrace_text },
};

/* Puts the lines of the stream. False: the view ended with TR_FATAL. */
static bool put_lines(const struct view *view, void *self, const char *stream)
{
	enum tr_status status = TR_OK;
	struct tr_error err;

	for (const char *p = stream, *end; *p && status != TR_FATAL; p = end) {
		struct tr_arena arena = TR_ARENA_INIT;
		struct tr_record record;
		end = strchr(p, '\n') + 1;
		tr_record_init(&record, &arena);
		tr_record_from_line(&record, tr_text_span(p, end), NULL);
		status = view->put(self, &record, &err);
		tr_arena_free(&arena);
	}
	return status != TR_FATAL && view->put(self, NULL, &err) != TR_FATAL;
}

/* Shows the stream; the at-th allocation fails, none if at is 0. */
static bool show(const struct view *view, const char *stream, int at, struct tr_buffer *shown)
{
	struct tr_error err;
	struct tr_output *out = tr_output_new(memory_sink(shown, NULL));

	failed = false;
	countdown = at;
	void *self = view->make(out);
	bool fine = self && put_lines(view, self, stream);
	if (self)
		view->drop(self);
	fine = tr_output_finish(out, &err) && fine;
	countdown = 0;
	return fine;
}

static void test(const struct view *view, const char *name, const char *stream)
{
	struct tr_buffer whole = TR_BUFFER_INIT, shown = TR_BUFFER_INIT;
	bool good = show(view, stream, 0, &whole);
	int at = 1;

	for (failed = true; good && failed; at++) {
		tr_buffer_free(&shown);
		if (show(view, stream, at, &shown))
			good = tr_text_equal(tr_buffer_text(&shown), tr_buffer_text(&whole));
		else
			good = failed;
	}
	if (!ok(good && at > 1, "%s, %s", view->name, name))
		diag("allocation %d: %.*s", at - 1, (int)shown.len, shown.data);
	tr_buffer_free(&whole);
	tr_buffer_free(&shown);
}

int main(void)
{
	for (size_t i = 0; i < sizeof views / sizeof *views; i++) {
		test(&views[i], "processes", processes);
		test(&views[i], "calls", calls);
	}
	return done_testing();
}
