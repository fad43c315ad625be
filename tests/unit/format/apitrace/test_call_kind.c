/* SPDX-License-Identifier: MIT */
/* The kinds of functions by name, as apitrace printed them: tests/data/apitrace/call-kinds.tsv. */
#include "format/apitrace/apitrace.h"
#include "record/calls.h"

#include <stdlib.h>

#include "record/vectors.h"
#include "tap.h"

static bool lists(struct tr_text column, const char *word)
{
	size_t len = strlen(word);

	for (const char *p = column.data, *end = p + column.len; p < end;) {
		const char *comma = memchr(p, ',', (size_t)(end - p));
		struct tr_text item = tr_text_span(p, comma ? comma : end);
		if (item.len == len && memcmp(item.data, word, len) == 0)
			return true;
		p = comma ? comma + 1 : end;
	}
	return false;
}

static void test_plain(void)
{
	struct vectors v;

	if (!ok(vectors_open(&v, "../apitrace/call-plain.tsv"),
		"the table of plain names is there"))
		return;
	while (vectors_next(&v)) {
		struct tr_text name = v.column[0], look = v.column[1];
		ok(tr_apitrace_call_is_plain(name) == tr_text_is(look, "plain"), "%.*s is %.*s",
		   (int)name.len, name.data, (int)look.len, look.data);
	}
	vectors_close(&v);
	ok(!tr_apitrace_call_is_plain((struct tr_text){ NULL, 0 }), "no name is not plain");
}

static void test_api(void)
{
	static const struct {
		const char *name, *api; /* "": the name identifies none */
	} rows[] = {
		{ "glXMakeCurrent", "OpenGL + GLX/WGL/CGL" },
		{ "wglCreateContext", "OpenGL + GLX/WGL/CGL" },
		{ "CGLFlushDrawable", "OpenGL + GLX/WGL/CGL" },
		{ "eglInitialize", "OpenGL/GLES1/GLES2/VG + EGL" },
		{ "Direct3DCreate9", "DirectX" },
		{ "D3D11CreateDevice", "DirectX" },
		{ "CreateDXGIFactory", "DirectX" },
		{ "glClear", "" }, /* all of the first four have it */
		{ "wglue", "" },   /* a capital letter follows the prefix */
		{ "egl", "" },	   /* and so it does here */
		{ "eglAreYou", "OpenGL/GLES1/GLES2/VG + EGL" },
		{ "egl[", "" }, /* the byte after Z */
		{ "egl@", "" }, /* the byte before A */
		{ "glX", "OpenGL + GLX/WGL/CGL" },
		{ "", "" },
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const char *api = tr_apitrace_call_api(tr_text_from(rows[i].name));
		ok(strcmp(api ? api : "", rows[i].api) == 0, "%s: %s", rows[i].name, rows[i].api);
	}
}

int main(void)
{
	enum { TARGETS = TR_CALL_END_FRAME | TR_CALL_RENDER_TARGET };
	struct vectors v;

	if (!ok(vectors_open(&v, "../apitrace/call-kinds.tsv"), "the table is there"))
		return done_testing();
	while (vectors_next(&v)) {
		struct tr_text name = v.column[0], kinds = v.column[1];
		unsigned have = tr_apitrace_call_kinds(name);
		ok(!!(have & TR_CALL_END_FRAME) == lists(kinds, "frame") &&
			   !!(have & TARGETS) == lists(kinds, "rendertarget") &&
			   !!(have & TR_CALL_RENDER) == lists(kinds, "render") &&
			   !!(have & TR_CALL_VERBOSE) == lists(kinds, "verbose"),
		   "%.*s is %.*s", (int)name.len, name.data, (int)kinds.len, kinds.data);
	}
	vectors_close(&v);
	ok(tr_apitrace_call_kinds((struct tr_text){ NULL, 0 }) == 0, "no name at all");
	test_plain();
	test_api();
	return done_testing();
}
