#include "record/real.h"

const struct tr_real_width tr_real64 = { 52, 1023, 0x7ff };
const struct tr_real_width tr_real32 = { 23, 127, 0xff };

enum { STEP = 28 };

/* 5^0 to 5^27: all that 64 bits hold. */
static const uint64_t small[STEP] = {
	0x1,
	0x5,
	0x19,
	0x7d,
	0x271,
	0xc35,
	0x3d09,
	0x1312d,
	0x5f5e1,
	0x1dcd65,
	0x9502f9,
	0x2e90edd,
	0xe8d4a51,
	0x48c27395,
	0x16bcc41e9,
	0x71afd498d,
	0x2386f26fc1,
	0xb1a2bc2ec5,
	0x3782dace9d9,
	0x1158e460913d,
	0x56bc75e2d631,
	0x1b1ae4d6e2ef5,
	0x878678326eac9,
	0x2a5a058fc295ed,
	0xd3c21bcecceda1,
	0x422ca8b0a00a425,
	0x14adf4b7320334b9,
	0x6765c793fa10079d,
};

/*
 * The first 192 bits of every 28th power of five, cut off. 64 bits more than
 * are asked for, so that the product with a small power is right in all of
 * its first 128 bits; test_real computes each one anew and compares.
 */
static const uint64_t large[][3] = {
	{ 0xe1afa13afbd14d6d, 0x82189c09a3a1ec21, 0x7a43516213c7e04c }, /* -364 */
	{ 0xe3e27a444d8d98b7, 0xfd1b1b2308169b25, 0x363b1f2c568dc3e2 }, /* -336 */
	{ 0xe61acf033d1a45df, 0x6fb92487298e33bd, 0xadd7728c20b99bd1 }, /* -308 */
	{ 0xe858ad248f5c22c9, 0xd1b3400f8f9cff68, 0xf910f9f648232f14 }, /* -280 */
	{ 0xea9c227723ee8bcb, 0x465e15a979c1cadc, 0x0a0ce827eac11f2d }, /* -252 */
	{ 0xece53cec4a314ebd, 0xa4f8bf5635246428, 0x4609ac5c7899ca36 }, /* -224 */
	{ 0xef340a98172aace4, 0x86fb897116c87c34, 0x9c39c1da4c49278d }, /* -196 */
	{ 0xf18899b1bc3f8ca1, 0xdc44e6c3cb279ac1, 0xf80f36174730ca34 }, /* -168 */
	{ 0xf3e2f893dec3f126, 0x5a89dba3c3efccfa, 0xd8ecb58659be9c90 }, /* -140 */
	{ 0xf64335bcf065d37d, 0x4d4617b5ff4a16d5, 0xaa09501d5954a559 }, /* -112 */
	{ 0xf8a95fcf88747d94, 0x75a44c6397ce912a, 0x33cca6c06b07b74d }, /* -84 */
	{ 0xfb158592be068d2e, 0xeed6e2f0f0d56712, 0xac2e4f162cfad40a }, /* -56 */
	{ 0xfd87b5f28300ca0d, 0x8bca9d6e188853fc, 0x76dcb60081ce0fa5 }, /* -28 */
	{ 0x8000000000000000, 0x0000000000000000, 0x0000000000000000 }, /* 0 */
	{ 0x813f3978f8940984, 0x4000000000000000, 0x0000000000000000 }, /* 28 */
	{ 0x82818f1281ed449f, 0xbff8f10e7a8921a4, 0x2000000000000000 }, /* 56 */
	{ 0x83c7088e1aab65db, 0x792667c6da79e0fa, 0x0861d3ee22d1cc53 }, /* 84 */
	{ 0x850fadc09923329e, 0x03e2cf6bc604ddb0, 0x74a7ef0198791097 }, /* 112 */
	{ 0x865b86925b9bc5c2, 0x0b8a2392ba45a9b2, 0x5c6658d409fb8bf7 }, /* 140 */
	{ 0x87aa9aff79042286, 0x90fb44d2f05d0842, 0xfb118fc9c217a1d2 }, /* 168 */
	{ 0x88fcf317f22241e2, 0x441fece3bdf81f03, 0x12f274928400100d }, /* 196 */
	{ 0x8a5296ffe33cc92f, 0x82bd6b70d99aaa6f, 0xbc10c5c5cda97c8d }, /* 224 */
	{ 0x8bab8eefb6409c1a, 0x1ad089b6c2f7548e, 0x25c7b885ba466e37 }, /* 252 */
	{ 0x8d07e33455637eb2, 0xdb0b487b6423e1e8, 0x7ec63730f500b406 }, /* 280 */
	{ 0x8e679c2f5e44ff8f, 0x570f09eaa7ea7648, 0x5961db50c6d2b886 }, /* 308 */
};

typedef unsigned __int128 u128;

struct tr_power tr_power5(int q)
{
	unsigned index = (unsigned)(q - TR_POWER_MIN);
	const uint64_t *row = large[index / STEP];
	uint64_t factor = small[index % STEP];
	u128 p0 = (u128)row[2] * factor;
	u128 p1 = (u128)row[1] * factor + (uint64_t)(p0 >> 64);
	u128 p2 = (u128)row[0] * factor + (uint64_t)(p1 >> 64);
	uint64_t a = (uint64_t)(p2 >> 64), b = (uint64_t)p2, c = (uint64_t)p1;
	if (a == 0) /* factor 1 */
		return (struct tr_power){ b, c };
	int zeros = __builtin_clzll(a);
	if (zeros == 0)
		return (struct tr_power){ a, b };
	return (struct tr_power){ a << zeros | b >> (64 - zeros), b << zeros | c >> (64 - zeros) };
}

/* From 5^-31 on; test_real computes each one anew and compares. */
const uint64_t tr_powers_above[TR_POWERS_ABOVE] = {
	0x81ceb32c4b43fcf5, 0xa2425ff75e14fc32, 0xcad2f7f5359a3b3f, 0xfd87b5f28300ca0e,
	0x9e74d1b791e07e49, 0xc612062576589ddb, 0xf79687aed3eec552, 0x9abe14cd44753b53,
	0xc16d9a0095928a28, 0xf1c90080baf72cb2, 0x971da05074da7bef, 0xbce5086492111aeb,
	0xec1e4a7db69561a6, 0x9392ee8e921d5d08, 0xb877aa3236a4b44a, 0xe69594bec44de15c,
	0x901d7cf73ab0acda, 0xb424dc35095cd810, 0xe12e13424bb40e14, 0x8cbccc096f5088cc,
	0xafebff0bcb24aaff, 0xdbe6fecebdedd5bf, 0x89705f4136b4a598, 0xabcc77118461cefd,
	0xd6bf94d5e57a42bd, 0x8637bd05af6c69b6, 0xa7c5ac471b478424, 0xd1b71758e219652c,
	0x83126e978d4fdf3c, 0xa3d70a3d70a3d70b, 0xcccccccccccccccd, 0x8000000000000000,
	0xa000000000000000, 0xc800000000000000, 0xfa00000000000000, 0x9c40000000000000,
	0xc350000000000000, 0xf424000000000000, 0x9896800000000000, 0xbebc200000000000,
	0xee6b280000000000, 0x9502f90000000000, 0xba43b74000000000, 0xe8d4a51000000000,
	0x9184e72a00000000, 0xb5e620f480000000, 0xe35fa931a0000000, 0x8e1bc9bf04000000,
	0xb1a2bc2ec5000000, 0xde0b6b3a76400000, 0x8ac7230489e80000, 0xad78ebc5ac620000,
	0xd8d726b7177a8000, 0x878678326eac9000, 0xa968163f0a57b400, 0xd3c21bcecceda100,
	0x84595161401484a0, 0xa56fa5b99019a5c8, 0xcecb8f27f4200f3a, 0x813f3978f8940985,
	0xa18f07d736b90be6, 0xc9f2c9cd04674edf, 0xfc6f7c4045812297, 0x9dc5ada82b70b59e,
	0xc5371912364ce306, 0xf684df56c3e01bc7, 0x9a130b963a6c115d, 0xc097ce7bc90715b4,
	0xf0bdc21abb48db21, 0x96769950b50d88f5, 0xbc143fa4e250eb32, 0xeb194f8e1ae525fe,
	0x92efd1b8d0cf37bf, 0xb7abc627050305ae, 0xe596b7b0c643c71a, 0x8f7e32ce7bea5c70,
	0xb35dbf821ae4f38c,
};
