/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The kernel's CRC-32, bit by bit. */
#ifndef UNIT_CRC_LINUX_CRC32_H
#define UNIT_CRC_LINUX_CRC32_H

#include <linux/types.h>

static inline u32 crc32_le(u32 crc, const void* data, size_t bytes) {
  const u8* byte = data;
  int bit;

  for (; bytes; bytes--) {
    crc ^= *byte++;
    for (bit = 0; bit < 8; bit++) crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return crc;
}

#endif
