// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// The questions that "sroce doctor" asks the machine, as the members of System.
#include "sroce/host_facts.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <netinet/in.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>

#include "sroce/udp_port.h"

namespace sroce {
namespace {

/// The output of a shell command.
std::string output_of(const std::string& command) {
  // A user's PATH need not have the folders of system tools.
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(
      popen(("PATH=$PATH:/usr/sbin:/sbin; " + command).c_str(), "re"), pclose);
  std::string text;
  if (!pipe) return text;
  std::array<char, 4096> part{};
  for (size_t count; (count = fread(part.data(), 1, part.size(), pipe.get())) > 0;)
    text.append(part.data(), count);
  return text;
}

/// Keeps what is written to standard error.
class CapturedStderr {
 public:
  CapturedStderr() : before_(dup(STDERR_FILENO)), file_(memfd_create("sroce-stderr", MFD_CLOEXEC)) {
    if (file_ >= 0) dup2(file_, STDERR_FILENO);
  }
  ~CapturedStderr() {
    if (before_ >= 0) {
      dup2(before_, STDERR_FILENO);
      close(before_);
    }
    if (file_ >= 0) close(file_);
  }
  CapturedStderr(const CapturedStderr&) = delete;
  CapturedStderr& operator=(const CapturedStderr&) = delete;

  std::string text() const {
    std::string text;
    std::array<char, 4096> part{};
    ssize_t count = 0;
    while ((count = pread(file_, part.data(), part.size(), static_cast<off_t>(text.size()))) > 0)
      text.append(part.data(), static_cast<size_t>(count));
    return text;
  }

 private:
  int before_, file_;
};

/// The kernel gives the initial namespace this inode.
constexpr ino_t initial_user_namespace = 0xEFFFFFFD;

/// Whether root of this process is root of the machine. Without /proc, it is taken to be.
bool in_initial_user_namespace() {
  struct stat own {};
  return stat("/proc/self/ns/user", &own) != 0 || own.st_ino == initial_user_namespace;
}

/// How the kernel finds the signature of a module; not in a compressed one.
bool ends_in_signature(const std::string& path) {
  const std::string mark = "~Module signature appended~\n";
  std::ifstream file(path, std::ios::binary);
  std::string end(mark.size(), '\0');
  file.seekg(-static_cast<std::streamoff>(mark.size()), std::ios::end);
  file.read(end.data(), static_cast<std::streamsize>(end.size()));
  return end == mark;
}

bool has_capability(unsigned int capability) {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  std::array<__user_cap_data_struct, _LINUX_CAPABILITY_U32S_3> sets{};
  if (syscall(SYS_capget, &header, sets.data()) != 0) return false;
  return (sets.at(CAP_TO_INDEX(capability)).effective & CAP_TO_MASK(capability)) != 0;
}

}  // namespace

std::optional<uint64_t> memlock_bytes() {
  rlimit limit{};
  // Root of a container usually lacks CAP_IPC_LOCK, to which no limit applies. That of a rootless
  // one has it, but only in a user namespace of its own, which lifts no limit.
  const bool is_exempt = has_capability(CAP_IPC_LOCK) && in_initial_user_namespace();
  if (is_exempt || getrlimit(RLIMIT_MEMLOCK, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
    return std::nullopt;
  return limit.rlim_cur;
}

bool may_raise_memlock() {
  rlimit limit{};
  return getrlimit(RLIMIT_MEMLOCK, &limit) == 0 && limit.rlim_max == RLIM_INFINITY;
}

bool may_open(const std::string& path) { return access(path.c_str(), R_OK | W_OK) == 0; }

std::optional<ModuleFile> module_file() {
  std::istringstream lines(
      output_of("modinfo -F filename sroce 2>/dev/null && modinfo -F sig_id sroce 2>/dev/null"));
  ModuleFile file;
  if (!std::getline(lines, file.path)) return std::nullopt;
  std::string kind;  // "PKCS#7"; that of busybox does not know it
  file.is_signed = (std::getline(lines, kind) && !kind.empty()) || ends_in_signature(file.path);
  return file;
}

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

std::string nft_ruleset() { return output_of("nft -j list ruleset 2>/dev/null"); }

std::string iptables_rules() {
  return output_of(
      "for family in iptables ip6tables; do has_variant=;"
      " for command in $family-legacy $family-nft $family; do"
      " [ $command = $family ] || ! command -v $command-save >/dev/null || has_variant=1;"
      " [ $command = $family ] && [ $has_variant ] ||"
      " { $command-save 2>/dev/null && echo '# end'; } | sed \"s/^/$command /\"; done; done");
}

namespace {

/// The column of one name in a file of two lines for each prefix: names, then values.
uint64_t netstat_value(std::istream& file, const std::string& prefix, const std::string& name) {
  std::string names, values;
  while (std::getline(file, names) && std::getline(file, values)) {
    std::istringstream name_words(names), value_words(values);
    std::string found, value;
    if (!(name_words >> found && value_words >> value) || found != prefix) continue;
    while (name_words >> found && value_words >> value) {
      if (found == name) return std::strtoull(value.c_str(), nullptr, 10);
    }
  }
  return 0;
}

/// The larger of both settings holds: 0 is off, 1 strict, 2 loose.
int rp_filter(const std::string& netdev) {
  int most = 0;
  for (const std::string& folder : {std::string("all"), netdev}) {
    int value = 0;
    std::ifstream("/proc/sys/net/ipv4/conf/" + folder + "/rp_filter") >> value;
    most = std::max(most, value);
  }
  return most;
}

}  // namespace

uint64_t reverse_path_drops(const std::string& netdev) {
  constexpr int strict = 1;
  if (rp_filter(netdev) != strict) return 0;
  std::ifstream file("/proc/net/netstat");
  return netstat_value(file, "TcpExt:", "IPReversePathFilter");
}

namespace {

const std::string our_provider = "libsroce", version_mark = "-rdmav";

/// The library of the provider that an ibv_device is of. Behind the public part of the structure
/// libibverbs keeps a pointer to the functions of the provider, and so into its library.
std::filesystem::path library_of(const void* device) {
  if constexpr (sizeof(void*) != 8) return {};
  constexpr size_t public_bytes = 664;  // of struct ibv_device, which is public ABI
  const void* functions = nullptr;
  std::memcpy(&functions, static_cast<const char*>(device) + public_bytes, sizeof(functions));
  Dl_info library{};
  if (!dladdr(functions, &library) || !library.dli_fname) return {};
  return library.dli_fname;
}

}  // namespace

VerbsDevice describe_provider(const std::string& device, const std::filesystem::path& library) {
  const std::string name = library.filename();
  const size_t version = name.find(version_mark);
  VerbsDevice described{device, name.substr(0, version)};
  if (version == std::string::npos || described.provider == our_provider) return described;
  std::error_code error;
  bool is_there = false, has_this = false;
  for (std::filesystem::directory_iterator entry(library.parent_path(), error), end;
       !error && entry != end; entry.increment(error)) {
    const std::string other = entry->path().filename();
    is_there |= other.rfind(our_provider + version_mark, 0) == 0;
    has_this |= other == our_provider + name.substr(version);
  }
  if (is_there && !has_this)
    described.rejection = "libsroce is installed, but does not know this version of libibverbs";
  return described;
}

std::string rejection_in(const std::string& output) {
  const std::string mark = "libsroce: ";
  std::istringstream lines(output);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(mark)) return "libsroce " + line.substr(mark.size());
  }
  return "";
}

std::optional<std::vector<VerbsDevice>> verbs_devices() {
  // libibverbs complains there about devices without a provider, and libsroce about libibverbs.
  const CapturedStderr errors;
  void* library = dlopen("libibverbs.so.1", RTLD_NOW);
  if (!library) return std::nullopt;
  const auto list_devices =
      reinterpret_cast<void** (*)(int*)>(dlsym(library, "ibv_get_device_list"));
  const auto free_list = reinterpret_cast<void (*)(void**)>(dlsym(library, "ibv_free_device_list"));
  const auto name_of =
      reinterpret_cast<const char* (*)(void*)>(dlsym(library, "ibv_get_device_name"));
  if (!list_devices || !free_list || !name_of) return std::nullopt;
  std::vector<VerbsDevice> devices;
  void** list = list_devices(nullptr);
  for (void** device = list; device && *device; ++device)
    devices.push_back(describe_provider(name_of(*device), library_of(*device)));
  if (list) free_list(list);
  const std::string rejection = rejection_in(errors.text());
  for (VerbsDevice& device : devices)
    if (!rejection.empty() && device.provider != our_provider) device.rejection = rejection;
  return devices;  // the library stays, as it does in programs
}

}  // namespace sroce
