/* The styles of process traces: see view/tree_text.h, dot_text.h, script_text.h. */
#include "config.h"

#include "tr_totext.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include "view/dot_text.h"
#include "view/script_text.h"
#include "view/tree_text.h"

enum { DOT_WIDTH = 50 };

/* Always NULL, for whoever returns it. */
static void *out_of_memory(struct tr_cli *cli)
{
	struct tr_error err;

	tr_error_memory(&err);
	tr_cli_abort(cli, &err);
	return NULL;
}

/* How wide the terminal is; 0: there is none. */
static size_t terminal_width(void)
{
	struct winsize size;

	return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

/* -O width where it is given. False: it is no number, which is reported. */
static bool read_width(struct tr_cli *cli, size_t *width)
{
	struct tr_text given = tr_setting_get(&cli->config.read.settings, "width", NULL);
	struct tr_cell cell = { .type = TR_CELL_TEXT, .text = given };
	uint64_t number;

	if (!given.data)
		return true;
	if (!tr_cell_number(&cell, &number) || number > INT16_MAX) {
		tr_cli_usage(cli, "width is a number up to %d", INT16_MAX);
		return false;
	}
	*width = (size_t)number;
	return true;
}

static void *create_tree(struct tr_cli *cli)
{
	struct tr_text lines = tr_setting_get(&cli->config.read.settings, "lines", "utf8");
	struct tr_tree_text_config config = { .width = cli->output_path ? 0 : terminal_width(),
					      .ascii = tr_text_is(lines, "ascii"),
					      .max_spool = cli->config.read.limits.max_spool };

	if (!read_width(cli, &config.width))
		return NULL;
	void *tree = tr_tree_text_new(&config, cli->out);
	return tree ? tree : out_of_memory(cli);
}

static enum tr_status put_tree(void *view, struct tr_record *record, struct tr_error *err)
{
	return tr_tree_text_put(view, record, err);
}

static void free_tree(void *view)
{
	tr_tree_text_free(view);
}

static void *create_dot(struct tr_cli *cli)
{
	struct tr_dot_text_config config = { .width = DOT_WIDTH,
					     .max_spool = cli->config.read.limits.max_spool };

	if (!read_width(cli, &config.width))
		return NULL;
	void *dot = tr_dot_text_new(&config, cli->out);
	return dot ? dot : out_of_memory(cli);
}

static enum tr_status put_dot(void *view, struct tr_record *record, struct tr_error *err)
{
	return tr_dot_text_put(view, record, err);
}

static void free_dot(void *view)
{
	tr_dot_text_free(view);
}

static void *create_script(struct tr_cli *cli)
{
	struct tr_text nested = tr_setting_get(&cli->config.read.settings, "nested", "no");
	struct tr_script_text_config config = { .nested = tr_text_is(nested, "yes"),
						.max_spool = cli->config.read.limits.max_spool,
						.max_ratio = cli->config.read.limits.max_ratio };
	void *script = tr_script_text_new(&config, cli->out);

	return script ? script : out_of_memory(cli);
}

static enum tr_status put_script(void *view, struct tr_record *record, struct tr_error *err)
{
	return tr_script_text_put(view, record, err);
}

static void free_script(void *view)
{
	tr_script_text_free(view);
}

static const char *const none[] = { NULL };
static const char *const formats[] = { "klocwork", "strace",	"bear", "etrace",
				       "compdb",   "buildspec", NULL };
static const char *const kinds[] = { "exec", "fork", "exit", NULL };

const struct tr_style tr_style_tree = {
	.name = "tree",
	.formats = formats,
	.shows = "processes",
	.kinds = kinds,
	.create = create_tree,
	.put = put_tree,
	.free = free_tree,
};
const struct tr_style tr_style_dot = {
	.name = "dot",
	.formats = none,
	.shows = "processes",
	.kinds = kinds,
	.create = create_dot,
	.put = put_dot,
	.free = free_dot,
};
const struct tr_style tr_style_script = {
	.name = "script",
	.formats = none,
	.shows = "commands",
	.kinds = (const char *const[]){ "exec", NULL },
	.create = create_script,
	.put = put_script,
	.free = free_script,
};
