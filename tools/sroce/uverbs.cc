// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "sroce/uverbs.h"

#include <fcntl.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/rdma_user_ioctl_cmds.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

namespace sroce {
namespace {

class UverbsFile {
 public:
  explicit UverbsFile(const std::string& chardev)
      : fd_(open(("/dev/infiniband/" + chardev).c_str(), O_RDWR | O_CLOEXEC)) {}
  ~UverbsFile() {
    if (fd_ >= 0) close(fd_);
  }
  UverbsFile(const UverbsFile&) = delete;
  UverbsFile& operator=(const UverbsFile&) = delete;

  bool is_open() const { return fd_ >= 0; }

  /// Invokes a method of the device object; true if the kernel accepted it.
  bool invoke(uint32_t driver_id, uint16_t method, std::span<const ib_uverbs_attr> attrs) {
    std::vector<std::byte> message(sizeof(ib_uverbs_ioctl_hdr) + attrs.size_bytes());
    ib_uverbs_ioctl_hdr header{};
    header.length = static_cast<uint16_t>(message.size());
    header.object_id = UVERBS_OBJECT_DEVICE;
    header.method_id = method;
    header.num_attrs = static_cast<uint16_t>(attrs.size());
    header.driver_id = driver_id;
    std::memcpy(message.data(), &header, sizeof(header));
    if (!attrs.empty()) std::memcpy(&message[sizeof(header)], attrs.data(), attrs.size_bytes());
    return ioctl(fd_, RDMA_VERBS_IOCTL, message.data()) == 0;
  }

 private:
  int fd_;
};

}  // namespace

std::optional<uint32_t> mtu_bytes(uint8_t ib_mtu) {
  constexpr uint8_t smallest = 1, largest = 5;  // 256 and 4096 bytes
  if (ib_mtu < smallest || ib_mtu > largest) return std::nullopt;
  return uint32_t{128} << ib_mtu;
}

std::optional<uint32_t> query_active_mtu_bytes(const nldev::UverbsReply& uverbs, uint32_t port) {
  UverbsFile file(uverbs.chardev);
  if (!file.is_open()) return std::nullopt;
  if (!file.invoke(uverbs.driver_id, UVERBS_METHOD_GET_CONTEXT, {})) return std::nullopt;

  ib_uverbs_query_port_resp_ex response{};
  std::array<ib_uverbs_attr, 2> attrs{};
  attrs[0].attr_id = UVERBS_ATTR_QUERY_PORT_PORT_NUM;
  attrs[0].len = sizeof(uint64_t);  // constants are 64 bits wide and travel inline
  attrs[0].flags = UVERBS_ATTR_F_MANDATORY;
  attrs[0].data = port;
  attrs[1].attr_id = UVERBS_ATTR_QUERY_PORT_RESP;
  attrs[1].len = sizeof(response);
  attrs[1].flags = UVERBS_ATTR_F_MANDATORY;
  attrs[1].data = reinterpret_cast<uintptr_t>(&response);
  if (!file.invoke(uverbs.driver_id, UVERBS_METHOD_QUERY_PORT, attrs)) return std::nullopt;
  return mtu_bytes(response.legacy_resp.active_mtu);
}

}  // namespace sroce
