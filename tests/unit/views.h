/* SPDX-License-Identifier: MIT */
/*
 * Views behind one interface, for tests that show the same stream in all of them: put_NAME takes a
 * record, or NULL at the end of the stream, and drop_NAME frees the view.
 */
#ifndef TR_TESTS_VIEWS_H
#define TR_TESTS_VIEWS_H

#include "format/format.h"
#include "view/chrome.h"
#include "view/dot_text.h"
#include "view/html.h"
#include "view/json_records.h"
#include "view/script_text.h"
#include "view/stat.h"
#include "view/tree_text.h"

/* The functions of a view that takes each line, and NULL at the end. */
#define VIEW(name) \
	static enum tr_status put_##name(void *view, struct tr_record *record, \
					 struct tr_error *err) \
	{ \
		struct tr_##name *self = view; \
		return tr_##name##_put(self, record, err); \
	} \
	static void drop_##name(void *view) \
	{ \
		struct tr_##name *self = view; \
		tr_##name##_free(self); \
	}

VIEW(tree_text)
VIEW(dot_text)
VIEW(script_text)
VIEW(chrome)
VIEW(html)

/* The functions of a style of a format. */
#define STYLE(name, format, number) \
	static enum tr_status put_##name(void *view, struct tr_record *record, \
					 struct tr_error *err) \
	{ \
		return format.styles[number].put(view, record, err); \
	} \
	static void drop_##name(void *view) \
	{ \
		format.styles[number].free(view); \
	}

STYLE(apitrace_text, tr_format_apitrace, 0)

static enum tr_status put_json(void *view, struct tr_record *record, struct tr_error *err)
{
	if (record)
		return tr_json_view_put(view, record, err);
	tr_json_view_finish(view);
	return TR_OK;
}

static void drop_json(void *view)
{
	tr_json_view_free(view);
}

#endif
