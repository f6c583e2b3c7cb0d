// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "harness/duet.h"

#include <utility>

namespace harness {
namespace {

std::string body_text(const Rendezvous::Message& message) {
  return std::string(reinterpret_cast<const char*>(message.body.data()), message.body.size());
}

// TCP messages get more time, because the network under test may delay them, too.
constexpr auto tcp_margin = std::chrono::seconds(15);

}  // namespace

Duet::Duet(Rendezvous peer, Tap& tap, std::chrono::seconds wait_limit)
    : peer_(std::move(peer)), tap_(tap), wait_limit_(wait_limit) {}

Rendezvous::Message Duet::receive_data() {
  if (!peer_result_) {
    Rendezvous::Message message = peer_.receive(Deadline::after(wait_limit_ + tcp_margin));
    if (message.kind == data) return message;
    peer_result_ = std::move(message);
  }
  if (peer_result_->kind == skipped) throw Skip("peer: " + body_text(*peer_result_));
  fail("the peer has left this case early");
}

void Duet::exchange_bytes(const void* mine, void* theirs, std::size_t length) {
  peer_.send(data, mine, length, deadline());
  const Rendezvous::Message message = receive_data();
  expect(message.body.size() == length, "the two processes disagree about the protocol");
  std::memcpy(theirs, message.body.data(), length);
}

std::string Duet::exchange_text(const std::string& mine) {
  peer_.send(data, mine.data(), mine.size(), deadline());
  return body_text(receive_data());
}

Rendezvous::Message Duet::drain_to_result() {
  while (!peer_result_) {
    Rendezvous::Message message = peer_.receive(Deadline::after(wait_limit_ + tcp_margin));
    if (message.kind != data) peer_result_ = std::move(message);
  }
  return *std::exchange(peer_result_, std::nullopt);
}

void Duet::run(const std::string& name, const std::function<void()>& body) {
  Kind kind = passed;
  std::string why;
  try {
    const std::string theirs = exchange_text(name);
    expect(theirs == name, "the peer runs '", theirs, "'");
    body();
  } catch (const Skip& reason) {
    kind = skipped;
    why = reason.what();
  } catch (const std::exception& reason) {
    kind = failed;
    why = reason.what();
  }
  peer_.send(kind, why.data(), why.size(), deadline());
  const Rendezvous::Message result = drain_to_result();

  if (kind == failed || result.kind == failed) {
    std::string both = "here: " + (why.empty() ? "nothing wrong" : why);
    both += "\npeer: " + (result.body.empty() ? "nothing wrong" : body_text(result));
    tap_.not_ok(name, both);
  } else if (kind == skipped || result.kind == skipped) {
    tap_.skip(name, kind == skipped ? why : body_text(result));
  } else {
    tap_.ok(name);
  }
}

}  // namespace harness
