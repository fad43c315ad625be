/* tr-envdiff: environments told against others, and what differs between two of them. */
#include "config.h"

#include "tr_envdiff.h"

enum {
	OPTION_BASE = 1,
	OPTION_INPUT_BASE,
	OPTION_NAMES,
	OPTION_COMPARE,
	OPTION_KEEP,
	OPTION_DROP,
	OPTION_MASK,
	OPTION_MASK_ONLY_NAMES,
};

static const struct tr_option options[] = {
	{ OPTION_BASE, 0, "base", "parent|top|none",
	  "write environments as differences against the parent's (default), against the first "
	  "one, or as a whole" },
	{ OPTION_INPUT_BASE, 0, "input-base", "parent|top|auto",
	  "base of the differences in the input (default parent); auto: detect it, and report "
	  "the evidence" },
	{ OPTION_COMPARE, 0, "compare", NULL,
	  "compare two environments, which the first two operands name: a task, seq:N, top; or "
	  "two files" },
	{ OPTION_KEEP, 0, "keep", "GLOB", "only variables of these names (repeatable)" },
	{ OPTION_DROP, 0, "drop", "GLOB", "no variables of these names (repeatable)" },
	{ OPTION_MASK, 0, "mask", "GLOB",
	  "*** instead of the values of variables of these names, and of these values wherever "
	  "else they are (repeatable)" },
	{ OPTION_MASK_ONLY_NAMES, 0, "mask-only-names", NULL,
	  "with --mask, do not search for the values elsewhere" },
	{ OPTION_NAMES, 0, "names", "auto|exact|windows",
	  "whether PATH and Path are two variables or one (auto: one in traces from Windows)" },
	{ 0 },
};

static const char *const examples[] = {
	"which processes got another PATH than their parents?",
	"tr-envdiff --keep=PATH build.json | tr-filter --fields=seq,name,envdiff 'has(envdiff)'",
	"environments that do not depend on other records, without secrets",
	"tr-envdiff --base=none --mask='*TOKEN*' --mask='*PASSW*' build.json",
	"what make changed for the process with id 12",
	"tr-envdiff --compare top 12 build.json",
	NULL,
};

static const struct tr_tool tool = {
	.name = "tr-envdiff",
	.usage = "[OPTION...] [FILE...]",
	.summary =
		"Converts the environments of the programs in a trace, redacts them, or compares "
		"two of them.",
	.shared = TR_CLI_ALL,
	.options = options,
	.status_one = "with --compare: there are differences",
	.examples = examples,
};

static void add_glob(struct tr_envdiff *envdiff, struct tr_globs *globs)
{
	struct tr_cli *cli = envdiff->cli;

	if (!tr_glob_is_complete(cli->argument))
		tr_cli_usage(cli,
			     *cli->argument ? "pattern '%s': unclosed '['" : "empty pattern '%s'",
			     cli->argument);
	else if (!tr_globs_add(globs, cli->argument))
		tr_envdiff_out_of_memory(envdiff);
}

static void set_option(struct tr_envdiff *envdiff, int option, bool *compares, bool *rewrites)
{
	static const enum tr_telling bases[] = { TR_TELLS_PARENT, TR_TELLS_TOP, TR_TELLS_WHOLE };
	struct tr_cli *cli = envdiff->cli;
	bool chooses =
		option == OPTION_BASE || option == OPTION_INPUT_BASE || option == OPTION_NAMES;
	int choice = chooses ? tr_cli_choice(cli) : 0;

	if (choice < 0)
		return;
	switch (option) {
	case OPTION_BASE:
		envdiff->base = bases[choice];
		*rewrites = true;
		break;
	case OPTION_INPUT_BASE:
		envdiff->input_base = (enum tr_input_base)choice;
		break;
	case OPTION_NAMES:
		envdiff->names = (enum tr_name_case)choice;
		break;
	case OPTION_COMPARE:
		*compares = true;
		break;
	case OPTION_KEEP:
		add_glob(envdiff, &envdiff->globs.keep);
		break;
	case OPTION_DROP:
		add_glob(envdiff, &envdiff->globs.drop);
		break;
	case OPTION_MASK:
		add_glob(envdiff, &envdiff->globs.mask);
		break;
	case OPTION_MASK_ONLY_NAMES:
		envdiff->mask_only_names = true;
		break;
	}
}

static void free_envdiff(struct tr_envdiff *envdiff)
{
	tr_comparison_free(envdiff);
	tr_mask_free(envdiff);
	while (envdiff->first) {
		struct tr_heir *next = envdiff->first->behind;
		tr_lineage_release(envdiff->lineage, envdiff->first);
		envdiff->first = next;
	}
	tr_line_store_free(&envdiff->waiting);
	tr_line_store_free(&envdiff->segment);
	tr_lineage_free(envdiff->lineage);
	tr_lineage_free(envdiff->scout);
	tr_name_globs_free(&envdiff->globs);
	tr_buffer_free(&envdiff->map);
	tr_buffer_free(&envdiff->line);
	tr_buffer_free(&envdiff->scratch);
	tr_buffer_free(&envdiff->top_line);
}

int main(int argc, char **argv)
{
	struct tr_cli cli;
	struct tr_envdiff envdiff = { .cli = &cli, .base = TR_TELLS_PARENT };
	bool compares = false, rewrites = false;
	int option;

	tr_cli_begin(&cli, &tool, argc, argv);
	while ((option = tr_cli_option(&cli)) != 0)
		set_option(&envdiff, option, &compares, &rewrites);
	if (compares && rewrites && !cli.stop)
		tr_cli_usage(&cli, "--base cannot be combined with --compare");
	if (envdiff.mask_only_names && !envdiff.globs.mask.count && !cli.stop)
		tr_cli_usage(&cli, "--mask-only-names needs --mask");
	if (compares && !cli.stop)
		envdiff.comparison = tr_comparison_new(&envdiff);
	if (envdiff.globs.mask.count && !envdiff.mask_only_names && !cli.stop)
		tr_mask_begin(&envdiff);
	cli.config.tells_lost = !compares;
	if (!cli.stop && tr_cli_open(&cli) && tr_cli_output(&cli, false))
		tr_envdiff_run(&envdiff);
	free_envdiff(&envdiff);
	return tr_cli_end(&cli);
}
