// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "sroce/qp.h"

#include <nlohmann/json.hpp>

#include "sroce/columns.h"
#include "sroce/family.h"
#include "sroce/rate.h"
#include "sroce_netlink.h"

namespace sroce {
namespace {

using genl::Half;
using genl::QueuePair;
using Json = nlohmann::ordered_json;

std::string end_text(const std::string& address, uint32_t qpn) {
  const bool is_ipv6 = address.find(':') != std::string::npos;
  return (is_ipv6 ? '[' + address + ']' : address) + ':' + std::to_string(qpn);
}

Row heading_of(const QueuePair& qp) {
  const std::string local = qp.peer ? qp.peer->local_address : "*";
  return {qp.state, qp.type, qp.device, end_text(local, qp.qpn),
          qp.peer ? end_text(qp.peer->address, qp.peer->qpn) : "*"};
}

std::string milliseconds(uint64_t ns) { return decimal_text(static_cast<double>(ns) / 1e6, 3); }

/// Collects "name:value" words.
class Words {
 public:
  Words& add(const std::string& name, const std::string& value) {
    text_ += ' ' + name + ':' + value;
    return *this;
  }
  Words& add(const std::string& name, uint64_t value) { return add(name, std::to_string(value)); }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

/// What limits a half; nothing for what does not.
void add_pace(Words& words, const Half& half, const std::string& prefix) {
  if (half.cc) words.add(prefix + "cc", *half.cc + '/' + half.cc_state.value_or("-"));
  if (const auto rate = half.find(SROCE_A_HALF_RATE)) words.add(prefix + "rate", rate_text(*rate));
  if (const auto target = half.find(SROCE_A_HALF_TARGET_RATE))
    words.add(prefix + "target", rate_text(*target));
  if (const auto cwnd = half.find(SROCE_A_HALF_CWND))
    words.add(prefix + "cwnd", decimal_text(static_cast<double>(*cwnd) / 256, 2));
  if (const auto alpha = half.find(SROCE_A_HALF_ALPHA))
    words.add(prefix + "alpha", decimal_text(static_cast<double>(*alpha) / 1024, 3));
}

std::string details_of(const QueuePair& qp) {
  const Half& send = qp.send;
  Words words;
  add_pace(words, send, "");
  if (const auto srtt = send.find(SROCE_A_HALF_SRTT_NS)) {
    words.add("rtt", milliseconds(*srtt) + '/' + milliseconds(send.get(SROCE_A_HALF_RTTVAR_NS)));
    words.add("minrtt", milliseconds(send.get(SROCE_A_HALF_MIN_RTT_NS)));
  }
  words.add("inflight", send.get(SROCE_A_HALF_INFLIGHT))
      .add("retrans", send.get(SROCE_A_HALF_RETRANSMITS))
      .add("timeouts", send.get(SROCE_A_HALF_TIMEOUTS))
      .add("probes", send.get(SROCE_A_HALF_PROBES))
      .add("cnp", send.get(SROCE_A_HALF_CNP_HANDLED))
      .add("cuts", send.get(SROCE_A_HALF_CUTS));
  if (qp.peer) words.add("selective", qp.peer->selective);
  // The receive half sends READ responses at a pace of its own; shown while there is a limit.
  if (qp.recv.find(SROCE_A_HALF_RATE) || qp.recv.find(SROCE_A_HALF_CWND))
    add_pace(words, qp.recv, "resp_");
  words
      .add("held", std::to_string(qp.recv.get(SROCE_A_HALF_HELD_PACKETS)) + '/' +
                       std::to_string(qp.recv.get(SROCE_A_HALF_HELD_BYTES)))
      .add("ce", qp.recv.get(SROCE_A_HALF_ECN_MARKED))
      .add("cnp_sent", qp.recv.get(SROCE_A_HALF_CNP_SENT));
  return '\t' + words.text();
}

template <typename T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

void add_fields(Json& object, const Half& half, std::span<const genl::HalfField> fields) {
  for (const auto& [attribute, name] : fields) object[name] = or_null(half.find(attribute));
}

Json to_json(const Half& half, std::span<const genl::HalfField> own_fields) {
  Json object{{"cc", or_null(half.cc)}, {"cc_state", or_null(half.cc_state)}};
  add_fields(object, half, genl::pace_fields());
  add_fields(object, half, own_fields);
  return object;
}

Json to_json(const std::optional<genl::Peer>& peer) {
  if (!peer) return nullptr;
  return {{"qpn", peer->qpn},
          {"address", peer->address},
          {"local_address", peer->local_address},
          {"selective", peer->selective}};
}

Json to_json(const QueuePair& qp) {
  return {{"device", qp.device},
          {"index", qp.index},
          {"qpn", qp.qpn},
          {"type", qp.type},
          {"state", qp.state},
          {"peer", to_json(qp.peer)},
          {"send", to_json(qp.send, genl::send_fields())},
          {"recv", to_json(qp.recv, genl::recv_fields())}};
}

}  // namespace

std::string qp_text(std::span<const QueuePair> qps) {
  std::vector<Row> rows{{"STATE", "TYPE", "DEVICE", "LOCAL:QPN", "PEER:QPN"}};
  for (const QueuePair& qp : qps) rows.push_back(heading_of(qp));
  const auto lines = align(std::move(rows));
  std::string text;
  for (size_t i = 0; i < lines.size(); ++i) {
    text += lines[i] + '\n';
    if (i > 0) text += details_of(qps[i - 1]) + '\n';
  }
  return text;
}

std::string qp_json(std::span<const QueuePair> qps) {
  Json array = Json::array();
  for (const QueuePair& qp : qps) array.push_back(to_json(qp));
  return array.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
}

void run_qp(System& system, const QpOptions& options, std::ostream& out) {
  std::vector<QueuePair> qps;
  for (const Bytes& payload : ask_module(system, {"show", options.device}, [&](uint16_t family) {
         return genl::qps_request(family, options.device);
       }))
    qps.push_back(genl::decode_qp(payload));
  out << (options.format == Format::json ? qp_json(qps) : qp_text(qps));
}

}  // namespace sroce
