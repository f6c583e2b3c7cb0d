// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// Streams between host and guest. They cross consoles of User-mode Linux, which are terminals in
// raw mode in the guest and pipes on the host. A terminal cannot carry the end of a stream, so
// input crosses in records: two bytes of length, and that many bytes. An empty record ends it.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

namespace sroce {

/// Writes all of it. Returns false and sets errno if it cannot, EPIPE if the reader has gone.
bool write_all(int to, const void* data, size_t length);

/// The number of bytes that a stream has carried.
using Count = std::atomic<uint64_t>;

/// Copies until the end of the input, and counts. Returns false and sets errno as write_all() does.
bool copy_stream(int from, int to, Count& count);

/// Copies as records until the end of the input, which becomes an empty record.
void send_records(int from, int to);

/// Copies what the records contain, and returns at the empty one. Without a reader, drops the rest.
void receive_records(int from, int to);

/// The contents of a file; empty if it cannot be read.
std::string read_file(const std::string& path);

}  // namespace sroce
