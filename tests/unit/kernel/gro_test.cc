// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Batches of received packets: kernel/net/gro.c.
#include "stand_in/gro.h"

#include <gtest/gtest.h>

#include <list>

#include "unit/kernel/namespace.h"

namespace {

struct Filter : testing::Test, Namespace {
  Filter() { EXPECT_EQ(0, init(ep, netdev)); }

  // The hook that sees packets before UDP does.
  void filter(sk_buff* skb) {
    for (u32 i = 0; i < 2; i++) {
      const nf_hook_ops& hook = stand_in_stack.hooks[i];
      if (hook.pf != (flow.is_ipv4 ? NFPROTO_IPV4 : NFPROTO_IPV6)) continue;
      EXPECT_EQ(unsigned{NF_INET_LOCAL_IN}, hook.hooknum);
      EXPECT_EQ(INT_MAX, hook.priority) << "behind all filters";
      const nf_hook_state state = {hook.pf};
      EXPECT_EQ(unsigned{NF_ACCEPT}, hook.hook(nullptr, skb, &state));
    }
  }
  // The skb begins at its IP header there.
  u32 type_behind_filter(u16 port, u32 gso_type, u8 protocol = 17, u32 options = 0) {
    const u32 ip_bytes = (flow.is_ipv4 ? sizeof(iphdr) : sizeof(ipv6hdr)) + options;
    sk_buff* skb = alloc_skb(ip_bytes + UDP_BYTES, 0);
    skb_reset_network_header(skb);
    auto* ip = static_cast<u8*>(skb_put(skb, ip_bytes + UDP_BYTES));
    ip[0] = flow.is_ipv4 ? 0x40 | ip_bytes / 4 : 0x60;
    ip[flow.is_ipv4 ? 9 : 6] = protocol;
    ip[ip_bytes + 2] = port >> 8;
    ip[ip_bytes + 3] = port;
    skb->shared.gso_type = gso_type;
    skb->shared.gso_size = 100;
    skb->shared_data = true;
    filter(skb);
    const u32 type = skb->shared.gso_type;
    kfree_skb(skb);
    return type;
  }

  Flow flow;
};

TEST_F(Filter, BatchForOurPortIsNotSegmented) {
  for (bool is_ipv4 : {true, false}) {
    flow.is_ipv4 = is_ipv4;
    EXPECT_EQ(SKB_GSO_UDP_L4 | SKB_GSO_UDP_TUNNEL_CSUM, type_behind_filter(4791, SKB_GSO_UDP_L4));
    EXPECT_EQ(SKB_GSO_UDP_L4 | SKB_GSO_UDP_TUNNEL_CSUM,
              type_behind_filter(4791, SKB_GSO_UDP_L4 | SKB_GSO_FRAGLIST))
        << "a list is read like any other";
    EXPECT_EQ(SKB_GSO_UDP_L4, type_behind_filter(4790, SKB_GSO_UDP_L4));
    EXPECT_EQ(SKB_GSO_UDP_L4, type_behind_filter(4791, SKB_GSO_UDP_L4, 6)) << "TCP";
    EXPECT_EQ(SKB_GSO_FRAGLIST, type_behind_filter(4791, SKB_GSO_FRAGLIST));
  }
  flow.is_ipv4 = true;
  EXPECT_EQ(SKB_GSO_UDP_L4 | SKB_GSO_UDP_TUNNEL_CSUM,
            type_behind_filter(4791, SKB_GSO_UDP_L4, 17, 8))
      << "behind options";
}

// A clone shares the type, and may go elsewhere.
TEST_F(Filter, CloneIsNotMarked) {
  stand_in.fail_allocation = 3;  // the skb takes two
  EXPECT_EQ(SKB_GSO_UDP_L4, type_behind_filter(4791, SKB_GSO_UDP_L4));
}

// The part of GRO around gro_receive(): it keeps skbs, and passes on what gro_receive() says.
struct Gro : testing::Test, Namespace {
  Gro() {
    EXPECT_EQ(0, init(ep, netdev));
    EXPECT_EQ(0, sroce_endpoint_add_address(&ep, &flow.daddr));
    kept.next = kept.prev = &kept;
  }
  ~Gro() { clear(); }

  // A packet whose payload is @fill, from its IP header on.
  sk_buff* packet(u32 payload, u8 fill = 0) {
    const Bytes headers = flow.headers(payload, flow.ip_id++);
    header_bytes = headers.size();
    sk_buff* skb = alloc_skb(header_bytes + payload, 0);
    skb_put_data(skb, headers.data(), header_bytes);
    memset(skb_put(skb, payload), fill, payload);
    skb->dev = &netdev;
    return skb;
  }

  bool is_same_flow(const sk_buff* a, const sk_buff* b) {
    const u32 addresses = flow.is_ipv4 ? 12 : 8;
    return !memcmp(a->data + addresses, b->data + addresses, header_bytes - 4 - addresses);
  }

  void arrive(sk_buff* skb, u16 flush = 0) {
    napi_gro_cb* cb = NAPI_GRO_CB(skb);
    *cb = {};
    cb->offset = header_bytes;
    cb->flush = flush;
    cb->encap_mark = 1;
    for (list_head* at = kept.next; at != &kept; at = at->next) {
      sk_buff* other = container_of(at, sk_buff, list);
      NAPI_GRO_CB(other)->same_flow = is_same_flow(other, skb);
    }
    sk_buff* complete = stand_in_stack.tunnel.gro_receive(
        flow.is_ipv4 ? &stand_in_stack.v4.own : &stand_in_stack.v6.own, &kept, skb);
    if (complete) pass(complete);
    if (cb->same_flow) return;
    if (cb->flush) {
      passed.push_back(skb);
      return;
    }
    cb->last = skb;
    cb->count = 1;
    skb->shared.gso_size = skb->len - header_bytes;
    skb->list.next = &kept;
    skb->list.prev = kept.prev;
    kept.prev->next = &skb->list;
    kept.prev = &skb->list;
  }
  void pass(sk_buff* skb) {
    skb->list.prev->next = skb->list.next;
    skb->list.next->prev = skb->list.prev;
    passed.push_back(skb);
    EXPECT_EQ(0, NAPI_GRO_CB(skb)->encap_mark) << "or UDP would not end it as a list";
  }
  void end() {
    while (kept.next != &kept) pass(container_of(kept.next, sk_buff, list));
  }

  // How many packets each skb has that has been passed on, in their order.
  std::vector<u32> batches() {
    end();
    std::vector<u32> counts;
    for (const sk_buff* skb : passed) counts.push_back(NAPI_GRO_CB(skb)->count ?: 1);
    return counts;
  }
  // The first byte of each packet's payload, in their order.
  std::string fills() {
    end();
    std::string text;
    for (sk_buff* skb : passed) {
      text += skb->data[header_bytes];
      for (sk_buff* at = skb->shared.frag_list; at; at = at->next) text += at->data[0];
    }
    return text;
  }

  void clear() {
    end();
    for (sk_buff* skb : passed) kfree_skb(skb);
    passed.clear();
  }
  void use_ipv6() {
    flow.is_ipv4 = false;
    flow.saddr.s6_addr[0] = flow.daddr.s6_addr[0] = 0xfc;
    EXPECT_EQ(0, sroce_endpoint_add_address(&ep, &flow.daddr));
  }

  using Counts = std::vector<u32>;
  Flow flow;
  u32 header_bytes = 0;
  list_head kept;
  std::vector<sk_buff*> passed;
};

TEST_F(Gro, PacketsOfOneSizeAreABatch) {
  for (bool is_ipv4 : {true, false}) {
    if (!is_ipv4) use_ipv6();
    for (u8 fill : {'a', 'b', 'c'}) arrive(packet(100, fill));
    EXPECT_EQ(Counts{3}, batches());
    EXPECT_TRUE(NAPI_GRO_CB(passed[0])->is_flist);
    EXPECT_EQ("abc", fills());
    sk_buff* skb = passed[0];
    EXPECT_EQ(header_bytes + 300, skb->len);
    EXPECT_EQ(200u, skb->data_len);
    EXPECT_EQ(100, skb->shared.gso_size);
    clear();
  }
}

TEST_F(Gro, MembersKeepTheirHeaders) {
  arrive(packet(100));
  const Bytes headers = flow.headers(100, flow.ip_id);
  arrive(packet(100));
  ASSERT_EQ(Counts{2}, batches());
  const sk_buff* member = passed[0]->shared.frag_list;
  EXPECT_EQ(0, memcmp(member->data - header_bytes, headers.data(), header_bytes));
  EXPECT_EQ(member->data - header_bytes, member->network);
}

TEST_F(Gro, BatchHasTheMemoryOfItsPackets) {
  sk_buff* first = packet(100);
  const u32 truesize = first->truesize;
  arrive(first);
  sk_buff* second = packet(100);
  second->shared.flags = SKBFL_SHARED_FRAG | 4;
  arrive(second);
  EXPECT_EQ(2 * truesize, first->truesize);
  EXPECT_EQ(SKBFL_SHARED_FRAG, first->shared.flags);
}

TEST_F(Gro, ShorterPacketEndsABatch) {
  arrive(packet(100, 'a'));
  arrive(packet(60, 'b'));
  EXPECT_EQ(1u, passed.size()) << "at once";
  arrive(packet(60, 'c'));
  EXPECT_EQ((Counts{2, 1}), batches());
  EXPECT_EQ("abc", fills());
}

TEST_F(Gro, LongerPacketBeginsABatch) {
  for (u32 payload : {60, 100, 100}) arrive(packet(payload, payload));
  EXPECT_EQ((Counts{1, 2}), batches());
  EXPECT_EQ("<dd", fills());
}

TEST_F(Gro, BatchHasAtMost64Packets) {
  for (u8 i = 0; i < 130; i++) arrive(packet(20, i));
  EXPECT_EQ((Counts{64, 64, 2}), batches());
}

TEST_F(Gro, BatchFitsIntoAPacketOf64KiB) {
  for (u8 i = 0; i < 8; i++) arrive(packet(15000, i));
  EXPECT_EQ((Counts{4, 4}), batches());
  for (sk_buff* skb : passed) EXPECT_LE(skb->len, 65535u);
}

TEST_F(Gro, OtherPacketsOfTheFlowDoNotOvertake) {
  const std::vector<std::function<void(sk_buff*)>> changes = {
      [](sk_buff* skb) { skb->sk = reinterpret_cast<sock*>(8); },
      [](sk_buff* skb) { skb->ip_summed = CHECKSUM_PARTIAL; },
      [](sk_buff* skb) { skb->csum_level = 1; },
      [](sk_buff* skb) { skb->encapsulation = true; },
      [](sk_buff* skb) { skb->shared.gso_size = 10; },
      [](sk_buff* skb) { skb->data[1] = 3; },                   // ECN
      [](sk_buff* skb) { skb->data[6] = 0x40; },                // DF
      [](sk_buff* skb) { skb->data[4]++; },                     // identification
      [this](sk_buff* skb) { skb->data[header_bytes - 3]--; },  // length of the datagram
      [this](sk_buff* skb) { skb->data_len = skb->len - header_bytes + 1; },
  };
  for (const auto& change : changes) {
    arrive(packet(100, 'a'));
    sk_buff* other = packet(100, 'b');
    change(other);
    arrive(other);
    other->data_len = 0;
    other->sk = nullptr;
    EXPECT_EQ((Counts{1, 1}), batches());
    EXPECT_EQ("ab", fills());
    clear();
  }
}

TEST_F(Gro, OtherIpv6PacketsOfTheFlowDoNotOvertake) {
  use_ipv6();
  for (u32 offset : {1, 6}) {  // ECN, a header between IPv6 and UDP
    arrive(packet(100, 'a'));
    sk_buff* other = packet(100, 'b');
    other->data[offset] ^= 0x30;
    arrive(other);
    EXPECT_EQ((Counts{1, 1}), batches()) << offset;
    EXPECT_EQ("ab", fills());
    clear();
  }
}

// The RX cursor knows the identification of the first only.
TEST_F(Gro, IdentificationCountsOrStays) {
  const std::vector<std::pair<std::vector<u16>, Counts>> cases = {
      {{7, 8, 9}, {3}},        {{7, 7, 7}, {3}},       {{7, 7, 8}, {2, 1}}, {{7, 8, 8}, {2, 1}},
      {{7, 8, 10}, {2, 1}},    {{7, 6}, {1, 1}},       {{7, 9}, {1, 1}},    {{7, 8, 7}, {2, 1}},
      {{65535, 0, 1, 2}, {4}}, {{7, 8, 9, 9}, {3, 1}},
  };
  for (const auto& [ids, counts] : cases) {
    for (u16 id : ids) {
      flow.ip_id = id;
      arrive(packet(100));
    }
    EXPECT_EQ(counts, batches()) << ids[0] << ' ' << ids[1];
    clear();
  }
}

// The sum of the first packet is not that of the batch.
TEST_F(Gro, ChecksumThatTheInterfaceHasSummedIsVerified) {
  for (int i = 0; i < 2; i++) {
    sk_buff* skb = packet(100);
    skb->ip_summed = CHECKSUM_COMPLETE;
    skb->csum_level = 3;
    arrive(skb);
    EXPECT_EQ(CHECKSUM_UNNECESSARY, skb->ip_summed);
    EXPECT_EQ(0, skb->csum_level);
  }
  EXPECT_EQ(Counts{2}, batches());
  clear();
  sk_buff* alone = packet(0);
  alone->ip_summed = CHECKSUM_COMPLETE;
  arrive(alone);
  EXPECT_EQ(CHECKSUM_COMPLETE, alone->ip_summed) << "UDP has not looked at it";
}

TEST_F(Gro, PacketForOthersIsPassedOnAtOnce) {
  for (bool is_ipv4 : {true, false}) {
    if (!is_ipv4) use_ipv6();
    flow.daddr = Flow::address(9);
    arrive(packet(100));
    arrive(packet(100));
    EXPECT_EQ(2u, passed.size()) << is_ipv4;
    clear();
  }
}

TEST_F(Gro, ClosedSocketKeepsNothing) {
  void* sockets_before = stand_in_stack.v4.own.user_data;
  stand_in_stack.v4.own.user_data = nullptr;
  arrive(packet(100));
  EXPECT_EQ(1u, passed.size());
  stand_in_stack.v4.own.user_data = sockets_before;
}

// It began before our socket was there.
TEST_F(Gro, BatchOfUdpEnds) {
  arrive(packet(100));
  sk_buff* first = container_of(kept.next, sk_buff, list);
  NAPI_GRO_CB(first)->is_flist = 0;
  arrive(packet(100));
  EXPECT_EQ((Counts{1, 1}), batches());
}

// IP sets it for fragments, for example.
TEST_F(Gro, PacketThatIsNotToWaitEndsABatch) {
  arrive(packet(100, 'a'));
  arrive(packet(100, 'b'), 1);
  EXPECT_EQ(2u, passed.size());
  EXPECT_EQ("ab", fills());
  EXPECT_EQ((Counts{1, 1}), batches());
}

TEST_F(Gro, EmptyPacketIsPassedOnInItsTurn) {
  arrive(packet(100));
  sk_buff* empty = packet(0);
  arrive(empty);
  ASSERT_EQ(2u, passed.size());
  EXPECT_EQ(empty, passed[1]);
}

TEST_F(Gro, FlowsHaveBatchesOfTheirOwn) {
  for (u8 i = 0; i < 4; i++) {
    flow.saddr = Flow::address(1 + i % 2);
    flow.ip_id = i / 2;
    arrive(packet(100, 'a' + i));
  }
  EXPECT_EQ((Counts{2, 2}), batches());
  EXPECT_EQ("acbd", fills());
}

}  // namespace
