/* What the files of tr-totext share: a style is how the records of a format are shown. */
#ifndef TR_TOOLS_TR_TOTEXT_H
#define TR_TOOLS_TR_TOTEXT_H

#include "cli.h"

struct tr_style {
	const char *name;
	const char *const *formats; /* whose default it is; NULL-terminated */
	const char *shows;	    /* "API calls": what its records are, for messages */
	const char *const *kinds;   /* of records that it shows; NULL-terminated */

	/* As cli's settings have it, on cli->out. NULL: it is reported, and cli->stop is set. */
	void *(*create)(struct tr_cli *cli);
	/* The next line of the stream, NULL at its end. As tr_apitrace_text_put. */
	enum tr_status (*put)(void *view, struct tr_record *record, struct tr_error *err);
	void (*free)(void *view);
	/* As tr_apitrace_text_taker. NULL: there is none. */
	struct tr_call_taker *(*taker)(void *view);
};

extern const struct tr_style tr_style_apitrace;
extern const struct tr_style tr_style_gnatcov;
extern const struct tr_style tr_style_gnatcov_raw;
extern const struct tr_style tr_style_gnatcov_base;
extern const struct tr_style tr_style_gnatcov_src;
extern const struct tr_style tr_style_tree;
extern const struct tr_style tr_style_dot;
extern const struct tr_style tr_style_script;
extern const struct tr_format_option tr_totext_settings[];

#endif
