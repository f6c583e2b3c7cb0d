// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// pma_verify: asks the performance management of a peer, as perfquery would, and sends it MADs of
// wrong lengths. Stock perfquery cannot: it registers for subnet management first, which RoCE
// lacks.
#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <rdma/ib_user_mad.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>

#include "harness/args.h"
#include "harness/failure.h"
#include "harness/tap.h"
#include "verbs/devices.h"
#include "verbs/qp.h"

namespace {

using harness::expect;
using harness::fail_errno;

constexpr std::uint32_t gsi_qkey = 0x80010000;
constexpr std::uint8_t perf_class = 4, get = 1, set = 2, get_resp = 0x81;
constexpr std::uint16_t class_port_info = 1, port_counters = 0x12, port_counters_ext = 0x1d;
constexpr std::size_t mad_bytes = 256, attribute_at = 64, transaction_at = 15;

using Mad = std::array<std::uint8_t, mad_bytes>;

struct Query {
  std::uint16_t attribute;
  std::uint8_t method = get, class_version = 1, port = 1;
};

std::uint64_t number_at(const Mad& mad, std::size_t at, std::size_t bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < bytes; ++i) value = value << 8 | mad[at + i];
  return value;
}

std::uint16_t status_of(const Mad& mad) { return static_cast<std::uint16_t>(number_at(mad, 4, 2)); }

Mad encode(const Query& query) {
  Mad mad{};
  mad[0] = 1;
  mad[1] = perf_class;
  mad[2] = query.class_version;
  mad[3] = query.method;
  mad[16] = static_cast<std::uint8_t>(query.attribute >> 8);
  mad[17] = static_cast<std::uint8_t>(query.attribute);
  mad[attribute_at + 1] = query.port;
  return mad;
}

std::string umad_of(const std::string& device) {
  for (const auto& entry : std::filesystem::directory_iterator("/sys/class/infiniband_mad")) {
    std::string name;
    std::ifstream(entry.path() / "ibdev") >> name;
    if (name == device && entry.path().filename().string().starts_with("umad"))
      return "/dev/infiniband/" + entry.path().filename().string();
  }
  harness::fail("no umad of ", device);
}

class Agent {
 public:
  explicit Agent(const verbs::Devices& devices) : devices_(devices) {
    fd_ = ::open(umad_of(devices.near.name()).c_str(), O_RDWR | O_CLOEXEC);
    if (fd_ < 0) fail_errno(errno, "umad");
    ib_user_mad_reg_req2 request{};
    request.qpn = 1;
    request.mgmt_class = perf_class;
    request.mgmt_class_version = 1;
    if (::ioctl(fd_, IB_USER_MAD_REGISTER_AGENT2, &request)) fail_errno(errno, "REGISTER_AGENT2");
    id_ = request.id;
  }
  ~Agent() { ::close(fd_); }
  Agent(const Agent&) = delete;
  Agent& operator=(const Agent&) = delete;

  Mad ask(const Query& query) {
    Message message{};
    message.header.id = id_;
    message.header.timeout_ms = 1000;
    message.header.retries = 5;
    message.header.qpn = htonl(1);
    message.header.qkey = htonl(gsi_qkey);
    message.header.grh_present = 1;
    message.header.gid_index = static_cast<std::uint8_t>(devices_.near_gid);
    message.header.hop_limit = 64;
    const ibv_gid gid = devices_.far.gid(devices_.far_gid);
    std::copy_n(gid.raw, sizeof(gid.raw), message.header.gid);
    message.mad = encode(query);
    message.mad[transaction_at] = ++transaction_;
    if (::write(fd_, &message, sizeof(message)) != sizeof(message)) fail_errno(errno, "write");
    // A request that was sent twice has two responses.
    do {
      if (::read(fd_, &message, sizeof(message)) < 0) fail_errno(errno, "read");
      expect(!message.header.status, "no response, status ", message.header.status);
    } while (message.mad[transaction_at] != transaction_);
    expect(message.mad[3] == get_resp && message.mad[1] == perf_class, "not a response");
    return message.mad;
  }

 private:
  struct Message {
    ib_user_mad_hdr header;
    Mad mad;
  };

  const verbs::Devices& devices_;
  int fd_;
  std::uint32_t id_;
  std::uint8_t transaction_ = 0;
};

void class_info(Agent& agent) {
  const Mad mad = agent.ask({class_port_info});
  expect(!status_of(mad), "status ", status_of(mad));
  expect(mad[attribute_at] == 1 && mad[attribute_at + 1] == 1, "versions");
  expect(number_at(mad, attribute_at + 2, 2) == 0x0400, "capabilities ",
         number_at(mad, attribute_at + 2, 2));
}

void short_counters(Agent& agent) {
  const Mad mad = agent.ask({port_counters});
  expect(!status_of(mad), "status ", status_of(mad));
  for (std::size_t at : {24u, 28u, 32u, 36u})
    expect(number_at(mad, attribute_at + at, 4) > 0, "nothing counted at ", at);
}

void long_counters(Agent& agent) {
  const Mad before = agent.ask({port_counters_ext}), after = agent.ask({port_counters_ext});
  expect(!status_of(before), "status ", status_of(before));
  for (std::size_t at : {8u, 16u, 24u, 32u})
    expect(number_at(after, attribute_at + at, 8) > number_at(before, attribute_at + at, 8),
           "nothing counted at ", at);
  const auto words =
      number_at(after, attribute_at + 16, 8) - number_at(before, attribute_at + 16, 8);
  expect(words >= mad_bytes / 4, "a request of ", words, " words");
}

void rejected(Agent& agent) {
  const auto expect_status = [&](const Query& query, unsigned wanted) {
    const unsigned status = status_of(agent.ask(query));
    expect(status == wanted, "status ", status, " instead of ", wanted);
  };
  expect_status({0x10}, 0x0c);
  expect_status({port_counters, set}, 0x0c);
  expect_status({port_counters, get, 2}, 0x04);
  expect_status({port_counters, get, 1, 2}, 0x1c);
  expect_status({port_counters_ext, get, 1, 0}, 0x1c);
}

// The case looks at drop_length of the far device.
void wrong_lengths(const verbs::Devices& devices) {
  const verbs::Pd pd = verbs::make_pd(devices.near);
  verbs::Cq cq(devices.near, 16);
  verbs::QpOptions options;
  options.type = IBV_QPT_UD;
  options.inline_bytes = 300;
  verbs::Qp qp(pd, cq, cq, options);
  ibv_ah_attr attr{};
  attr.is_global = 1;
  attr.port_num = verbs::port_number;
  attr.grh.dgid = devices.far.gid(devices.far_gid);
  attr.grh.sgid_index = static_cast<std::uint8_t>(devices.near_gid);
  attr.grh.hop_limit = 64;
  const verbs::Ah ah(ibv_create_ah(pd.get(), &attr));
  if (!ah) fail_errno(errno, "ibv_create_ah");
  qp.modify(verbs::ud_to_init(gsi_qkey), "INIT");
  qp.modify(verbs::to_state(IBV_QPS_RTR), "RTR");
  verbs::Change rts = verbs::to_state(IBV_QPS_RTS);
  rts.mask |= IBV_QP_SQ_PSN;
  qp.modify(rts, "RTS");
  std::array<std::uint8_t, 300> bytes{};
  const Mad mad = encode({port_counters});
  std::copy(mad.begin(), mad.end(), bytes.begin());
  for (std::uint32_t length : {0u, 4u, 24u, 255u, 257u, 300u}) {
    ibv_sge sge{reinterpret_cast<std::uint64_t>(bytes.data()), length, 0};
    ibv_send_wr wr{};
    wr.sg_list = &sge;
    wr.num_sge = 1;
    wr.opcode = IBV_WR_SEND;
    wr.send_flags = IBV_SEND_SIGNALED | IBV_SEND_INLINE;
    wr.wr.ud = {ah.get(), 1, gsi_qkey};
    qp.post_send(&wr);
    const ibv_wc wc = cq.next(harness::Deadline::after(std::chrono::seconds(10)), "a datagram");
    expect(wc.status == IBV_WC_SUCCESS, verbs::describe(wc));
  }
}

}  // namespace

int main(int argc, char** argv) {
  harness::Args args(argc, argv, std::string("pma_verify ") + verbs::devices_usage);
  const verbs::Devices devices(args);
  args.finish();
  harness::Tap tap;
  Agent agent(devices);
  tap.run("ClassPortInfo", [&] { class_info(agent); });
  tap.run("PortCounters", [&] { short_counters(agent); });
  tap.run("PortCountersExtended", [&] { long_counters(agent); });
  tap.run("what is not there is rejected", [&] { rejected(agent); });
  tap.run("MADs of wrong lengths are sent", [&] { wrong_lengths(devices); });
  tap.run("performance management answers as before", [&] { long_counters(agent); });
  return tap.finish();
}
