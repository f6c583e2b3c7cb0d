// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "rpma_verify/link.h"

#include <cstring>

#include "harness/failure.h"
#include "harness/random.h"

namespace rpma_verify {

using harness::expect;
using harness::fail;

namespace {

constexpr std::uint32_t magic = 0x72706d61;
constexpr std::uint32_t queue_size = 64;

// The private data of both ends
struct Hello {
  std::uint32_t magic;
  std::uint32_t test;
  std::uint8_t descriptor_size;
  std::uint8_t descriptor[39];
};

Hello make_hello(std::uint32_t test, const Memory& memory) {
  Hello hello{magic, test, 0, {}};
  std::size_t size = 0;
  must(rpma_mr_get_descriptor_size(memory.region.get(), &size), "rpma_mr_get_descriptor_size");
  expect(size <= sizeof hello.descriptor, "a descriptor of ", size, " bytes");
  hello.descriptor_size = static_cast<std::uint8_t>(size);
  must(rpma_mr_get_descriptor(memory.region.get(), hello.descriptor), "rpma_mr_get_descriptor");
  return hello;
}

Settings make_settings(const LinkOptions& options) {
  Settings settings;
  must(rpma_conn_cfg_new(settings.out()), "rpma_conn_cfg_new");
  rpma_conn_cfg* const cfg = settings.get();
  must(rpma_conn_cfg_set_cq_size(cfg, queue_size), "rpma_conn_cfg_set_cq_size");
  if (options.queues != Queues::one)
    must(rpma_conn_cfg_set_rcq_size(cfg, queue_size), "rpma_conn_cfg_set_rcq_size");
  must(rpma_conn_cfg_set_compl_channel(cfg, options.queues == Queues::two_in_channel),
       "rpma_conn_cfg_set_compl_channel");
  if (options.shared) must(rpma_conn_cfg_set_srq(cfg, options.shared), "rpma_conn_cfg_set_srq");
  return settings;
}

std::uint8_t byte_at(std::size_t at, std::uint64_t seed) {
  return static_cast<std::uint8_t>(harness::mix(seed + at / 8) >> at % 8 * 8);
}

}  // namespace

void must(int status, const char* what) { expect(status == 0, what, ": ", rpma_err_2str(status)); }

End::End(bool server, std::string host, std::string service)
    : is_server(server), address(std::move(host)), port(std::move(service)) {
  ibv_context* context = nullptr;
  must(rpma_utils_get_ibv_context(
           address.c_str(), server ? RPMA_UTIL_IBV_CONTEXT_LOCAL : RPMA_UTIL_IBV_CONTEXT_REMOTE,
           &context),
       "rpma_utils_get_ibv_context");
  must(rpma_peer_new(context, peer.out()), "rpma_peer_new");
  if (server)
    must(rpma_ep_listen(peer.get(), address.c_str(), port.c_str(), listener.out()),
         "rpma_ep_listen");
}

Memory::Memory(const End& end, std::size_t size, int usage) : bytes(size) {
  must(rpma_mr_reg(end.peer.get(), bytes.data(), size, usage, region.out()), "rpma_mr_reg");
}

void fill(std::uint8_t* bytes, std::size_t length, std::uint64_t seed) {
  for (std::size_t at = 0; at < length; ++at) bytes[at] = byte_at(at, seed);
}

void compare(const std::uint8_t* bytes, std::size_t length, std::uint64_t seed) {
  for (std::size_t at = 0; at < length; ++at)
    if (bytes[at] != byte_at(at, seed))
      fail("byte ", at, " of ", length, " is ", int{bytes[at]}, ", not ", int{byte_at(at, seed)});
}

bool take(rpma_cq* queue, ibv_wc& completion) {
  const int status = rpma_cq_get_wc(queue, 1, &completion, nullptr);
  if (status == RPMA_E_NO_COMPLETION) return false;
  must(status, "rpma_cq_get_wc");
  return true;
}

Link::Link(End& end, const LinkOptions& options)
    : memory(end, options.bytes,
             RPMA_MR_USAGE_READ_SRC | RPMA_MR_USAGE_READ_DST | RPMA_MR_USAGE_WRITE_SRC |
                 RPMA_MR_USAGE_WRITE_DST | RPMA_MR_USAGE_FLUSH_TYPE_VISIBILITY),
      inbox_(end, receives * message_limit, RPMA_MR_USAGE_RECV),
      outbox_(end, message_limit, RPMA_MR_USAGE_SEND),
      queues_(options.queues) {
  const Settings settings = make_settings(options);
  Request request;
  if (end.is_server)
    must(rpma_ep_next_conn_req(end.listener.get(), settings.get(), request.out()),
         "rpma_ep_next_conn_req");
  else
    must(rpma_conn_req_new(end.peer.get(), end.address.c_str(), end.port.c_str(), settings.get(),
                           request.out()),
         "rpma_conn_req_new");
  for (unsigned slot = 0; slot < receives && !options.shared; ++slot)
    must(rpma_conn_req_recv(request.get(), inbox_.region.get(), slot * message_limit, message_limit,
                            context_of(slot)),
         "rpma_conn_req_recv");
  Hello hello = make_hello(options.test, memory);
  rpma_conn_private_data data{&hello, sizeof hello};
  must(rpma_conn_req_connect(request.out(), &data, connection_.out()), "rpma_conn_req_connect");
  expect_event(RPMA_CONN_ESTABLISHED);
  must(rpma_conn_get_private_data(get(), &data), "rpma_conn_get_private_data");
  expect(data.ptr && data.len >= sizeof hello, "private data of ", int{data.len}, " bytes");
  std::memcpy(&hello, data.ptr, sizeof hello);
  expect(hello.magic == magic && hello.test == options.test, "private data of test ", hello.test);
  must(rpma_mr_remote_from_descriptor(hello.descriptor, hello.descriptor_size, remote.out()),
       "rpma_mr_remote_from_descriptor");
  must(rpma_conn_get_cq(get(), &queue_), "rpma_conn_get_cq");
  must(rpma_conn_get_rcq(get(), &receive_queue_), "rpma_conn_get_rcq");
  expect(!receive_queue_ == (queues_ == Queues::one), "the wrong number of CQs");
}

void Link::expect_event(rpma_conn_event wanted) {
  rpma_conn_event event = RPMA_CONN_UNDEFINED;
  must(rpma_conn_next_event(get(), &event), "rpma_conn_next_event");
  expect(event == wanted, rpma_utils_conn_event_2str(event), " instead of ",
         rpma_utils_conn_event_2str(wanted));
}

std::uint32_t Link::qp_number() const {
  std::uint32_t number = 0;
  must(rpma_conn_get_qp_num(get(), &number), "rpma_conn_get_qp_num");
  return number;
}

bool Link::drain(rpma_cq* queue) {
  bool found = false;
  for (ibv_wc completion{}; take(queue, completion); found = true)
    (completion.wr_id ? received_ : sent_).push_back(completion);
  return found;
}

void Link::collect(bool receive) {
  rpma_cq* queue = receive && receive_queue_ ? receive_queue_ : queue_;
  while (!drain(queue)) {
    rpma_cq* ready = nullptr;
    if (queues_ != Queues::two_in_channel)
      must(rpma_cq_wait(queue), "rpma_cq_wait");
    else
      must(rpma_conn_wait(get(), 0, &ready, nullptr), "rpma_conn_wait");
  }
}

void Link::finish(ibv_wc_opcode opcode, ibv_wc_status status) {
  while (sent_.empty()) collect(false);
  const ibv_wc completion = sent_.front();
  sent_.pop_front();
  expect(completion.status == status, "a request ends with ", ibv_wc_status_str(completion.status));
  expect(status != IBV_WC_SUCCESS || completion.opcode == opcode, "a completion of opcode ",
         int{completion.opcode});
}

void Link::send(std::size_t length, std::uint64_t seed) {
  fill(outbox_.bytes.data(), length, seed);
  must(rpma_send(get(), outbox_.region.get(), 0, length, RPMA_F_COMPLETION_ALWAYS, nullptr),
       "rpma_send");
  finish(IBV_WC_SEND);
}

void Link::send(std::size_t length, std::uint64_t seed, std::uint32_t immediate) {
  fill(outbox_.bytes.data(), length, seed);
  must(rpma_send_with_imm(get(), outbox_.region.get(), 0, length, RPMA_F_COMPLETION_ALWAYS,
                          immediate, nullptr),
       "rpma_send_with_imm");
  finish(IBV_WC_SEND);
}

ibv_wc Link::receive(std::size_t length, std::uint64_t seed) {
  while (received_.empty()) collect(true);
  compare(inbox_.bytes.data() + slot_of(received_.front()) * message_limit, length, seed);
  const ibv_wc completion = receive_any();
  expect(completion.opcode == IBV_WC_RECV && completion.byte_len == length, "a message of ",
         completion.byte_len, " bytes, opcode ", int{completion.opcode});
  return completion;
}

ibv_wc Link::receive_any() {
  while (received_.empty()) collect(true);
  const ibv_wc completion = received_.front();
  received_.pop_front();
  expect(completion.status == IBV_WC_SUCCESS, "a receive ends with ",
         ibv_wc_status_str(completion.status));
  const unsigned slot = slot_of(completion);
  must(rpma_recv(get(), inbox_.region.get(), slot * message_limit, message_limit, context_of(slot)),
       "rpma_recv");
  return completion;
}

void Link::close(const End& end) {
  if (end.is_server) expect_event(RPMA_CONN_CLOSED);
  must(rpma_conn_disconnect(get()), "rpma_conn_disconnect");
  if (!end.is_server) expect_event(RPMA_CONN_CLOSED);
}

}  // namespace rpma_verify
