/* --blob-dir and --no-blobs: what becomes of the blobs in records. */
#include "config.h"

#include "cli_private.h"

bool tr_cli_blobs_open(struct tr_cli *cli, struct tr_cli_blobs *blobs)
{
	struct tr_cli_private *p = cli->private;

	if (cli->stop || !blobs->path)
		return !cli->stop;
	blobs->wanted = true;
	blobs->dir = tr_blob_dir_open(blobs->path, blobs->what == TR_BLOBS_STORE,
				      cli->config.read.limits.max_record, &p->err);
	if (!blobs->dir) {
		tr_cli_report(cli, &p->err);
		cli->stop = p->discard = true;
	}
	return !cli->stop;
}

void tr_cli_blobs_close(struct tr_cli *cli, struct tr_cli_blobs *blobs)
{
	struct tr_cli_private *p = cli->private;

	if (!blobs->dir)
		return;
	while (tr_blob_dir_sync(blobs->dir, &p->err) != TR_END)
		tr_cli_fail(cli, "%s", p->err.text);
	tr_blob_dir_close(blobs->dir);
	blobs->dir = NULL;
}

bool tr_cli_blobs_change(struct tr_cli *cli, struct tr_cli_blobs *blobs, struct tr_record *record)
{
	struct tr_cli_private *p = cli->private;

	if (cli->stop || !blobs->wanted)
		return !cli->stop;
	enum tr_status status = tr_record_blobs(record, blobs->what, blobs->dir, &p->err);
	if (status == TR_OK)
		return true;
	tr_cli_report_record(cli, record, &p->err, true);
	if (status == TR_FATAL)
		cli->stop = p->discard = true;
	return false;
}
