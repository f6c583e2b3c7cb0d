// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// What "sroce doctor" asks the machine, as the members of System.
#include "sroce/machine.h"

#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <memory>

namespace sroce {
namespace {

constexpr uint16_t roce_port = 4791;

}  // namespace

std::optional<uint64_t> memlock_bytes() {
  rlimit limit{};
  // Root usually has CAP_IPC_LOCK, to which no limit applies.
  if (geteuid() == 0 || getrlimit(RLIMIT_MEMLOCK, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
    return std::nullopt;
  return limit.rlim_cur;
}

bool may_open(const std::string& path) { return access(path.c_str(), R_OK | W_OK) == 0; }

bool port_is_free() {
  const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return true;
  sockaddr_in any{};
  any.sin_family = AF_INET;
  any.sin_port = htons(roce_port);
  const bool taken =
      bind(fd, reinterpret_cast<const sockaddr*>(&any), sizeof(any)) != 0 && errno == EADDRINUSE;
  close(fd);
  return !taken;
}

std::string nft_ruleset() {
  // A user's PATH need not have the folders of system tools.
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(
      popen("PATH=$PATH:/usr/sbin:/sbin nft -j list ruleset 2>/dev/null", "re"), pclose);
  std::string text;
  if (!pipe) return text;
  std::array<char, 4096> part{};
  for (size_t count; (count = fread(part.data(), 1, part.size(), pipe.get())) > 0;)
    text.append(part.data(), count);
  return text;
}

}  // namespace sroce
