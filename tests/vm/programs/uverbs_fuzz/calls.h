// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// System calls of a uverbs file: commands by write() or by ioctl(), and methods of ioctl().
#pragma once

#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/rdma_user_ioctl_cmds.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "harness/random.h"

namespace uverbs_fuzz {

// Pages with an unmapped one behind them.
class Pages {
 public:
  explicit Pages(std::size_t count);
  ~Pages();
  Pages(const Pages&) = delete;

  std::uint8_t* begin() const { return begin_; }
  std::uint8_t* end() const { return end_; }

 private:
  std::uint8_t* begin_;
  std::uint8_t* end_;
};

struct Command {
  std::uint32_t number = 0;
  bool has_response = true;  // then the first 8 bytes of a legacy command are its address
  std::vector<std::uint8_t> in;
  std::size_t out_bytes = 0;
  std::size_t driver_bytes = 0;  // of the response, for the provider
  bool is_wrong = false;         // spoiled: most responses are right
  bool is_short = false;         // spoiled: the provider's part of the response does not fit
  bool must_fail = false;
  bool is_other = false;  // spoiled: another command was sent

  template <class T>
  static Command of(std::uint32_t number, const T& in, std::size_t out_bytes,
                    std::size_t driver_bytes = 0) {
    Command command{number, out_bytes != 0, {}, out_bytes, driver_bytes};
    command.in.resize(sizeof(T));
    std::memcpy(command.in.data(), &in, sizeof(T));
    return command;
  }

  template <class T>
  T input() const {
    T value;
    std::memcpy(&value, in.data(), sizeof(T));
    return value;
  }
};

enum class Kind { object, file, in, out, constant };

struct Attr {
  int id;
  Kind kind;
  std::uint64_t value;    // handle, file, constant, or a number of up to 8 bytes
  std::size_t bytes = 0;  // in: of the number; out: where the response goes
  std::vector<std::uint8_t> data = {};
};

class File {
 public:
  // Without multicast, a flaw never makes a command one of multicast.
  File(int fd, bool multicast) : fd_(fd), multicast_(multicast), in_(18), out_(2) {}

  // Each returns an errno. With spoil, the call has a flaw that its command does not know.
  int write(Command& command, harness::Random* spoil);
  int invoke(Command& command);
  int ioctl(int object, int method, std::vector<Attr>& attrs, harness::Random* spoil);

  template <class T>
  T response(std::size_t at = 0) const {
    T value{};
    std::memcpy(&value, response_ + at, sizeof(T));
    return value;
  }

  int fd() const { return fd_; }

 private:
  void flip(Command& command, harness::Random& random);
  std::uint64_t bad_address(harness::Random& random) const;
  std::uint32_t other_number(harness::Random& random) const;

  int fd_;
  bool multicast_;
  Pages in_;
  Pages out_;
  std::uint8_t* response_ = nullptr;
};

}  // namespace uverbs_fuzz
