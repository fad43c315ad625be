/* SPDX-License-Identifier: MIT */
/*
 * Software bills of materials: files, their hashes, and what they depend on.
 *
 * Sources of the facts: the JSON schema of CycloneDX 1.5 (ECMA-424) and SPDX 2.3 (clauses 6, 7, 8
 * and 11). SPDX requires a SHA-1 of each file, so files are always hashed for it; one that does not
 * exist here is a package whose files are not analysed.
 */
#include "tr_deps.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "core/blob_dir.h"
#include "view/json_value.h"

bool tr_deps_hash(struct tr_deps *deps, const struct tr_deps_path *path, char *sha256, char *sha1)
{
	tr_deps_text(deps, path);
	tr_buffer_put_byte(&deps->text, '\0');
	if (deps->text.failed)
		return false;
	int fd = open(deps->text.data, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat status;
	bool fine = fd >= 0 && fstat(fd, &status) == 0;

	if (fine && !S_ISREG(status.st_mode)) {
		errno = EINVAL;
		fine = false;
	}
	fine = fine && tr_hash_file(fd, sha256, sha1);
	if (!fine)
		tr_cli_note(&deps->cli, "no hash of %s: %s", deps->text.data, strerror(errno));
	if (fd >= 0)
		close(fd);
	return fine;
}

/* One file of the document. */
struct entry {
	struct tr_deps_path *path;
	bool hashed;
	char sha256[TR_SHA256_HEX], sha1[TR_SHA1_HEX];
	struct tr_deps_set needs;
};

struct document {
	struct tr_deps *deps;
	struct entry *entries;
	size_t count;
	struct tr_buffer body; /* the input of the serial number */
};

static void put(struct document *document, const char *text)
{
	tr_buffer_put_text(&document->body, tr_text_from(text));
}

static void put_string(struct document *document, struct tr_text text)
{
	tr_buffer_put_byte(&document->body, '"');
	/* a path that is not UTF-8 has escapes, because these schemas require strings */
	struct tr_buffer name = TR_BUFFER_INIT;
	tr_json_view_name(text, &name);
	if (name.len >= 2)
		tr_buffer_put(&document->body, name.data + 1, name.len - 2);
	document->body.failed |= name.failed;
	tr_buffer_free(&name);
	tr_buffer_put_byte(&document->body, '"');
}

static void put_path(struct document *document, const struct tr_deps_path *path)
{
	put_string(document, tr_deps_text(document->deps, path));
}

/* Returns the id of a file: its position in the document, from 1. */
static size_t number_of(const struct tr_deps_path *path)
{
	return (size_t)(uintptr_t)path->user;
}

static void put_id(struct document *document, const struct tr_deps_path *path)
{
	put(document, "\"SPDXRef-File-");
	tr_buffer_put_decimal(&document->body, number_of(path));
	put(document, "\"");
}

static void put_cyclonedx(struct document *document)
{
	put(document, "\"components\":[");
	for (size_t i = 0; i < document->count; i++) {
		const struct entry *entry = &document->entries[i];
		put(document,
		    i ? ",\n{\"type\":\"file\",\"bom-ref\":" : "\n{\"type\":\"file\",\"bom-ref\":");
		put_path(document, entry->path);
		put(document, ",\"name\":");
		put_path(document, entry->path);
		if (entry->hashed) {
			put(document, ",\"hashes\":[{\"alg\":\"SHA-256\",\"content\":\"");
			tr_buffer_put(&document->body, entry->sha256, TR_SHA256_HEX);
			put(document, "\"}]");
		}
		put(document, "}");
	}
	put(document, "],\n\"dependencies\":[");
	for (size_t i = 0; i < document->count; i++) {
		const struct entry *entry = &document->entries[i];
		put(document, i ? ",\n{\"ref\":" : "\n{\"ref\":");
		put_path(document, entry->path);
		put(document, ",\"dependsOn\":[");
		for (size_t k = 0; k < entry->needs.count; k++) {
			put(document, k ? "," : "");
			put_path(document, entry->needs.paths[k]);
		}
		put(document, "]}");
	}
	put(document, "]}\n");
}

static void put_spdx_file(struct document *document, const struct entry *entry, bool first)
{
	struct tr_buffer name = TR_BUFFER_INIT;

	put(document, first ? "\n{\"SPDXID\":" : ",\n{\"SPDXID\":");
	put_id(document, entry->path);
	put(document, entry->hashed ? ",\"fileName\":" : ",\"name\":");
	/* clause 8.1: names of files are relative, here to the root directory */
	if (entry->hashed)
		tr_buffer_put_byte(&name, '.');
	tr_buffer_put_text(&name, tr_deps_text(document->deps, entry->path));
	document->body.failed |= name.failed;
	put_string(document, tr_buffer_text(&name));
	tr_buffer_free(&name);
	if (!entry->hashed) {
		put(document, ",\"downloadLocation\":\"NOASSERTION\",\"filesAnalyzed\":false}");
		return;
	}
	put(document, ",\"checksums\":[{\"algorithm\":\"SHA1\",\"checksumValue\":\"");
	tr_buffer_put(&document->body, entry->sha1, TR_SHA1_HEX);
	put(document, "\"},{\"algorithm\":\"SHA256\",\"checksumValue\":\"");
	tr_buffer_put(&document->body, entry->sha256, TR_SHA256_HEX);
	put(document, "\"}],\"licenseConcluded\":\"NOASSERTION\",\"licenseInfoInFiles\":"
		      "[\"NOASSERTION\"],\"copyrightText\":\"NOASSERTION\"}");
}

static void put_spdx(struct document *document)
{
	for (int hashed = 1; hashed >= 0; hashed--) {
		bool first = true;
		put(document, hashed ? "\"files\":[" : "],\n\"packages\":[");
		for (size_t i = 0; i < document->count; i++) {
			if (document->entries[i].hashed != hashed)
				continue;
			put_spdx_file(document, &document->entries[i], first);
			first = false;
		}
	}
	put(document, "],\n\"relationships\":[");
	bool first = true;
	for (size_t i = 0; i < document->count; i++) {
		const struct entry *entry = &document->entries[i];
		put(document, first ? "\n{\"spdxElementId\":\"SPDXRef-DOCUMENT\","
				    : ",\n{\"spdxElementId\":\"SPDXRef-DOCUMENT\",");
		put(document, "\"relationshipType\":\"DESCRIBES\",\"relatedSpdxElement\":");
		put_id(document, entry->path);
		put(document, "}");
		first = false;
		for (size_t k = 0; k < entry->needs.count; k++) {
			put(document, ",\n{\"spdxElementId\":");
			put_id(document, entry->path);
			put(document, ",\"relationshipType\":\"GENERATED_FROM\","
				      "\"relatedSpdxElement\":");
			put_id(document, entry->needs.paths[k]);
			put(document, "}");
		}
	}
	put(document, "]}\n");
}

/* SOURCE_DATE_EPOCH makes documents reproducible: reproducible-builds.org/specs. */
static void put_time(struct tr_buffer *to)
{
	const char *given = getenv("SOURCE_DATE_EPOCH");
	char *end;
	time_t now = time(NULL);
	struct tm parts;
	char text[32];

	if (given && *given) {
		errno = 0;
		long long seconds = strtoll(given, &end, 10);
		if (!errno && !*end && seconds >= 0 && seconds < 253402300800)
			now = (time_t)seconds;
	}
	if (gmtime_r(&now, &parts) && strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts))
		tr_buffer_put_text(to, tr_text_from(text));
}

/* A UUID (version 8: of our own making) from the hash of the content. */
static void put_uuid(struct tr_text body, struct tr_buffer *to)
{
	char hex[TR_SHA256_HEX];

	tr_sha256_hex(body, hex);
	hex[12] = '8';
	hex[16] = "89ab"[tr_hex_digit(hex[16]) & 3];
	tr_buffer_put_literal(to, "urn:uuid:");
	for (int i = 0; i < 32; i++) {
		if (i == 8 || i == 12 || i == 16 || i == 20)
			tr_buffer_put_byte(to, '-');
		tr_buffer_put_byte(to, hex[i]);
	}
}

static bool add_entry(struct document *document, struct tr_deps_path *path, bool needs)
{
	struct tr_deps *deps = document->deps;
	struct entry *entry = &document->entries[document->count];

	if (path->user)
		return true;
	*entry = (struct entry){ .path = path, .needs = tr_deps_set_new(deps) };
	path->user = (void *)(uintptr_t)++document->count;
	if (deps->hash || deps->as == AS_SPDX)
		entry->hashed = tr_deps_hash(deps, path, entry->sha256, entry->sha1);
	if (!needs || !tr_deps_was_written(path))
		return true;
	if (!tr_deps_collect(deps, path, true, &entry->needs))
		return false;
	tr_deps_set_sort(&entry->needs);
	return true;
}

bool tr_deps_write_document(struct tr_deps *deps, const struct tr_deps_set *files)
{
	struct document document = { .deps = deps, .body = TR_BUFFER_INIT };
	struct tr_buffer head = TR_BUFFER_INIT;
	size_t most = files->count;
	bool fine = true;

	/* the document also has what the files depend on, so there must be room for every path */
	for (struct tr_deps_path *path = NULL; (path = tr_deps_next_path(deps, path));)
		most++;
	document.entries = calloc(most + 1, sizeof *document.entries);
	fine = document.entries;
	for (size_t i = 0; fine && i < files->count; i++)
		fine = add_entry(&document, files->paths[i], true);
	size_t asked = document.count;
	for (size_t i = 0; fine && i < asked; i++)
		for (size_t k = 0; fine && k < document.entries[i].needs.count; k++)
			fine = add_entry(&document, document.entries[i].needs.paths[k], false);
	if (fine && deps->as == AS_CYCLONEDX)
		put_cyclonedx(&document);
	else if (fine)
		put_spdx(&document);
	if (deps->as == AS_CYCLONEDX) {
		tr_buffer_put_literal(&head, "{\"bomFormat\":\"CycloneDX\",\"specVersion\":\"1.5\","
					     "\"serialNumber\":\"");
		put_uuid(tr_buffer_text(&document.body), &head);
		tr_buffer_put_literal(&head, "\",\"version\":1,\n\"metadata\":{\"timestamp\":\"");
		put_time(&head);
		tr_buffer_put_literal(
			&head, "\",\"tools\":{\"components\":[{\"type\":\"application\","
			       "\"name\":\"tr-deps\",\"version\":\"" PACKAGE_VERSION "\"}]}},\n");
	} else {
		tr_buffer_put_literal(&head,
				      "{\"spdxVersion\":\"SPDX-2.3\",\"dataLicense\":\"CC0-1.0\","
				      "\"SPDXID\":\"SPDXRef-DOCUMENT\",\"name\":\"tr-deps\","
				      "\"documentNamespace\":\"");
		put_uuid(tr_buffer_text(&document.body), &head);
		tr_buffer_put_literal(&head, "\",\n\"creationInfo\":{\"created\":\"");
		put_time(&head);
		tr_buffer_put_literal(&head, "\",\"creators\":[\"Tool: tr-deps-" PACKAGE_VERSION
					     "\"]},\n");
	}
	fine = fine && !head.failed && !document.body.failed;
	if (fine) {
		tr_output_put_text(deps->cli.out, tr_buffer_text(&head));
		tr_output_put_text(deps->cli.out, tr_buffer_text(&document.body));
	} else {
		struct tr_error err;
		tr_error_memory(&err);
		tr_cli_abort(&deps->cli, &err);
	}
	for (size_t i = 0; document.entries && i < document.count; i++)
		free(document.entries[i].needs.paths);
	free(document.entries);
	tr_buffer_free(&document.body);
	tr_buffer_free(&head);
	return fine;
}
