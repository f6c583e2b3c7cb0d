// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "sroce/netns.h"

#include <fcntl.h>
#include <linux/netlink.h>
#include <sched.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include "sroce/netlink_socket.h"

namespace sroce {
namespace {

namespace fs = std::filesystem;

constexpr char netns_directory[] = "/run/netns";
constexpr char own_netns[] = "/proc/self/ns/net";

class FileDescriptor {
 public:
  explicit FileDescriptor(const fs::path& path) : fd_(open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}
  ~FileDescriptor() {
    if (fd_ >= 0) close(fd_);
  }
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;

  int get() const { return fd_; }

 private:
  int fd_;
};

/// Moves the thread into another namespace for as long as the object lives.
class NetnsStay {
 public:
  explicit NetnsStay(const fs::path& path) : home_(own_netns) {
    const FileDescriptor target(path);
    entered_ = home_.get() >= 0 && target.get() >= 0 && setns(target.get(), CLONE_NEWNET) == 0;
  }
  ~NetnsStay() {
    // Whatever followed would act on the wrong interfaces, so there is nothing better than to stop.
    if (entered_ && setns(home_.get(), CLONE_NEWNET) != 0) std::terminate();
  }
  NetnsStay(const NetnsStay&) = delete;
  NetnsStay& operator=(const NetnsStay&) = delete;

  bool entered() const { return entered_; }

 private:
  FileDescriptor home_;
  bool entered_ = false;
};

bool is_own(const fs::path& path) {
  struct stat own {};
  struct stat other {};
  return stat(own_netns, &own) == 0 && stat(path.c_str(), &other) == 0 &&
         own.st_dev == other.st_dev && own.st_ino == other.st_ino;
}

std::vector<fs::path> named_netns() {
  std::vector<fs::path> paths;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(netns_directory, error))
    paths.push_back(entry.path());
  return paths;
}

}  // namespace

std::optional<std::string> current_netns_name() {
  for (const fs::path& path : named_netns()) {
    if (is_own(path)) return path.filename();
  }
  return std::nullopt;
}

void visit_other_netns(const NetnsVisitor& visitor) {
  for (const fs::path& path : named_netns()) {
    if (is_own(path)) continue;
    const NetnsStay stay(path);
    if (!stay.entered()) continue;
    NetlinkSocket socket(NETLINK_RDMA);
    if (!visitor(path.filename(), socket)) return;
  }
}

}  // namespace sroce
