/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Folding for one vector width. crc_fold.c includes this once for each width, so it has no include
 * guard. The includer defines
 *
 *   FOLD(name)		name of a function
 *   FOLD_TARGET	instructions that may be used
 *   VEC, LANES		vector type and its number of 128-bit lanes
 *   STRIDE		constants for STREAMS vectors
 *   CLMUL(words, r, a, b)	set r to the carry-less products of the low ("0x00") or high
 *			("0x11") 64 bits of each lane, in vectors or in a single lane
 *   TO_LANE		sum of all lanes
 */

static __always_inline FOLD_TARGET VEC FOLD(load)(const void *from)
{
	return *(const VEC *)from;
}

/* Load the next vector once, so that the sum is that of the copy even if @from changes. */
static __always_inline FOLD_TARGET VEC FOLD(take)(bool copy, u8 **to, const u8 **from)
{
	VEC v = FOLD(load)(*from);

	*from += sizeof(v);
	if (copy) {
		asm("" : "+v" (v));
		*(VEC *)*to = v;
		*to += sizeof(v);
	}
	return v;
}

/* The CRC so far is added to the first bytes. */
static __always_inline FOLD_TARGET VEC FOLD(add)(VEC v, u32 crc)
{
	VEC first = { crc };

	return v ^ first;
}

/* The product of the low words of each lane, and of the high words. */
static __always_inline FOLD_TARGET VEC FOLD(low)(VEC a, VEC b)
{
	VEC r;

	CLMUL("0x00", r, a, b);
	return r;
}

static __always_inline FOLD_TARGET VEC FOLD(high)(VEC a, VEC b)
{
	VEC r;

	CLMUL("0x11", r, a, b);
	return r;
}

static __always_inline FOLD_TARGET v128 FOLD(lane_low)(v128 a, v128 b)
{
	v128 r;

	CLMUL("0x00", r, a, b);
	return r;
}

static __always_inline FOLD_TARGET VEC FOLD(mul)(VEC v, VEC key)
{
	return FOLD(low)(v, key) ^ FOLD(high)(v, key);
}

/* Move @v to the end of the message; @after vectors and @lanes lanes follow it. */
static __always_inline FOLD_TARGET VEC FOLD(mul_last)(VEC v, size_t after, u32 lanes)
{
	return FOLD(mul)(v, FOLD(load)(keys.last[LAST_KEYS - (after + 1) * LANES - lanes]));
}

/* Sum all lanes and reduce the result, a polynomial of degree 95, by Barrett's method. */
static __always_inline FOLD_TARGET u32 FOLD(reduce)(VEC sum)
{
	v128 all = TO_LANE(sum), quotient;

	quotient = FOLD(lane_low)(all, *(const v128 *)keys.quotient);
	all ^= FOLD(lane_low)(quotient, *(const v128 *)keys.polynomial);
	return all[1];
}

/* CRC of the first STREAMS vectors, @more vectors at @from, and @lanes lanes of @last. */
static __always_inline FOLD_TARGET u32 FOLD(run_streams)(bool copy, VEC a, VEC b, VEC c, VEC d,
							 u8 *to, const u8 *from, size_t more,
							 VEC last, u32 lanes)
{
	VEC sum, stride = FOLD(load)(STRIDE);

	for (; more >= STREAMS; more -= STREAMS) {
		a = FOLD(mul)(a, stride) ^ FOLD(take)(copy, &to, &from);
		b = FOLD(mul)(b, stride) ^ FOLD(take)(copy, &to, &from);
		c = FOLD(mul)(c, stride) ^ FOLD(take)(copy, &to, &from);
		d = FOLD(mul)(d, stride) ^ FOLD(take)(copy, &to, &from);
	}
	if (more > 0)
		a = FOLD(mul)(a, stride) ^ FOLD(take)(copy, &to, &from);
	if (more > 1)
		b = FOLD(mul)(b, stride) ^ FOLD(take)(copy, &to, &from);
	if (more > 2)
		c = FOLD(mul)(c, stride) ^ FOLD(take)(copy, &to, &from);
	/* The first @more streams now hold the last vectors. */
	sum = FOLD(mul_last)(a, (more + 3) % STREAMS, lanes);
	sum ^= FOLD(mul_last)(b, (more + 2) % STREAMS, lanes);
	sum ^= FOLD(mul_last)(c, (more + 1) % STREAMS, lanes);
	sum ^= FOLD(mul_last)(d, more, lanes);
	if (lanes)
		sum ^= FOLD(mul)(last, FOLD(load)(keys.last[LAST_KEYS - lanes]));
	return FOLD(reduce)(sum);
}

/* CRC of @first, @more vectors at @from, and @lanes lanes of @last. @copy is a constant. */
static __always_inline FOLD_TARGET u32 FOLD(run)(bool copy, VEC first, u8 *to, const u8 *from,
						 size_t more, VEC last, u32 lanes)
{
	VEC b, c, d, sum;

	if (more >= STREAMS - 1) {
		b = FOLD(take)(copy, &to, &from);
		c = FOLD(take)(copy, &to, &from);
		d = FOLD(take)(copy, &to, &from);
		return FOLD(run_streams)(copy, first, b, c, d, to, from, more - (STREAMS - 1),
					 last, lanes);
	}
	sum = FOLD(mul_last)(first, more, lanes);
	while (more--)
		sum ^= FOLD(mul_last)(FOLD(take)(copy, &to, &from), more, lanes);
	if (lanes)
		sum ^= FOLD(mul)(last, FOLD(load)(keys.last[LAST_KEYS - lanes]));
	return FOLD(reduce)(sum);
}

/* A whole number of vectors. */
static __always_inline FOLD_TARGET u32 FOLD(whole)(bool copy, u32 crc, u8 *to, const u8 *from,
						   size_t bytes)
{
	VEC first = FOLD(add)(FOLD(take)(copy, &to, &from), crc);

	return FOLD(run)(copy, first, to, from, bytes / sizeof(first) - 1, first, 0);
}

#undef FOLD
#undef FOLD_TARGET
#undef VEC
#undef LANES
#undef STRIDE
#undef CLMUL
#undef TO_LANE
