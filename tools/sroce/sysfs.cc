// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "sroce/sysfs.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <fstream>
#include <system_error>

namespace sroce {
namespace {

namespace fs = std::filesystem;

/// The first line of a file; empty GID table entries answer reads with an error.
std::optional<std::string> read_line(const fs::path& path) {
  std::ifstream file(path);
  std::string line;
  if (!std::getline(file, line)) return std::nullopt;
  return line;
}

template <typename T>
std::optional<T> parse_number(const std::string& text) {
  T number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::vector<std::string> file_names(const fs::path& directory) {
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(directory, error))
    names.push_back(entry.path().filename());
  return names;
}

bool is_unused(const std::string& gid) { return gid.find_first_not_of("0:") == std::string::npos; }

}  // namespace

std::string gid_address(const std::string& gid) {
  in6_addr address{};
  if (inet_pton(AF_INET6, gid.c_str(), &address) != 1) return gid;
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (IN6_IS_ADDR_V4MAPPED(&address))
    inet_ntop(AF_INET, &address.s6_addr[12], text.data(), text.size());
  else
    inet_ntop(AF_INET6, &address, text.data(), text.size());
  return text.data();
}

fs::path Sysfs::port_path(const std::string& device, uint32_t port) const {
  return root_ / "class/infiniband" / device / "ports" / std::to_string(port);
}

std::optional<std::string> Sysfs::sroce_mode(const std::string& device) const {
  return read_line(root_ / "class/infiniband" / device / "sroce/mode");
}

std::vector<Gid> Sysfs::gids(const std::string& device, uint32_t port) const {
  const fs::path path = port_path(device, port);
  std::vector<Gid> gids;
  for (const std::string& name : file_names(path / "gids")) {
    const auto index = parse_number<uint32_t>(name);
    const auto gid = read_line(path / "gids" / name);
    if (!index || !gid || is_unused(*gid)) continue;
    gids.push_back({*index, read_line(path / "gid_attrs/types" / name).value_or("-"), *gid,
                    gid_address(*gid), read_line(path / "gid_attrs/ndevs" / name)});
  }
  std::sort(gids.begin(), gids.end(), [](const Gid& a, const Gid& b) { return a.index < b.index; });
  return gids;
}

std::map<std::string, uint64_t> Sysfs::counters(const std::string& device, uint32_t port) const {
  const fs::path path = port_path(device, port) / "hw_counters";
  std::map<std::string, uint64_t> counters;
  for (const std::string& name : file_names(path)) {
    if (name == "lifespan") continue;  // the cache time of the others, not a counter
    if (const auto line = read_line(path / name)) {
      if (const auto value = parse_number<uint64_t>(*line)) counters[name] = *value;
    }
  }
  return counters;
}

bool Sysfs::module_loaded(const std::string& module) const {
  std::error_code error;
  return fs::exists(root_ / "module" / module, error);
}

}  // namespace sroce
