// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * CRC-32 by carry-less multiplication, with vectors of three widths.
 *
 * The CRC of a message M is M * x^32 mod P. The least significant bit of a byte comes first. So
 * bit i is the coefficient of x^(127 - i) in a 128-bit lane, of x^(63 - i) in a 64-bit word, and of
 * x^(31 - i) in a CRC. The product of two 64-bit words a, b is a lane a * b * x. The CRC so far is
 * added to the first four bytes.
 *
 * Folding: a lane holds h1 * x^64 + h0. To move it on by n bits gives h1 * x^(n + 64) + h0 * x^n.
 * The powers are reduced to 32 bits beforehand, so the sum fits into a lane. The data n bits
 * further on is added to it. Four streams of vectors are folded in parallel, because a product
 * takes several cycles.
 *
 * The end: every lane is moved directly to the last bit of the message, and by 32 + 32 bits more.
 * Their sum S = s1 * x^64 + s0 is (M * x^32) * x^32, not yet reduced, in s1 and 32 bits of s0.
 * Barrett: the quotient q = floor(S / x^32 / P) is exactly floor(s1 * floor(x^95 / P) / x^63), and
 * S plus q * P * x^32 is the CRC times x^32, in the third 32-bit word of the lane.
 *
 * Exponents: the extra x of each product subtracts one, and a 32-bit remainder that serves as a
 * 64-bit word without a shift counts as x^32.
 */
/* Sparse cannot parse vector types. */
#if defined(CONFIG_X86_64) && !defined(__CHECKER__)

#include <linux/cache.h>
#include <linux/compiler.h>
#include <linux/types.h>

#include "crc/crc_fold.h"
#include "crc/crc_method.h"

#define POLYNOMIAL	0xedb88320u
/* Vectors folded in parallel. */
#define STREAMS		4
/* Most lanes before the end: STREAMS vectors of four lanes, and three more. */
#define LAST_KEYS	(STREAMS * 4 + 3)
/* More keys for vectors that reach beyond the end with lanes of zeros. */
#define ALL_KEYS	(LAST_KEYS + 3)

typedef u64 v128 __attribute__((vector_size(16), may_alias)) __aligned(1);
typedef u64 v256 __attribute__((vector_size(32), may_alias)) __aligned(1);
typedef u64 v512 __attribute__((vector_size(64), may_alias)) __aligned(1);

/**
 * struct fold_keys - factors, written once
 * @stride: move a lane on by STREAMS vectors of 1, 2 or 4 lanes; the same for all lanes
 * @last: move a lane to the end; [LAST_KEYS - 1] is for the last lane
 * @quotient: floor(x^95 / P)
 * @polynomial: P * x^31
 */
struct fold_keys {
	u64 stride[3][8] __aligned(64);
	u64 last[ALL_KEYS][2];
	u64 quotient[2] __aligned(16);
	u64 polynomial[2] __aligned(16);
};

static struct fold_keys keys __ro_after_init;

static u32 times_x(u32 a)
{
	return a >> 1 ^ (a & 1 ? POLYNOMIAL : 0);
}

/* x^@n mod P; as a 64-bit word it counts x^32 more. */
static u64 power_of_x(u32 n)
{
	u32 a = 0x80000000;

	while (n--)
		a = times_x(a);
	return a;
}

/**
 * sroce_fold_init() - compute the constants; to be called first
 */
void sroce_fold_init(void)
{
	u32 i, width, bits, remainder = 1;

	for (width = 0; width < 3; width++) {
		bits = STREAMS * 128 << width;
		for (i = 0; i < 8; i += 2) {
			keys.stride[width][i] = power_of_x(bits + 64 - 1 - 32);
			keys.stride[width][i + 1] = power_of_x(bits - 1 - 32);
		}
	}
	for (i = 0; i < LAST_KEYS; i++) {
		bits = (LAST_KEYS - 1 - i) * 128;
		keys.last[i][0] = power_of_x(bits + 64 - 1 + 32);
		keys.last[i][1] = power_of_x(bits - 1 + 32);
	}
	/* Long division of x^31 * x^64, which begins with a remainder of x^31. */
	for (i = 0; i < 64; i++) {
		keys.quotient[0] |= (u64)(remainder & 1) << i;
		remainder = times_x(remainder);
	}
	keys.polynomial[0] = (u64)POLYNOMIAL << 1;
}

/* Without AVX an instruction has two operands: the result replaces the first. */
#define TARGET_PCLMUL __attribute__((target("sse4.1,pclmul")))

#define FOLD(name)	pclmul_##name
#define FOLD_TARGET	TARGET_PCLMUL
#define VEC		v128
#define LANES		1
#define STRIDE		keys.stride[0]
#define CLMUL(words, r, a, b) \
	asm("pclmulqdq $" words ", %2, %0" : "=x" (r) : "0" (a), "x" (b))
#define TO_LANE(v)	(v)
#include "crc/crc_fold_vector.h"

/**
 * sroce_fold_pclmul() - continue a CRC with PCLMULQDQ and SSE 4.1
 * @crc: CRC register
 * @from: data
 * @bytes: how many, a multiple of SROCE_FOLD_PCLMUL_BYTES
 *
 * Return: the new register.
 */
TARGET_PCLMUL u32 sroce_fold_pclmul(u32 crc, const void *from, size_t bytes)
{
	return pclmul_whole(false, crc, NULL, from, bytes);
}

/**
 * sroce_fold_pclmul_copy() - copy, and continue a CRC over the copy
 * @crc: CRC register
 * @to: destination
 * @from: data
 * @bytes: how many, a multiple of SROCE_FOLD_PCLMUL_BYTES
 *
 * Return: the new register.
 */
TARGET_PCLMUL u32 sroce_fold_pclmul_copy(u32 crc, void *to, const void *from, size_t bytes)
{
	return pclmul_whole(true, crc, to, from, bytes);
}

/*
 * The words of a prefix are added in registers, because a vector load of memory just written in
 * words would stall. Prefix and data are reduced once.
 */
static __always_inline TARGET_PCLMUL u32 pclmul_prefixed(bool copy,
							 const struct sroce_crc_prefix *prefix,
							 u8 *to, const u8 *from, size_t bytes)
{
	const v128 *block = (const v128 *)prefix->block;
	v128 id = { 0, (u64)prefix->ip_id_word << 32 };
	v128 bth = { prefix->bth_words << 32,
		     prefix->bth_words >> 32 | (u64)prefix->tail_word << 32 };

	return pclmul_run_streams(copy, block[0], block[1] ^ id, block[2], block[3] ^ bth, to,
				  from, bytes / 16, id, 0);
}

/**
 * sroce_fold_pclmul_prefixed() - CRC of a prefix and the data that follows it
 * @prefix: the prefix
 * @from: data
 * @bytes: how many, a multiple of SROCE_CRC_PREFIXED_UNIT; may be 0
 *
 * Return: the CRC register; it starts at 0.
 */
TARGET_PCLMUL u32 sroce_fold_pclmul_prefixed(const struct sroce_crc_prefix *prefix,
					     const void *from, size_t bytes)
{
	return pclmul_prefixed(false, prefix, NULL, from, bytes);
}

/**
 * sroce_fold_pclmul_prefixed_copy() - copy data, and compute the CRC of a prefix and the copy
 * @prefix: the prefix
 * @to: destination
 * @from: data
 * @bytes: how many, a multiple of SROCE_CRC_PREFIXED_UNIT; may be 0
 *
 * Return: the CRC register; it starts at 0.
 */
TARGET_PCLMUL u32 sroce_fold_pclmul_prefixed_copy(const struct sroce_crc_prefix *prefix, void *to,
						  const void *from, size_t bytes)
{
	return pclmul_prefixed(true, prefix, to, from, bytes);
}

#define TARGET_AVX2 __attribute__((target("avx2,pclmul,vpclmulqdq")))

static __always_inline TARGET_AVX2 v128 avx2_to_lane(v256 v)
{
	v128 r;

	asm("vextracti128 $1, %1, %0\n\t"
	    "vpxor %x1, %0, %0" : "=&x" (r) : "x" (v));
	return r;
}

#define FOLD(name)	avx2_##name
#define FOLD_TARGET	TARGET_AVX2
#define VEC		v256
#define LANES		2
#define STRIDE		keys.stride[1]
#define CLMUL(words, r, a, b) \
	asm("vpclmulqdq $" words ", %2, %1, %0" : "=x" (r) : "x" (a), "x" (b))
#define TO_LANE		avx2_to_lane
#include "crc/crc_fold_vector.h"

/**
 * sroce_fold_avx2() - continue a CRC with VPCLMULQDQ and AVX2
 * @crc: CRC register
 * @from: data
 * @bytes: how many, a multiple of SROCE_FOLD_AVX2_BYTES
 *
 * Return: the new register.
 */
TARGET_AVX2 u32 sroce_fold_avx2(u32 crc, const void *from, size_t bytes)
{
	return avx2_whole(false, crc, NULL, from, bytes);
}

/**
 * sroce_fold_avx2_copy() - copy, and continue a CRC over the copy
 * @crc: CRC register
 * @to: destination
 * @from: data
 * @bytes: how many, a multiple of SROCE_FOLD_AVX2_BYTES
 *
 * Return: the new register.
 */
TARGET_AVX2 u32 sroce_fold_avx2_copy(u32 crc, void *to, const void *from, size_t bytes)
{
	return avx2_whole(true, crc, to, from, bytes);
}

/* The prefix is the first two vectors; half a vector may be left at the end. */
static __always_inline TARGET_AVX2 u32 avx2_prefixed(bool copy,
						     const struct sroce_crc_prefix *prefix,
						     u8 *to, const u8 *from, size_t bytes)
{
	v256 a = *(const v256 *)prefix->block, b = *(const v256 *)(prefix->block + 32), c, d;
	v256 id = { 0, 0, 0, (u64)prefix->ip_id_word << 32 };
	v256 bth = { 0, 0, prefix->bth_words << 32,
		     prefix->bth_words >> 32 | (u64)prefix->tail_word << 32 };
	u32 lanes = bytes % 32 / 16;
	size_t more = bytes / 32;
	v256 last = {}, sum;
	v128 lane;

	a ^= id;
	b ^= bth;
	if (lanes) {
		lane = *(const v128 *)(from + bytes - 16);
		if (copy) {
			asm("" : "+x" (lane));
			*(v128 *)(to + bytes - 16) = lane;
		}
		last = (v256){ lane[0], lane[1] };
	}
	if (more >= 2) {
		c = avx2_take(copy, &to, &from);
		d = avx2_take(copy, &to, &from);
		return avx2_run_streams(copy, a, b, c, d, to, from, more - 2, last, lanes);
	}
	sum = avx2_mul_last(a, more + 1, lanes) ^ avx2_mul_last(b, more, lanes);
	if (more)
		sum ^= avx2_mul_last(avx2_take(copy, &to, &from), 0, lanes);
	if (lanes)
		sum ^= avx2_mul(last, avx2_load(keys.last[LAST_KEYS - 1]));
	return avx2_reduce(sum);
}

/**
 * sroce_fold_avx2_prefixed() - CRC of a prefix and the data that follows it
 * @prefix: the prefix
 * @from: data
 * @bytes: how many, a multiple of SROCE_CRC_PREFIXED_UNIT; may be 0
 *
 * Return: the CRC register; it starts at 0.
 */
TARGET_AVX2 u32 sroce_fold_avx2_prefixed(const struct sroce_crc_prefix *prefix, const void *from,
					 size_t bytes)
{
	return avx2_prefixed(false, prefix, NULL, from, bytes);
}

/**
 * sroce_fold_avx2_prefixed_copy() - copy data, and compute the CRC of a prefix and the copy
 * @prefix: the prefix
 * @to: destination
 * @from: data
 * @bytes: how many, a multiple of SROCE_CRC_PREFIXED_UNIT; may be 0
 *
 * Return: the CRC register; it starts at 0.
 */
TARGET_AVX2 u32 sroce_fold_avx2_prefixed_copy(const struct sroce_crc_prefix *prefix, void *to,
					      const void *from, size_t bytes)
{
	return avx2_prefixed(true, prefix, to, from, bytes);
}

#define TARGET_AVX512 \
	__attribute__((target("avx2,pclmul,vpclmulqdq,avx512f,avx512bw,avx512vl,avx512vbmi2")))

static __always_inline TARGET_AVX512 v128 avx512_to_lane(v512 v)
{
	v256 pair;
	v128 r;

	asm("vextracti64x4 $1, %1, %0\n\t"
	    "vpxorq %t1, %0, %0" : "=&v" (pair) : "v" (v));
	asm("vextracti64x2 $1, %1, %0\n\t"
	    "vpxorq %x1, %0, %0" : "=&v" (r) : "v" (pair));
	return r;
}

#define FOLD(name)	avx512_##name
#define FOLD_TARGET	TARGET_AVX512
#define VEC		v512
#define LANES		4
#define STRIDE		keys.stride[2]
#define CLMUL(words, r, a, b) \
	asm("vpclmulqdq $" words ", %2, %1, %0" : "=v" (r) : "v" (a), "v" (b))
#define TO_LANE		avx512_to_lane
#include "crc/crc_fold_vector.h"

/* Load the vector at @offset. Bytes outside @mask are zero and are not accessed. */
static __always_inline TARGET_AVX512 v512 take_masked(bool copy, u8 *to, const u8 *from,
						      long offset, u64 mask)
{
	v512 v;

	asm volatile("kmovq %2, %%k1\n\t"
		     "vmovdqu8 (%1), %0%{%%k1%}%{z%}"
		     : "=v" (v) : "r" (from + offset), "r" (mask) : "k1", "memory");
	if (copy)
		asm volatile("kmovq %2, %%k1\n\t"
			     "vmovdqu8 %0, (%1)%{%%k1%}"
			     : : "v" (v), "r" (to + offset), "r" (mask) : "k1", "memory");
	return v;
}

/* Put the bytes of @crc at the positions in @mask. */
static __always_inline TARGET_AVX512 v512 spread_crc(u32 crc, u64 mask)
{
	v512 v = { crc };

	asm("kmovq %1, %%k1\n\t"
	    "vpexpandb %0, %0%{%%k1%}%{z%}" : "+v" (v) : "r" (mask) : "k1");
	return v;
}

/*
 * Number of bytes before the first whole vector. Normally the data ends with a whole vector, so
 * that only the first is partial. A long copy is aligned to the cache lines of @to instead, if the
 * last vector then consists of whole lanes.
 */
static __always_inline u32 head_bytes(bool copy, const u8 *to, size_t bytes)
{
	u32 head = -(unsigned long)to % 64;

	if (copy && bytes >= 512 && (bytes - head) % 16 == 0)
		return head;
	return bytes % 64;
}

static __always_inline TARGET_AVX512 u32 avx512_all(bool copy, u32 crc, u8 *to, const u8 *from,
						    size_t bytes)
{
	u32 head = head_bytes(copy, to, bytes), lanes = (bytes - head) % 64 / 16;
	v512 first, last = {};
	size_t whole;

	if (head) {
		first = take_masked(copy, to, from, (long)head - 64, ~0ull << (64 - head)) ^
			spread_crc(crc, 15ull << (64 - head));
		if (copy)
			to += head;
		from += head;
		bytes -= head;
		whole = bytes / 64;
	} else {
		first = avx512_add(avx512_take(copy, &to, &from), crc);
		whole = bytes / 64 - 1;
	}
	if (lanes)
		last = take_masked(copy, to, from, whole * 64, ~0ull >> (64 - lanes * 16));
	return avx512_run(copy, first, to, from, whole, last, lanes);
}

/**
 * sroce_fold_avx512() - continue a CRC with VPCLMULQDQ and AVX-512
 * @crc: CRC register
 * @from: data
 * @bytes: how many, a multiple of SROCE_FOLD_AVX512_BYTES
 *
 * Return: the new register.
 */
TARGET_AVX512 u32 sroce_fold_avx512(u32 crc, const void *from, size_t bytes)
{
	return avx512_all(false, crc, NULL, from, bytes);
}

/**
 * sroce_fold_avx512_copy() - copy, and continue a CRC over the copy
 * @crc: CRC register
 * @to: destination
 * @from: data
 * @bytes: how many, a multiple of SROCE_FOLD_AVX512_BYTES
 *
 * Return: the new register.
 */
TARGET_AVX512 u32 sroce_fold_avx512_copy(u32 crc, void *to, const void *from, size_t bytes)
{
	return avx512_all(true, crc, to, from, bytes);
}

/* The prefix is the first vector. */
static __always_inline TARGET_AVX512 u32 avx512_prefixed(bool copy,
							 const struct sroce_crc_prefix *prefix,
							 u8 *to, const u8 *from, size_t bytes)
{
	v512 words = { 0, 0, 0, (u64)prefix->ip_id_word << 32, 0, 0, prefix->bth_words << 32,
		       prefix->bth_words >> 32 | (u64)prefix->tail_word << 32 };
	u32 lanes = bytes % 64 / 16;
	v512 last = {};

	if (lanes)
		last = take_masked(copy, to, from, bytes - lanes * 16, ~0ull >> (64 - lanes * 16));
	return avx512_run(copy, avx512_load(prefix->block) ^ words, to, from, bytes / 64, last,
			  lanes);
}

/**
 * sroce_fold_avx512_prefixed() - CRC of a prefix and the data that follows it
 * @prefix: the prefix
 * @from: data
 * @bytes: how many, a multiple of SROCE_CRC_PREFIXED_UNIT; may be 0
 *
 * Return: the CRC register; it starts at 0.
 */
TARGET_AVX512 u32 sroce_fold_avx512_prefixed(const struct sroce_crc_prefix *prefix,
					     const void *from, size_t bytes)
{
	return avx512_prefixed(false, prefix, NULL, from, bytes);
}

/**
 * sroce_fold_avx512_prefixed_copy() - copy data, and compute the CRC of a prefix and the copy
 * @prefix: the prefix
 * @to: destination
 * @from: data
 * @bytes: how many, a multiple of SROCE_CRC_PREFIXED_UNIT; may be 0
 *
 * Return: the CRC register; it starts at 0.
 */
TARGET_AVX512 u32 sroce_fold_avx512_prefixed_copy(const struct sroce_crc_prefix *prefix, void *to,
						  const void *from, size_t bytes)
{
	return avx512_prefixed(true, prefix, to, from, bytes);
}

#endif
