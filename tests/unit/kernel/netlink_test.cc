// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Reading and setting parameters of devices, and dumps: kernel/control/netlink.c.
#include <gtest/gtest.h>

#include <functional>

#include "stand_in/attach.h"
#include "stand_in/genetlink.h"
#include "unit/kernel/attributes.h"

extern "C" {
#include "control/attach.h"
#include "control/netlink.h"
#include "control/params.h"
}

namespace {

// Attributes of a request.
struct Request {
  Request& raw(int type, const void* value, size_t size) {
    nlattr header = {};
    header.nla_len = NLA_HDRLEN + size;
    header.nla_type = type;
    bytes.insert(bytes.end(), reinterpret_cast<u8*>(&header), reinterpret_cast<u8*>(&header + 1));
    bytes.insert(bytes.end(), static_cast<const u8*>(value), static_cast<const u8*>(value) + size);
    bytes.resize(NLA_ALIGN(bytes.size()));
    return *this;
  }
  Request& text(int type, const std::string& value) {
    return raw(type, value.c_str(), value.size() + 1);
  }
  Request& number(int type, u32 value) { return raw(type, &value, sizeof(value)); }
  Request& device(const std::string& name) { return text(SROCE_A_DEV_NAME, name); }
  Request& param(const Request& nest) {
    return raw(SROCE_A_PARAM | NLA_F_NESTED, nest.bytes.data(), nest.bytes.size());
  }
  Request& set(const std::string& name, u32 value) {
    return param(Request().text(SROCE_A_PARAM_NAME, name).number(SROCE_A_PARAM_VALUE, value));
  }
  Request& choose(const std::string& name, const std::string& value) {
    return param(Request().text(SROCE_A_PARAM_NAME, name).text(SROCE_A_PARAM_TEXT, value));
  }
  Bytes bytes;
};

// A message of the family.
struct Message {
  nlmsghdr header;
  genlmsghdr generic;
  Attributes attributes;
};

std::vector<Message> messages_of(const sk_buff* skb) {
  constexpr u32 headers = NLMSG_HDRLEN + GENL_HDRLEN;
  std::vector<Message> all;
  for (u32 at = 0; at < skb->len;) {
    nlmsghdr header;
    genlmsghdr generic;
    memcpy(&header, skb->data + at, sizeof(header));
    memcpy(&generic, skb->data + at + NLMSG_HDRLEN, sizeof(generic));
    Attributes::require(header.nlmsg_len >= headers && at + header.nlmsg_len <= skb->len);
    all.push_back({header, generic, {skb->data + at + headers, header.nlmsg_len - headers}});
    at += header.nlmsg_len;
  }
  return all;
}

struct Netlink : testing::Test {
  Netlink() {
    stand_in = {};
    stand_in_attach = {};
    stand_in_control = {};
    stand_in_genl = {};
    stand_in_genl.net = stand_in_genl.initial = &net;
    stand_in_genl.is_admin = true;
    stand_in_genl.argument = this;
    stand_in_genl.message = [](const sk_buff* skb, void* test) {
      static_cast<Netlink*>(test)->on_message(skb);
    };
    stand_in_control.speed_error = -EOPNOTSUPP;
    netdev.net = other.net = &net;
    foreign.net = &other_net;
    first = attach("sroce0", netdev);
    second = attach("sroce00", other);
    attach("sroce1", foreign);
  }
  ~Netlink() override {
    kfree_skb(stand_in_genl.reply);
    for (ib_device* device : stand_in_attach.registered) {
      if (!device) continue;
      EXPECT_EQ(0, device->users) << device->name;
      device->users = 0;
      ib_unregister_device(device);
    }
  }
  sroce_device* attach(const char* name, net_device& to) {
    EXPECT_EQ(0, sroce_device_attach(name, &to, false));
    sroce_device* dev = sroce_device_get(&to);
    ib_device_put(&dev->ibdev);
    return dev;
  }
  int call(u8 cmd, const Request& request) {
    return stand_in_genl_do(&sroce_genl_family, cmd, request.bytes.data(), request.bytes.size());
  }
  int set(const Request& request) { return call(SROCE_CMD_DEV_SET, request); }
  // Sets one parameter of the first device.
  int set(const std::string& name, u32 value) {
    return set(Request().device("sroce0").set(name, value));
  }
  int choose(const std::string& name, const std::string& value) {
    return set(Request().device("sroce0").choose(name, value));
  }
  int dump(u8 cmd, const Request& request = {}) {
    dumped.clear();
    skbs = 0;
    return stand_in_genl_dump(&sroce_genl_family, cmd, request.bytes.data(), request.bytes.size());
  }
  void on_message(const sk_buff* skb) {
    for (const ib_device* device : stand_in_attach.registered)
      if (device) EXPECT_EQ(0, device->users) << "it can be removed between two messages";
    skbs++;
    for (const Message& message : messages_of(skb)) {
      EXPECT_EQ(NLM_F_MULTI, message.header.nlmsg_flags);
      EXPECT_EQ(u32{STAND_IN_PORTID}, message.header.nlmsg_pid);
      EXPECT_EQ(u32{STAND_IN_SEQ}, message.header.nlmsg_seq);
      dumped.push_back(message);
    }
    if (between) between();
  }
  std::vector<u32> dumped_devices() const {
    std::vector<u32> all;
    for (const Message& message : dumped)
      all.push_back(message.attributes.u32_of(SROCE_A_DEV_INDEX));
    return all;
  }
  void add_qps(const sroce_device* dev, u32 from, u32 to) {
    for (u32 qpn = from; qpn < to; qpn++) {
      u32* pair = stand_in_genl.qps[stand_in_genl.qp_count++];
      pair[0] = dev->ibdev.index;
      pair[1] = qpn;
    }
  }
  std::vector<u32> dumped_qps(const sroce_device* dev) const {
    std::vector<u32> all;
    for (const Message& message : dumped)
      if (message.attributes.u32_of(SROCE_A_DEV_INDEX) == dev->ibdev.index)
        all.push_back(message.attributes.u32_of(SROCE_A_QPN));
    return all;
  }
  static std::vector<u32> range(u32 from, u32 to) {
    std::vector<u32> all;
    while (from < to) all.push_back(from++);
    return all;
  }
  static std::string text() { return stand_in_genl.extack.text; }

  ::net net = {}, other_net = {};
  net_device netdev = {}, other = {}, foreign = {};
  sroce_device *first, *second;
  std::vector<Message> dumped;
  std::function<void()> between;
  u32 skbs = 0;
};

// ---------------------------------------------------------------- one device

TEST_F(Netlink, DeviceIsShownWithAllParameters) {
  first->line_rate = 1ull << 40;
  ASSERT_EQ(0, set("ecn", 0));
  ASSERT_EQ(0, call(SROCE_CMD_DEV_GET, Request().device("sroce0")));
  const std::vector<Message> reply = messages_of(stand_in_genl.reply);
  ASSERT_EQ(1u, reply.size());
  EXPECT_EQ(u32{STAND_IN_PORTID}, reply[0].header.nlmsg_pid);
  EXPECT_EQ(SROCE_CMD_DEV_GET, reply[0].generic.cmd);
  EXPECT_EQ(SROCE_GENL_VERSION, reply[0].generic.version);
  const Attributes& device = reply[0].attributes;
  EXPECT_EQ(first->ibdev.index, device.u32_of(SROCE_A_DEV_INDEX));
  EXPECT_EQ("sroce0", device.string_of(SROCE_A_DEV_NAME));
  EXPECT_EQ(1ull << 40, device.u64_of(SROCE_A_LINE_RATE));
  u32 index = 0;
  for (const Attributes& param : device.nests(SROCE_A_PARAM)) {
    const sroce_cc_param* expected = sroce_param_at(index);
    ASSERT_NE(nullptr, expected);
    EXPECT_EQ(expected->name, param.string_of(SROCE_A_PARAM_NAME));
    EXPECT_EQ(sroce_param_get(first, index), param.u32_of(SROCE_A_PARAM_VALUE));
    EXPECT_EQ(expected->min, param.u32_of(SROCE_A_PARAM_MIN));
    EXPECT_EQ(expected->max, param.u32_of(SROCE_A_PARAM_MAX));
    EXPECT_EQ(expected->initial, param.u32_of(SROCE_A_PARAM_DEFAULT));
    EXPECT_EQ(*expected->unit != 0, param.has(SROCE_A_PARAM_UNIT));
    EXPECT_EQ(sroce_param_choice(index, 0) ? expected->max + 1 : 0,
              param.values.count(SROCE_A_PARAM_CHOICE));
    index++;
  }
  EXPECT_EQ(nullptr, sroce_param_at(index));
}

TEST_F(Netlink, MessageHasRoomForMoreParameters) {
  first->line_rate = 1ull << 40;
  ASSERT_EQ(0, call(SROCE_CMD_DEV_GET, Request().device("sroce0")));
  const u32 bytes = stand_in_genl.reply->len;
  EXPECT_LT(2 * bytes, stand_in_genl.reply->end - stand_in_genl.reply->head);
  EXPECT_LT(u32{STAND_IN_GOODSIZE}, bytes) << "so that a dump must ask for more";
}

TEST_F(Netlink, UnknownRateIsAbsent) {
  ASSERT_EQ(0, call(SROCE_CMD_DEV_GET, Request().device("sroce00")));
  EXPECT_FALSE(messages_of(stand_in_genl.reply)[0].attributes.has(SROCE_A_LINE_RATE));
}

TEST_F(Netlink, DevicesHaveTheirWholeNameInTheirNamespace) {
  for (const char* name : {"sroce", "sroce000", "", "sroce1"}) {
    EXPECT_EQ(-ENODEV, call(SROCE_CMD_DEV_GET, Request().device(name))) << name;
    EXPECT_EQ("no sroce device of this name", text());
    EXPECT_EQ(-ENODEV, set(Request().device(name).set("ecn", 0)));
    EXPECT_EQ(-ENODEV, dump(SROCE_CMD_DEV_GET, Request().device(name)));
  }
  stand_in_genl.net = &other_net;
  EXPECT_EQ(0, call(SROCE_CMD_DEV_GET, Request().device("sroce1")));
  EXPECT_EQ(0, dump(SROCE_CMD_DEV_GET, Request().device("sroce1")));
  EXPECT_EQ(1u, dumped.size());
}

TEST_F(Netlink, NameIsNeededAndHasALimit) {
  EXPECT_EQ(-EINVAL, call(SROCE_CMD_DEV_GET, Request()));
  EXPECT_EQ(SROCE_A_DEV_NAME, stand_in_genl.extack.miss_type);
  EXPECT_EQ(-EINVAL, set(Request().set("ecn", 0)));
  EXPECT_EQ(-EINVAL, set(Request().device("sroce0")));
  EXPECT_EQ(SROCE_A_PARAM, stand_in_genl.extack.miss_type);
  const std::string longest(IB_DEVICE_NAME_MAX - 1, 'x');
  EXPECT_EQ(-ENODEV, call(SROCE_CMD_DEV_GET, Request().device(longest)));
  EXPECT_EQ(-ENODEV, set(Request().device(longest).set("ecn", 0)));
  for (const Request& wrong :
       {Request().device(longest + "x"), Request().raw(SROCE_A_DEV_NAME, "sroce0", 6)}) {
    EXPECT_EQ(-EINVAL, call(SROCE_CMD_DEV_GET, wrong));
    EXPECT_EQ(-EINVAL, dump(SROCE_CMD_DEV_GET, wrong));
    EXPECT_EQ(-EINVAL, dump(SROCE_CMD_QP_GET, wrong));
    EXPECT_EQ(-EINVAL, set(Request(wrong).set("ecn", 0)));
  }
}

TEST_F(Netlink, FailedReplyLeavesNothing) {
  const Request request = Request().device("sroce0");
  stand_in_genl.reply_error = -EAGAIN;
  EXPECT_EQ(-EAGAIN, call(SROCE_CMD_DEV_GET, request));
  for (u32 n = 1; n <= 2; n++) {
    stand_in.fail_allocation = n;
    EXPECT_EQ(-ENOMEM, call(SROCE_CMD_DEV_GET, request));
  }
  EXPECT_EQ(nullptr, stand_in_genl.reply);
}

// ---------------------------------------------------------------- setting

TEST_F(Netlink, OnlyAdministratorsSetAndSeeQps) {
  stand_in_genl.is_admin = false;
  EXPECT_EQ(-EPERM, set("ecn", 0));
  EXPECT_TRUE(first->ecn);
  EXPECT_EQ(-EPERM, dump(SROCE_CMD_QP_GET));
  EXPECT_EQ(0, call(SROCE_CMD_DEV_GET, Request().device("sroce0")));
  EXPECT_EQ(0, dump(SROCE_CMD_DEV_GET));
}

TEST_F(Netlink, ParametersOfOneDeviceAreSet) {
  EXPECT_EQ(0,
            set(Request().device("sroce0").set("ecn", 0).choose("cc", "none").set("selective", 0)));
  EXPECT_FALSE(first->ecn || first->selective);
  EXPECT_EQ(u32{SROCE_CC_none}, first->cc.algorithm);
  EXPECT_TRUE(second->ecn);
}

TEST_F(Netlink, AllParametersAreSetOrNone) {
  EXPECT_EQ(-ERANGE, set(Request().device("sroce0").set("ecn", 0).set("selective", 2)));
  EXPECT_EQ(-EINVAL, set(Request().device("sroce0").set("selective", 0).set("ecnn", 0)));
  EXPECT_EQ("ecnn: no such parameter", text());
  EXPECT_TRUE(first->ecn && first->selective);
}

TEST_F(Netlink, NumbersHaveARange) {
  u32 index = 0;
  while (std::string("rp_min_rate") != sroce_param_at(index)->name) index++;
  const sroce_cc_param* param = sroce_param_at(index);
  ASSERT_LT(0u, param->min);
  for (u32 value : {param->min, param->max}) {
    EXPECT_EQ(0, set(param->name, value));
    EXPECT_EQ(value, sroce_param_get(first, index));
  }
  if (param->max < U32_MAX) EXPECT_EQ(-ERANGE, set(param->name, param->max + 1));
  EXPECT_EQ(-ERANGE, set(param->name, param->min - 1));
  EXPECT_EQ(param->max, sroce_param_get(first, index));
  EXPECT_EQ(-ERANGE, set("ecn", 2));
  EXPECT_EQ("ecn: 2 is not in 0 to 1", text());
  EXPECT_EQ(1u, first->ecn);
}

TEST_F(Netlink, TextsAreChoices) {
  EXPECT_EQ(0, choose("udp_checksum", "on"));
  EXPECT_EQ(u32{SROCE_UDP_CHECKSUM_ON}, first->ep.udp_checksum);
  EXPECT_EQ(-EINVAL, choose("udp_checksum", "o"));
  EXPECT_EQ("o: no such choice of udp_checksum", text());
  EXPECT_EQ(-EINVAL, choose("ecn", "on"));
  EXPECT_EQ("ecn: takes a number", text());
  EXPECT_EQ(u32{SROCE_UDP_CHECKSUM_ON}, first->ep.udp_checksum);
}

TEST_F(Netlink, LongTextsAreReportedInFull) {
  const std::string longest(47, 'x');
  EXPECT_EQ(-EINVAL, choose("udp_checksum", longest));
  EXPECT_EQ(longest + ": no such choice of udp_checksum", text());
  EXPECT_EQ(-EINVAL, choose("udp_checksum", longest + "x"));
  EXPECT_EQ("", text()) << "the policy";
  EXPECT_EQ(-EINVAL, set(longest, 0));
  EXPECT_EQ(longest + ": no such parameter", text());
  EXPECT_EQ(-EINVAL, set(longest + "x", 0));
  EXPECT_EQ("", text()) << "the policy";
}

TEST_F(Netlink, ParameterHasANameAndOneValue) {
  const auto with = [&](const Request& nest) {
    return set(Request().device("sroce0").param(nest));
  };
  EXPECT_EQ(-EINVAL, with(Request()));
  EXPECT_EQ("a parameter without a name", text());
  EXPECT_EQ(-EINVAL, with(Request().number(SROCE_A_PARAM_VALUE, 0)));
  EXPECT_EQ("a parameter without a name", text());
  EXPECT_EQ(-EINVAL, with(Request().text(SROCE_A_PARAM_NAME, "cc")));
  EXPECT_EQ("cc: either a number or a text", text());
  EXPECT_EQ(-EINVAL, with(Request()
                              .text(SROCE_A_PARAM_NAME, "cc")
                              .number(SROCE_A_PARAM_VALUE, 0)
                              .text(SROCE_A_PARAM_TEXT, "none")));
  EXPECT_EQ("cc: either a number or a text", text());
  EXPECT_EQ(u32{SROCE_CC_DEFAULT}, first->cc.algorithm);
}

TEST_F(Netlink, MalformedParametersAreRejected) {
  const auto with = [&](int type, const Bytes& value) {
    Request nest = Request().text(SROCE_A_PARAM_NAME, "ecn");
    return set(Request().device("sroce0").param(nest.raw(type, value.data(), value.size())));
  };
  EXPECT_EQ(-EINVAL, with(SROCE_A_PARAM_VALUE, Bytes(2)));
  EXPECT_EQ(-EINVAL, with(SROCE_A_PARAM_VALUE, Bytes(8)));
  EXPECT_EQ(-EINVAL, with(SROCE_A_PARAM_TEXT, Bytes(3, 'x'))) << "no end";
  EXPECT_EQ("", text());
  EXPECT_EQ(-EINVAL, with(SROCE_A_PARAM_NAME, Bytes(3, 'x'))) << "no end";
  EXPECT_EQ("", text());
  EXPECT_EQ(-EINVAL, with(SROCE_A_PARAM_MIN, Bytes(4))) << "only read";
  EXPECT_EQ(-EINVAL, with(SROCE_A_PARAM_CHOICE + 1, Bytes(4)));
  Request flat = Request().device("sroce0");
  EXPECT_EQ(-EINVAL, set(flat.raw(SROCE_A_PARAM, "", 0))) << "not a nest";
  EXPECT_EQ(-EINVAL, set(Request().device("sroce0").set("ecn", 0).number(SROCE_A_QPN, 1)));
  EXPECT_EQ(1u, first->ecn);
}

// ---------------------------------------------------------------- dumps

TEST_F(Netlink, DumpShowsTheDevicesOfTheNamespace) {
  ASSERT_EQ(0, dump(SROCE_CMD_DEV_GET));
  EXPECT_EQ((std::vector<u32>{first->ibdev.index, second->ibdev.index}), dumped_devices());
  EXPECT_EQ(SROCE_CMD_DEV_GET, dumped[0].generic.cmd);
  EXPECT_TRUE(dumped[1].attributes.has(SROCE_A_PARAM));
  ASSERT_EQ(0, dump(SROCE_CMD_DEV_GET, Request().device("sroce00")));
  EXPECT_EQ(std::vector<u32>{second->ibdev.index}, dumped_devices());
}

TEST_F(Netlink, DeviceThatDoesNotFitAnyMoreIsInTheNextMessage) {
  net_device more[2] = {};
  for (net_device& each : more) {
    each.net = &net;
    attach("more", each);
  }
  ASSERT_EQ(0, dump(SROCE_CMD_DEV_GET));
  EXPECT_LT(1u, skbs);
  EXPECT_EQ((std::vector<u32>{0, 1, 3, 4}), dumped_devices());
  EXPECT_EQ(dumped[0].header.nlmsg_len, dumped[1].header.nlmsg_len);
}

TEST_F(Netlink, QpsAreDumpedInManyMessages) {
  add_qps(first, 17, 217);
  add_qps(second, 5, 205);
  ASSERT_EQ(0, dump(SROCE_CMD_QP_GET));
  EXPECT_LT(2u, skbs);
  EXPECT_EQ(SROCE_CMD_QP_GET, dumped[0].generic.cmd);
  EXPECT_EQ(range(17, 217), dumped_qps(first));
  EXPECT_EQ(range(5, 205), dumped_qps(second));
  ASSERT_EQ(0, dump(SROCE_CMD_QP_GET, Request().device("sroce00")));
  EXPECT_EQ(200u, dumped.size());
  EXPECT_EQ(range(5, 205), dumped_qps(second));
}

// Between two messages of its QPs.
TEST_F(Netlink, DumpGoesOnWithTheNextDeviceWhenOneIsRemoved) {
  add_qps(first, 100, 400);
  add_qps(second, 5, 105);
  between = [&] {
    if (skbs == 1) ib_unregister_device(&first->ibdev);
  };
  ASSERT_EQ(0, dump(SROCE_CMD_QP_GET));
  EXPECT_EQ(range(5, 105), dumped_qps(second));
}

TEST_F(Netlink, DumpOfNothingEnds) {
  EXPECT_EQ(0, dump(SROCE_CMD_QP_GET));
  EXPECT_EQ(0u, skbs);
  ib_unregister_device(&first->ibdev);
  ib_unregister_device(&second->ibdev);
  EXPECT_EQ(0, dump(SROCE_CMD_DEV_GET));
  EXPECT_EQ(0u, skbs);
}

}  // namespace
