// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "sroce/ping.h"

#include <gmock/gmock.h>

#include <cerrno>
#include <sstream>

#include "fake_kernel.h"
#include "sroce/explain.h"
#include "sroce/no_response.h"

namespace sroce {
namespace {

using test::FakeMachine;
using test::is_sroce;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;

class PingCommand : public ::testing::Test {
 protected:
  PingCommand() {
    machine.add_device({.index = 4, .name = "sroce0", .netdev = "eth0"}, is_sroce);
    machine.add_gid("sroce0", 0, "fe80:0000:0000:0000:0000:0000:0000:0001", "eth0");
    machine.add_gid("sroce0", 1, "0000:0000:0000:0000:0000:ffff:0a01:0001", "eth0");
    machine.add_gid("sroce0", 2, "0000:0000:0000:0000:0000:ffff:0a00:0001", "eth0");
    machine.route.destinations["10.0.0.2"] = {2, "", "10.0.0.1"};
    machine.cm_replies = {reply(0, 250)};
  }

  static CmReply reply(int error, int microseconds, uint32_t reason = 8) {
    CmReply reply;
    reply.stage = CmStage::connect;
    reply.error = error;
    reply.reject_reason = reason;
    reply.round_trip = std::chrono::microseconds(microseconds);
    reply.device_index = 4;
    reply.source = resolve_host("10.0.0.1");
    return reply;
  }
  static CmReply failure(CmStage stage, int error) {
    CmReply reply;
    reply.stage = stage;
    reply.error = error;
    return reply;
  }

  int ping(PingOptions options) {
    std::ostringstream out;
    const int status = run_ping(machine.system, options, out);
    text = out.str();
    return status;
  }

  FakeMachine machine;
  std::string text;
};

TEST_F(PingCommand, PrintsALineForEachResponseAndASummary) {
  machine.cm_replies = {reply(0, 250), reply(0, 350)};
  EXPECT_EQ(ping({.host = "10.0.0.2", .count = 2}), 0);
  EXPECT_EQ(text,
            "RoCE ping 10.0.0.2 from 10.0.0.1 (sroce0)\n"
            "response from 10.0.0.2: seq=1 time=0.25 ms\n"
            "response from 10.0.0.2: seq=2 time=0.35 ms\n"
            "2 requests, 2 responses, 0% lost; time min/avg/max 0.25/0.3/0.35 ms\n");
}

TEST_F(PingCommand, NamesAnotherResponse) {
  machine.cm_replies = {reply(0, 250, 28), reply(0, 250, 0)};
  EXPECT_EQ(ping({.host = "10.0.0.2", .count = 2}), 0);
  EXPECT_THAT(text, HasSubstr("seq=1 time=0.25 ms (REJ, reason 28)\n"));
  EXPECT_THAT(text, HasSubstr("seq=2 time=0.25 ms (REP)\n"));
}

TEST_F(PingCommand, GoesOnUntilAnInterrupt) {
  machine.pauses_until_interrupt = 3;
  EXPECT_EQ(ping({.host = "10.0.0.2"}), 0);
  EXPECT_THAT(text, HasSubstr("3 requests, 3 responses"));
  machine.pauses = 0;
  machine.cm_replies = {failure(CmStage::connect, EINTR)};
  EXPECT_EQ(ping({.host = "10.0.0.2"}), 1);
  EXPECT_EQ(text, "0 requests, 0 responses, 0% lost\n");
}

TEST_F(PingCommand, SaysWhyNobodyResponds) {
  machine.cm_replies = {reply(ETIMEDOUT, 0)};
  machine.icmp_error = ECONNREFUSED;
  EXPECT_EQ(ping({.host = "10.0.0.2", .count = 2}), 1);
  EXPECT_EQ(text,
            "RoCE ping 10.0.0.2 from 10.0.0.1 (sroce0)\n"
            "no response: seq=1\n"
            "no response: seq=2\n"
            "2 requests, 0 responses, 100% lost\n"
            "port unreachable (ICMP): nothing listens on UDP port 4791, or a firewall rejects it\n"
            "  hint: at the peer: sroce add IF\n"
            "  hint: if it has a device, as root: sroce doctor\n");
  EXPECT_EQ(machine.probes.size(), 1u) << "one search for the cause";
}

class PathMtu : public PingCommand {
 protected:
  PathMtu() {
    machine.system.active_mtu_bytes = [](const nldev::UverbsReply&, uint32_t) { return 4096; };
    machine.sysfs.write("class/net/eth0/mtu", "9000\n");
  }
};

TEST_F(PathMtu, IsTooLargeForThePeer) {
  machine.largest_echo = 20 + 48 + 1024;
  EXPECT_EQ(ping({.host = "10.0.0.2", .count = 2}), 0);
  EXPECT_THAT(text, EndsWith("0.25 ms\n"
                             "packets for the path MTU 4096 do not arrive at 10.0.0.2 (ICMP echo), "
                             "those for 1024 do; connections fail or stall\n"
                             "  hint: ip link set eth0 mtu 1500\n"));
  EXPECT_THAT(machine.echo_sizes, ElementsAre(ElementsAre(1092, 2116, 4164)));
}

TEST_F(PathMtu, IsTooLargeForAPeerWithIpv6) {
  machine.route.destinations["fd00::2"] = {2, "", "fd00::1"};
  machine.largest_echo = 40 + 48 + 2048;
  EXPECT_EQ(ping({.host = "fd00::2", .count = 1}), 0);
  EXPECT_THAT(text, HasSubstr("those for 2048 do; connections fail or stall\n"
                              "  hint: ip link set eth0 mtu 2144\n"));
  EXPECT_THAT(machine.echo_sizes, ElementsAre(ElementsAre(1112, 2136, 4184)));
}

// As rdma_cm does, and not that of the device.
TEST_F(PathMtu, IsThatOfTheInterfaceOfTheRoute) {
  machine.sysfs.write("class/net/eth0/mtu", "2143\n");
  EXPECT_EQ(ping({.host = "10.0.0.2", .count = 1}), 0);
  EXPECT_TRUE(machine.echo_sizes.empty()) << "1024 is the least";
  machine.sysfs.write("class/net/eth0/mtu", "2144\n");
  EXPECT_EQ(ping({.host = "10.0.0.2", .count = 1}), 0);
  EXPECT_THAT(machine.echo_sizes, ElementsAre(ElementsAre(1092, 2116)));
}

TEST_F(PathMtu, IsRightOrNotKnown) {
  for (const size_t largest : {size_t{0}, size_t{20 + 48 + 4096}}) {
    machine.largest_echo = largest;
    EXPECT_EQ(ping({.host = "10.0.0.2", .count = 1}), 0);
    EXPECT_THAT(text, EndsWith("0.25/0.25/0.25 ms\n"));
  }
  EXPECT_EQ(machine.echo_sizes.size(), 2u);
}

TEST_F(PingCommand, LooksForNoCauseIfTheLastRequestHadAResponse) {
  machine.cm_replies = {reply(ETIMEDOUT, 0), reply(0, 250)};
  EXPECT_EQ(ping({.host = "10.0.0.2", .count = 2}), 0);
  EXPECT_THAT(text, EndsWith("0.25/0.25/0.25 ms\n"));
  EXPECT_TRUE(machine.probes.empty());
}

TEST_F(PingCommand, SaysWhyAfterAnInterrupt) {
  machine.cm_replies = {reply(ETIMEDOUT, 0), failure(CmStage::connect, EINTR)};
  EXPECT_EQ(ping({.host = "10.0.0.2"}), 1);
  EXPECT_THAT(text, HasSubstr("1 request, 0 responses, 100% lost\nno response: a firewall"));
}

TEST_F(PingCommand, RoundsNoLossToNoneAndNoResponseToAll) {
  machine.cm_replies.assign(199, reply(ETIMEDOUT, 0));
  machine.cm_replies.push_back(reply(0, 250));
  ping({.host = "10.0.0.2", .count = 200});
  EXPECT_THAT(text, HasSubstr("200 requests, 1 response, 99% lost"));
  machine.cm_questions.clear();
  machine.cm_replies.assign(1, reply(ETIMEDOUT, 0));
  machine.cm_replies.push_back(reply(0, 250));
  ping({.host = "10.0.0.2", .count = 300});
  EXPECT_THAT(text, HasSubstr("299 responses, 1% lost"));
}

TEST_F(PingCommand, OneResponseIsSuccess) {
  machine.cm_replies = {reply(ETIMEDOUT, 0), reply(0, 250), reply(ETIMEDOUT, 0)};
  EXPECT_EQ(ping({.host = "10.0.0.2", .count = 3}), 0);
  EXPECT_THAT(text, HasSubstr("3 requests, 1 response, 67% lost; time min/avg/max 0.25/0.25/0.25"));
}

TEST_F(PingCommand, EndsAtOnceIfNothingCanChange) {
  machine.cm_replies = {failure(CmStage::address, ENETUNREACH)};
  EXPECT_EQ(ping({.host = "10.9.0.2", .count = 5}), 1);
  EXPECT_EQ(text,
            "no response: seq=1\n"
            "1 request, 0 responses, 100% lost\n"
            "there is no route to 10.9.0.2\n"
            "  hint: to see it: ip route get 10.9.0.2\n");
}

TEST_F(PingCommand, PassesTheWaitAndTheAddressOfTheDevice) {
  EXPECT_EQ(ping({.host = "10.0.0.2", .count = 1, .wait_seconds = 0.5}), 0);
  EXPECT_EQ(machine.cm_questions[0].wait, std::chrono::milliseconds(500));
  EXPECT_EQ(machine.cm_questions[0].source.ss_family, 0);
  EXPECT_EQ(ping({.host = "10.0.0.2", .device = "sroce0", .count = 1}), 0);
  EXPECT_EQ(address_text(machine.cm_questions[1].source), "10.0.0.1");
  EXPECT_EQ(ping({.host = "10.7.0.2", .device = "sroce0", .count = 1}), 0);
  EXPECT_EQ(address_text(machine.cm_questions[2].source), "10.1.0.1") << "not routed: the first";
  EXPECT_EQ(machine.cm_questions[2].link_index, 2u) << "eth0";
}

TEST_F(PingCommand, TakesTheInterfaceOfTheDeviceForAnAddressOfALink) {
  EXPECT_EQ(ping({.host = "fe80::2", .device = "sroce0", .count = 1}), 0);
  const CmQuestion& question = machine.cm_questions.at(0);
  for (const sockaddr_storage& address : {question.peer, question.source})
    EXPECT_EQ(reinterpret_cast<const sockaddr_in6&>(address).sin6_scope_id, 2u);
  EXPECT_THAT(text, HasSubstr("response from fe80::2%eth0: seq=1"));
}

TEST_F(PingCommand, EndsAtAnErrorThatIsNoTimeout) {
  machine.cm_replies = {reply(EPROTO, 0)};
  EXPECT_EQ(ping({.host = "10.0.0.2", .count = 3}), 1);
  EXPECT_THAT(text, HasSubstr("the request failed: Protocol error\n"));
  EXPECT_EQ(machine.cm_questions.size(), 1u);
}

TEST_F(PingCommand, RejectsAnUnsuitableDevice) {
  EXPECT_THROW(ping({.host = "10.0.0.2", .device = "sroce1"}), Failure);
  try {
    ping({.host = "fd00::2", .device = "sroce0"});
    FAIL();
  } catch (const Failure& failure) {
    EXPECT_THAT(failure.what(), HasSubstr("no address of the kind of fd00::2"));
  }
}

TEST_F(PingCommand, SaysThatRdmaCmTakesAnotherDevice) {
  machine.add_device({.index = 5, .name = "mana_0", .driver_id = 1, .netdev = "eth0"});
  machine.cm_replies[0].device_index = 5;
  EXPECT_EQ(ping({.host = "10.0.0.2", .device = "sroce0", .count = 3}), 1);
  EXPECT_THAT(text, HasSubstr("rdma_cm takes mana_0 instead of sroce0: both have the address "
                              "10.0.0.1\n"));
  EXPECT_THAT(text, HasSubstr("hint: use another address: sroce add --dummy"));
  EXPECT_EQ(machine.cm_questions.size(), 1u);
}

int code_of(FakeMachine& machine, const std::string& host, std::string& cure) try {
  std::ostringstream out;
  return run_ping(machine.system, {.host = host, .count = 1}, out);
} catch (const Failure& failure) {
  cure = failure.cure();
  return static_cast<int>(failure.code());
}

TEST_F(PingCommand, SaysWhyItCannotAsk) {
  std::string cure;
  EXPECT_EQ(code_of(machine, "10.0.0.256", cure), static_cast<int>(ExitCode::usage));
  machine.cm_replies = {failure(CmStage::open, EACCES)};
  EXPECT_EQ(code_of(machine, "10.0.0.2", cure), static_cast<int>(ExitCode::no_permission));
  EXPECT_THAT(cure, HasSubstr("/dev/infiniband/rdma_cm"));
  machine.cm_replies = {failure(CmStage::create, ENOMEM)};
  EXPECT_EQ(code_of(machine, "10.0.0.2", cure), static_cast<int>(ExitCode::other));
  EXPECT_THAT(cure, HasSubstr("dmesg"));
  machine.cm_replies = {failure(CmStage::open, ENOENT)};
  EXPECT_EQ(code_of(machine, "10.0.0.2", cure), static_cast<int>(ExitCode::module_absent));
  EXPECT_EQ(cure, "load it: modprobe rdma_ucm");
  machine.sysfs.write("module/rdma_ucm/refcnt", "0\n");
  EXPECT_EQ(code_of(machine, "10.0.0.2", cure), static_cast<int>(ExitCode::other));
  EXPECT_THAT(cure, HasSubstr("container"));
}

TEST_F(PingCommand, PrintsJson) {
  machine.cm_replies = {reply(0, 250), reply(ETIMEDOUT, 0)};
  EXPECT_EQ(ping({.host = "10.0.0.2", .count = 2, .format = Format::json}), 0);
  const Json report = Json::parse(text);
  EXPECT_EQ(report["device"], "sroce0");
  EXPECT_EQ(report["source"], "10.0.0.1");
  EXPECT_EQ(report["requests"], 2);
  EXPECT_EQ(report["responses"][0]["ms"], 0.25);
  EXPECT_EQ(report["responses"][0]["reject_reason"], 8);
  EXPECT_EQ(report["cause"]["name"], "dropped");
  machine.cm_questions.clear();
  EXPECT_EQ(ping({.host = "10.0.0.2", .count = 1, .format = Format::json}), 0);
  EXPECT_TRUE(Json::parse(text)["cause"].is_null());
}

}  // namespace
}  // namespace sroce
