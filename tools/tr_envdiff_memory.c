/* Memory, or the file that stands in for it, is out: who knows why? */
#include "config.h"

#include "tr_envdiff.h"

bool tr_envdiff_out_of_memory(struct tr_envdiff *envdiff)
{
	struct tr_error err;

	if (envdiff->lineage)
		tr_environments_error(tr_lineage_pool(envdiff->lineage), &err);
	else
		tr_error_memory(&err);
	tr_cli_abort(envdiff->cli, &err);
	return false;
}
