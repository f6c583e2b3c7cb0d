// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// tun_link: two tun interfaces, and what is sent on one is received on the other.
#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <string>
#include <thread>

#include "harness/args.h"
#include "harness/failure.h"

namespace {

constexpr const char* usage =
    R"(usage: tun_link --near NAME --far NAME [--delay-us N]

Create the interfaces and forward packets between them until killed. Each packet
from FAR to NEAR takes N microseconds (default 0). SIGSTOP stops all reading.)";

int open_tun(const std::string& name) {
  const int file = ::open("/dev/net/tun", O_RDWR | O_NONBLOCK);
  ifreq request{};
  request.ifr_flags = IFF_TUN | IFF_NO_PI;
  std::strncpy(request.ifr_name, name.c_str(), IFNAMSIZ - 1);
  if (file < 0 || ::ioctl(file, TUNSETIFF, &request)) harness::fail_errno(errno, "tun ", name);
  return file;
}

// Returns whether there was a packet. Like a cable, it does not wait for a receiver that is down.
bool forward(int from, int to) {
  std::array<char, 65536> packet;
  const ssize_t bytes = ::read(from, packet.data(), packet.size());
  if (bytes <= 0) return false;
  if (::write(to, packet.data(), static_cast<std::size_t>(bytes)) < 0 && errno != EIO)
    harness::fail_errno(errno, "write");
  return true;
}

void run(harness::Args& args) {
  const int near = open_tun(args.required("--near"));
  const int far = open_tun(args.required("--far"));
  const std::chrono::microseconds delay(args.number("--delay-us", 0));
  args.finish();

  for (;;) {
    std::array<pollfd, 2> readable{{{near, POLLIN, 0}, {far, POLLIN, 0}}};
    if (::poll(readable.data(), readable.size(), -1) < 0 && errno != EINTR)
      harness::fail_errno(errno, "poll");
    while (forward(near, far)) {
    }
    if (forward(far, near)) std::this_thread::sleep_for(delay);
  }
}

}  // namespace

int main(int argc, char** argv) { return harness::run_main(argc, argv, usage, run); }
