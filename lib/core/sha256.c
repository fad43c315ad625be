/* SPDX-License-Identifier: MIT */
/* SHA-256 as nettle computes it. */
#include "core/sha256.h"

#include <nettle/sha2.h>
#include <nettle/version.h>

#define STRING(number) STRING_OF(number)
#define STRING_OF(number) #number
#define DOTTED(major, minor) STRING(major) "." STRING(minor)

void tr_sha256_hex(struct tr_text bytes, char *to)
{
	struct sha256_ctx context;
	uint8_t digest[SHA256_DIGEST_SIZE];

	sha256_init(&context);
	sha256_update(&context, bytes.len, (const uint8_t *)bytes.data);
	sha256_digest(&context, sizeof digest, digest);
	for (size_t i = 0; i < sizeof digest; i++) {
		*to++ = "0123456789abcdef"[digest[i] >> 4];
		*to++ = "0123456789abcdef"[digest[i] & 15];
	}
}

const char *tr_sha256_version(void)
{
	return "nettle " DOTTED(NETTLE_VERSION_MAJOR, NETTLE_VERSION_MINOR);
}
