// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "stream.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>

namespace sroce {
namespace {

constexpr size_t block_bytes = 32768;

/// Whether a call that has failed can succeed later. Waits if a descriptor that does not block, as
/// the caller's may be, was not ready.
bool can_retry(int fd, short events) {
  if (errno != EAGAIN) return errno == EINTR;
  pollfd entry{fd, events, 0};
  poll(&entry, 1, -1);
  return true;
}

/// As read(), but waits for data. A terminal whose other end has gone is at its end.
size_t read_some(int from, void* data, size_t length) {
  for (;;) {
    const ssize_t count = read(from, data, length);
    if (count >= 0) return static_cast<size_t>(count);
    if (!can_retry(from, POLLIN)) return 0;
  }
}

bool read_all(int from, void* data, size_t length) {
  auto* place = static_cast<char*>(data);
  while (length > 0) {
    const size_t count = read_some(from, place, length);
    if (count == 0) return false;
    place += count;
    length -= count;
  }
  return true;
}

}  // namespace

bool write_all(int to, const void* data, size_t length) {
  const auto* place = static_cast<const char*>(data);
  while (length > 0) {
    const ssize_t count = write(to, place, length);
    if (count < 0 && !can_retry(to, POLLOUT)) return false;
    if (count < 0) continue;
    place += count;
    length -= static_cast<size_t>(count);
  }
  return true;
}

bool copy_stream(int from, int to, Count& count) {
  std::array<char, block_bytes> block;
  while (const size_t length = read_some(from, block.data(), block.size())) {
    if (!write_all(to, block.data(), length)) return false;
    count += length;
    count.notify_one();
  }
  return true;
}

void send_records(int from, int to) {
  struct {
    uint16_t length;
    std::array<char, block_bytes> data;
  } record;
  do {
    record.length = static_cast<uint16_t>(read_some(from, record.data.data(), block_bytes));
    if (!write_all(to, &record, sizeof(record.length) + record.length)) return;
  } while (record.length > 0);
}

void receive_records(int from, int to) {
  std::array<char, block_bytes> block;
  uint16_t length = 0;
  while (read_all(from, &length, sizeof(length)) && length > 0 && length <= block.size()) {
    if (!read_all(from, block.data(), length)) return;
    write_all(to, block.data(), length);
  }
}

std::string read_file(const std::string& path) {
  std::string text;
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  std::array<char, block_bytes> block;
  while (const size_t count = fd < 0 ? 0 : read_some(fd, block.data(), block.size()))
    text.append(block.data(), count);
  if (fd >= 0) close(fd);
  return text;
}

}  // namespace sroce
