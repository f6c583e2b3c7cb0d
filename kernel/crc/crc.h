/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * CRC-32 as the ICRC needs it: the polynomial 0x04c11db7, least significant bit
 * first, nothing inverted; the register goes in and comes out, as with
 * crc32_le(). Chosen at load among what this processor can do.
 */
#ifndef SROCE_CRC_H
#define SROCE_CRC_H

#include <linux/types.h>

/* A lone call, or a section, of fewer bytes is not worth taking the vector registers. */
#define SROCE_CRC_SECTION_BYTES	128

void sroce_crc_init(void);
u32 sroce_crc32(u32 crc, const void *data, size_t bytes);
u32 sroce_crc32_copy(u32 crc, void *to, const void *from, size_t bytes);
bool sroce_crc_begin(size_t bytes);
void sroce_crc_end(bool begun);

#endif
