// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "sroce/netlink.h"

#include <gtest/gtest.h>
#include <linux/netlink.h>

#include <cerrno>
#include <climits>

#include "message.h"
#include "sroce/nldev.h"

namespace sroce {
namespace {

using test::Attributes;
using test::bytes_of;
using test::message;
using test::operator+;

constexpr uint16_t data_type = NLMSG_MIN_TYPE + 4;
constexpr uint32_t sequence = 77;

/// The payload of an NLMSG_ERROR: the error code and the header of the failed request.
Bytes error_payload(int error, uint32_t request_length) {
  nlmsgerr payload{};
  payload.error = error;
  payload.msg.nlmsg_len = request_length;
  return bytes_of(payload);
}

TEST(Request, HasAHeaderAndPaddedAttributes) {
  Request request(0x1405, NLM_F_ACK);
  request.put(2, std::string("abc")).put(1, uint32_t{0x01020304});
  request.set_sequence(9);

  nlmsghdr header{};
  header.nlmsg_len = 16 + 8 + 8;
  header.nlmsg_type = 0x1405;
  header.nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK;
  header.nlmsg_seq = 9;
  const Bytes expected = bytes_of(header) + Attributes().text(2, "abc").u32(1, 0x01020304).bytes();
  const ByteView actual = request.bytes();
  EXPECT_EQ(Bytes(actual.begin(), actual.end()), expected);
}

TEST(Request, ThrowsWhenItsBufferIsFull) {
  Request request(data_type, 0);
  EXPECT_THROW(request.put(1, std::string(5000, 'x')), std::length_error);
}

TEST(ParseAttributes, ReadsEveryType) {
  const Bytes payload =
      Attributes().u8(1, 200).u32(2, 70000).u64(3, 1ull << 40).text(4, "eth0").bytes();
  const auto attributes = parse_attributes(payload);
  ASSERT_EQ(attributes.size(), 4u);
  EXPECT_EQ(attributes[0].u8(), 200);
  EXPECT_EQ(attributes[1].u32(), 70000u);
  EXPECT_EQ(attributes[2].u64(), 1ull << 40);
  EXPECT_EQ(attributes[3].text(), "eth0");
}

TEST(ParseAttributes, IgnoresTheNestedFlagInTheType) {
  const Bytes payload = Attributes().nest(NLA_F_NESTED | 5, Attributes().u8(1, 1)).bytes();
  EXPECT_EQ(parse_attributes(payload).at(0).type, 5);
}

TEST(ParseAttributes, AcceptsAnUnpaddedLastAttribute) {
  Bytes payload = Attributes().u8(1, 7).bytes();
  payload.resize(sizeof(nlattr) + 1);
  EXPECT_EQ(parse_attributes(payload).at(0).u8(), 7);
}

TEST(ParseAttributes, ThrowsOnInvalidLengths) {
  for (const uint16_t length : std::initializer_list<uint16_t>{0, 1, 3, 9, 0xffff}) {
    Bytes payload = bytes_of(nlattr{length, 1}) + Bytes(4);
    EXPECT_THROW(parse_attributes(payload), MalformedMessage) << length;
  }
}

TEST(ParseAttributes, ThrowsOnATruncatedHeader) {
  for (size_t size = 1; size < sizeof(nlattr); ++size)
    EXPECT_THROW(parse_attributes(Bytes(size)), MalformedMessage) << size;
}

TEST(Attribute, ThrowsIfThePayloadIsTooShort) {
  const Bytes payload = Attributes().u8(1, 7).bytes();
  const Attribute attribute = parse_attributes(payload).at(0);
  EXPECT_THROW(attribute.u32(), MalformedMessage);
  EXPECT_THROW(attribute.u64(), MalformedMessage);
}

TEST(Attribute, ThrowsIfTextIsNotTerminated) {
  const Bytes payload = Attributes().raw(1, "abcd", 4).raw(2, "", 0).bytes();
  const auto attributes = parse_attributes(payload);
  EXPECT_THROW(attributes[0].text(), MalformedMessage);
  EXPECT_THROW(attributes[1].text(), MalformedMessage);
}

TEST(AttributeMap, KeepsTheLastAttributeOfAType) {
  const Bytes payload = Attributes().u8(1, 7).u8(2, 8).u8(1, 9).bytes();
  const AttributeMap attributes(payload);
  EXPECT_EQ(attributes.get(1).u8(), 9);
  EXPECT_EQ(attributes.get(2).u8(), 8);
}

TEST(AttributeMap, ThrowsOnlyFromGetIfAnAttributeIsAbsent) {
  const AttributeMap attributes({});
  EXPECT_EQ(attributes.find(1), nullptr);
  EXPECT_THROW(attributes.get(1), MalformedMessage);
}

TEST(DecodeDatagram, ReturnsPayloadsUntilTheDumpIsDone) {
  const Bytes datagram = message(data_type, NLM_F_MULTI, sequence, Bytes(8)) +
                         message(data_type, NLM_F_MULTI, sequence, Bytes(12)) +
                         message(NLMSG_DONE, NLM_F_MULTI, sequence, bytes_of(0));
  const Datagram decoded = decode_datagram(datagram, sequence);
  ASSERT_EQ(decoded.payloads.size(), 2u);
  EXPECT_EQ(decoded.payloads[0].size(), 8u);
  EXPECT_EQ(decoded.payloads[1].size(), 12u);
  EXPECT_TRUE(decoded.complete);
}

// The kernel sets the flag in all later messages of the dump, at least in the last.
TEST(DecodeDatagram, TellsThatADumpMayLackSomething) {
  const Bytes data = message(data_type, NLM_F_MULTI, sequence, Bytes(8));
  EXPECT_FALSE(decode_datagram(data, sequence).interrupted);
  EXPECT_TRUE(decode_datagram(
                  data + message(NLMSG_DONE, NLM_F_MULTI | NLM_F_DUMP_INTR, sequence, bytes_of(0)),
                  sequence)
                  .interrupted);
  EXPECT_FALSE(
      decode_datagram(message(NLMSG_DONE, NLM_F_DUMP_INTR, sequence - 1, bytes_of(0)), sequence)
          .interrupted)
      << "of another request";
}

TEST(DecodeDatagram, IsIncompleteWithoutAnEndMarker) {
  EXPECT_FALSE(decode_datagram(message(data_type, 0, sequence, Bytes(8)), sequence).complete);
  EXPECT_FALSE(decode_datagram({}, sequence).complete);
}

TEST(DecodeDatagram, AcceptsAnAcknowledgement) {
  const Bytes ack = message(NLMSG_ERROR, NLM_F_CAPPED, sequence, error_payload(0, 16));
  EXPECT_TRUE(decode_datagram(ack, sequence).complete);
}

TEST(DecodeDatagram, SkipsRepliesToOtherRequests) {
  const Bytes stale = message(NLMSG_ERROR, 0, sequence - 1, error_payload(-EPERM, 16));
  const Datagram decoded =
      decode_datagram(stale + message(data_type, 0, sequence, Bytes(4)), sequence);
  EXPECT_EQ(decoded.payloads.size(), 1u);
  EXPECT_FALSE(decoded.complete);
}

TEST(DecodeDatagram, ThrowsTheKernelsError) {
  const Bytes datagram =
      message(NLMSG_ERROR, NLM_F_CAPPED, sequence, error_payload(-EADDRINUSE, 16));
  try {
    decode_datagram(datagram, sequence);
    FAIL();
  } catch (const KernelError& error) {
    EXPECT_EQ(error.error(), EADDRINUSE);
    EXPECT_EQ(error.message(), "");
    EXPECT_STREQ(error.what(), "Address already in use");
  }
}

std::string extended_ack_of(const Bytes& datagram) {
  try {
    decode_datagram(datagram, sequence);
  } catch (const KernelError& error) {
    return error.message();
  }
  return "no error";
}

TEST(DecodeDatagram, FindsTheExtendedAckOfACappedError) {
  const Bytes tlvs = Attributes().u32(NLMSGERR_ATTR_OFFS, 20).text(NLMSGERR_ATTR_MSG, "No").bytes();
  EXPECT_EQ(extended_ack_of(message(NLMSG_ERROR, NLM_F_CAPPED | NLM_F_ACK_TLVS, sequence,
                                    error_payload(-EINVAL, 16) + tlvs)),
            "No");
}

TEST(DecodeDatagram, FindsTheExtendedAckAfterTheEchoedRequest) {
  const Bytes echo = Attributes().u32(1, 0).text(2, "eth0").bytes();
  const auto request_length = static_cast<uint32_t>(sizeof(nlmsghdr) + echo.size());
  const Bytes tlvs = Attributes().text(NLMSGERR_ATTR_MSG, "Not this one").bytes();
  EXPECT_EQ(extended_ack_of(message(NLMSG_ERROR, NLM_F_ACK_TLVS, sequence,
                                    error_payload(-EINVAL, request_length) + echo + tlvs)),
            "Not this one");
}

TEST(DecodeDatagram, RejectsInvalidEchoLengths) {
  for (const uint32_t length : {0u, 15u})
    EXPECT_THROW(decode_datagram(
                     message(NLMSG_ERROR, NLM_F_ACK_TLVS, sequence, error_payload(-EINVAL, length)),
                     sequence),
                 MalformedMessage);
  for (const uint32_t length : {17u, 4096u, 0xffffffffu})
    EXPECT_EQ(extended_ack_of(
                  message(NLMSG_ERROR, NLM_F_ACK_TLVS, sequence, error_payload(-EINVAL, length))),
              "");
}

TEST(DecodeDatagram, ThrowsIfADumpEndsWithAnError) {
  const Bytes datagram = message(NLMSG_DONE, NLM_F_MULTI, sequence, bytes_of(-EMSGSIZE));
  EXPECT_THROW(decode_datagram(datagram, sequence), KernelError);
}

TEST(DecodeDatagram, AcceptsADumpEndWithoutAnErrorCode) {
  EXPECT_TRUE(decode_datagram(message(NLMSG_DONE, NLM_F_MULTI, sequence, {}), sequence).complete);
}

TEST(DecodeDatagram, ThrowsOnInvalidErrorCodes) {
  for (const int code : {1, -4096, INT_MIN})
    EXPECT_THROW(
        decode_datagram(message(NLMSG_ERROR, 0, sequence, error_payload(code, 16)), sequence),
        MalformedMessage);
  EXPECT_THROW(decode_datagram(message(NLMSG_ERROR, 0, sequence, {}), sequence), MalformedMessage);
}

TEST(DecodeDatagram, ThrowsWhenMessagesWereLost) {
  EXPECT_THROW(decode_datagram(message(NLMSG_OVERRUN, 0, sequence, {}), sequence), KernelError);
}

TEST(DecodeDatagram, ThrowsOnInvalidMessageLengths) {
  for (const uint32_t length : {0u, 15u, 21u, 0xfffffff0u}) {
    Bytes datagram = message(data_type, 0, sequence, Bytes(4));
    std::memcpy(datagram.data(), &length, sizeof(length));
    EXPECT_THROW(decode_datagram(datagram, sequence), MalformedMessage) << length;
  }
}

TEST(DecodeDatagram, NeverCompletesOnATruncatedDatagram) {
  const Bytes whole =
      message(data_type, NLM_F_MULTI, sequence, Attributes().u32(1, 2).bytes()) +
      message(NLMSG_ERROR, NLM_F_ACK_TLVS | NLM_F_CAPPED, sequence, error_payload(0, 16));
  for (size_t size = 0; size < whole.size(); ++size) {
    const Bytes cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
    try {
      EXPECT_FALSE(decode_datagram(cut, sequence).complete) << size;
    } catch (const MalformedMessage&) {
    }
  }
}

// Runs against the real kernel: it lists the devices, or reports that the kernel has no RDMA.
TEST(NetlinkSocket, ListsDevicesOrReportsThatRdmaIsAbsent) {
  NetlinkSocket socket(NETLINK_RDMA);
  try {
    for (int round = 0; round < 2; ++round) {
      for (const Bytes& payload : socket.exchange(nldev::devices_request()))
        EXPECT_NE(nldev::decode_device(payload).name, "");
    }
  } catch (const SubsystemAbsent& error) {
    EXPECT_STRNE(error.what(), "");
  }
}

}  // namespace
}  // namespace sroce
