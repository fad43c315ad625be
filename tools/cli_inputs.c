/*
 * Keeps the output apart from the input: -o does not replace a file that is read, and what is
 * written to stdout is not read back.
 */
#include "config.h"

#include "cli_private.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

struct file_id {
	dev_t device;
	ino_t inode;
};

static bool is_same_file(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* The operand's file; false where there is none, or where it is no regular file. */
static bool operand_stat(const char *operand, struct stat *st)
{
	int result = strcmp(operand, "-") == 0 ? fstat(STDIN_FILENO, st) : stat(operand, st);

	return result == 0 && S_ISREG(st->st_mode);
}

void tr_cli_keeps(struct tr_cli *cli, const struct stat *st)
{
	struct file_id id = { st->st_dev, st->st_ino };

	tr_buffer_put(&cli->private->inputs, (const char *)&id, sizeof id);
}

void tr_cli_reads(struct tr_cli *cli, struct tr_text path)
{
	char name[PATH_MAX];
	struct stat st;

	if (path.len >= sizeof name)
		return;
	memcpy(name, path.data, path.len);
	name[path.len] = '\0';
	if (stat(name, &st) == 0 && S_ISREG(st.st_mode))
		tr_cli_keeps(cli, &st);
}

bool tr_cli_refuses(struct tr_cli *cli, const char *path, const struct stat *replaced)
{
	const struct tr_buffer *inputs = &cli->private->inputs;
	struct file_id id;

	for (size_t at = 0; S_ISREG(replaced->st_mode) && at < inputs->len; at += sizeof id) {
		memcpy(&id, inputs->data + at, sizeof id);
		if (id.device != replaced->st_dev || id.inode != replaced->st_ino)
			continue;
		tr_cli_fail(cli, "%s is an input file: choose another name for the output", path);
		return true;
	}
	return false;
}

/*
 * Whether reading the operand would read what this tool writes to stdout, a regular file: it
 * has something to read, or is read after something was written.
 */
static bool reads_stdout(const char *operand, bool first, const struct stat *out)
{
	struct stat st;

	if (!operand_stat(operand, &st) || !is_same_file(&st, out))
		return false;
	off_t at = strcmp(operand, "-") == 0 ? lseek(STDIN_FILENO, 0, SEEK_CUR) : 0;
	return !first || at < st.st_size;
}

bool tr_cli_inputs_open(struct tr_cli *cli, const char *const *operands, size_t count)
{
	struct stat out, st;
	cli->private->inputs_known = true;
	bool on_stdout = !cli->output_path && fstat(STDOUT_FILENO, &out) == 0 &&
			 S_ISREG(out.st_mode);
	bool kept = cli->output_path || cli->private->log.path;

	if (!on_stdout && !kept)
		return true;
	for (size_t i = 0; i < count; i++) {
		if (on_stdout && reads_stdout(operands[i], i == 0, &out)) {
			tr_cli_fail(cli, "%s: input file is output file",
				    strcmp(operands[i], "-") == 0 ? "stdin" : operands[i]);
			return false;
		}
		if (kept && operand_stat(operands[i], &st))
			tr_cli_keeps(cli, &st);
	}
	if (cli->private->inputs.failed) {
		tr_cli_fail(cli, "out of memory");
		return false;
	}
	return true;
}
