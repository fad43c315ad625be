/* Opens an operand: a file, standard input, or the archive that it is. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "format/trace_private.h"

static int open_file(struct tr_trace *trace, const char *operand, struct tr_error *err)
{
	const struct tr_trace_config *config = &trace->config;
	struct stat st;

	/* opening a named pipe waits for its writer */
	if (config->on_wait && trace->place.file && stat(operand, &st) == 0 && S_ISFIFO(st.st_mode))
		config->on_wait(config->wait_context);
	int fd = trace->place.file ? open(operand, O_RDONLY | O_CLOEXEC | O_NOCTTY) : STDIN_FILENO;

	if (fd < 0 || fstat(fd, &st) != 0) {
		tr_error_system(err, errno, "cannot open");
	} else if (S_ISDIR(st.st_mode)) {
		tr_error_set(err, TR_CAUSE_USAGE, "is a directory");
	} else {
		trace->place.mtime = (int64_t)st.st_mtime;
		trace->place.size = S_ISREG(st.st_mode) ? (int64_t)st.st_size : -1;
		return fd;
	}
	if (fd >= 0 && trace->place.file)
		close(fd);
	return -1;
}

enum tr_status tr_trace_open_operand(struct tr_trace *trace, const char *operand,
				     struct tr_error *err)
{
	if (!tr_trace_name_place(trace, operand, NULL, err))
		return TR_FATAL;
	int fd = open_file(trace, operand, err);
	if (fd < 0)
		return TR_WARN;
	if (!tr_trace_decode(trace, tr_source_fd(fd, trace->place.file != NULL), err))
		return err->cause == TR_CAUSE_MEMORY ? TR_FATAL : TR_WARN;
	enum tr_status status = tr_trace_enter_archive(trace, err);
	return status == TR_OK ? tr_trace_find_format(trace, err) : status;
}
