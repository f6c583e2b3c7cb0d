// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "sroce/qp.h"

#include <array>

#include "sroce/genl.h"
#include "sroce/interval.h"
#include "sroce_netlink.h"

namespace sroce {
namespace {

using genl::QueuePair;
using genl::WorkQueue;

/// A number of a work queue and its name in JSON.
struct WorkQueueField {
  uint16_t attribute;
  const char* name;
};

constexpr std::array common_fields{
    WorkQueueField{SROCE_A_WQ_RATE, "rate"},
    WorkQueueField{SROCE_A_WQ_CWND, "cwnd_256ths"},
    WorkQueueField{SROCE_A_WQ_CNP_HANDLED, "cnp_handled"},
    WorkQueueField{SROCE_A_WQ_CUTS, "cuts"},
    WorkQueueField{SROCE_A_WQ_WQES, "wqes"},
};

constexpr std::array sq_fields{
    WorkQueueField{SROCE_A_WQ_SRTT_NS, "srtt_ns"},
    WorkQueueField{SROCE_A_WQ_RTTVAR_NS, "rttvar_ns"},
    WorkQueueField{SROCE_A_WQ_MIN_RTT_NS, "min_rtt_ns"},
    WorkQueueField{SROCE_A_WQ_INFLIGHT, "inflight"},
    WorkQueueField{SROCE_A_WQ_RETRANSMITS, "retransmits"},
    WorkQueueField{SROCE_A_WQ_TIMEOUTS, "timeouts"},
    WorkQueueField{SROCE_A_WQ_PROBES, "probes"},
};

constexpr std::array rq_fields{
    WorkQueueField{SROCE_A_WQ_REORDER_PACKETS, "reorder_packets"},
    WorkQueueField{SROCE_A_WQ_REORDER_BYTES, "reorder_bytes"},
    WorkQueueField{SROCE_A_WQ_ECN_MARKED, "ecn_marked"},
    WorkQueueField{SROCE_A_WQ_CNP_SENT, "cnp_sent"},
};

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

double fraction(uint64_t value) { return static_cast<double>(value) / SROCE_NL_CC_ONE; }

std::string value_text(const genl::CcDetail& detail) {
  switch (detail.format) {
    case SROCE_NL_CC_RATE:
      return rate_text(detail.value);
    case SROCE_NL_CC_NS:
      return milliseconds(detail.value);
    case SROCE_NL_CC_FRACTION:
      return decimal_text(fraction(detail.value), 3);
    default:
      return std::to_string(detail.value);
  }
}

/// Adds the congestion control state of a work queue. Values that the kernel did not send are not
/// limits at the moment and are left out.
void add_cc(Words& words, const WorkQueue& wq, const std::string& prefix) {
  if (wq.cc) words.add(prefix + "cc", *wq.cc + '/' + wq.cc_state.value_or("-"));
  if (const auto rate = wq.find(SROCE_A_WQ_RATE)) words.add(prefix + "rate", rate_text(*rate));
  if (const auto cwnd = wq.find(SROCE_A_WQ_CWND))
    words.add(prefix + "cwnd", decimal_text(static_cast<double>(*cwnd) / 256, 2));
  for (const genl::CcDetail& detail : wq.cc_info)
    words.add(prefix + detail.key, value_text(detail));
}

/// A count, with its increase.
std::string count_text(uint64_t value, std::optional<uint64_t> before) {
  const std::string text = std::to_string(value);
  return before && value > *before ? text + "(+" + std::to_string(value - *before) + ')' : text;
}

std::string details_of(const QueuePair& qp, const QueuePair* before) {
  const WorkQueue& sq = qp.sq;
  const auto sq_count = [&](uint16_t attribute) {
    return count_text(sq.get(attribute), before ? before->sq.find(attribute) : std::nullopt);
  };
  const auto rq_count = [&](uint16_t attribute) {
    return count_text(qp.rq.get(attribute), before ? before->rq.find(attribute) : std::nullopt);
  };
  Words words;
  add_cc(words, sq, "");
  if (const auto srtt = sq.find(SROCE_A_WQ_SRTT_NS)) {
    words.add("rtt", milliseconds(*srtt) + '/' + milliseconds(sq.get(SROCE_A_WQ_RTTVAR_NS)));
    words.add("minrtt", milliseconds(sq.get(SROCE_A_WQ_MIN_RTT_NS)));
  }
  words.add("wqes", sq.get(SROCE_A_WQ_WQES))
      .add("inflight", sq.get(SROCE_A_WQ_INFLIGHT))
      .add("retrans", sq_count(SROCE_A_WQ_RETRANSMITS))
      .add("timeouts", sq_count(SROCE_A_WQ_TIMEOUTS))
      .add("probes", sq_count(SROCE_A_WQ_PROBES))
      .add("cnp", sq_count(SROCE_A_WQ_CNP_HANDLED))
      .add("cuts", sq_count(SROCE_A_WQ_CUTS));
  if (qp.peer) words.add("selective", qp.peer->selective);
  if (qp.srqn) words.add("srq", *qp.srqn);
  if (const auto wqes = qp.rq.find(SROCE_A_WQ_WQES)) words.add("rq_wqes", *wqes);
  // READ responses have their own congestion control, shown only while it limits them.
  if (qp.rq.find(SROCE_A_WQ_RATE) || qp.rq.find(SROCE_A_WQ_CWND)) add_cc(words, qp.rq, "resp_");
  words
      .add("reorder", std::to_string(qp.rq.get(SROCE_A_WQ_REORDER_PACKETS)) + '/' +
                          std::to_string(qp.rq.get(SROCE_A_WQ_REORDER_BYTES)))
      .add("ce", rq_count(SROCE_A_WQ_ECN_MARKED))
      .add("cnp_sent", rq_count(SROCE_A_WQ_CNP_SENT));
  return '\t' + words.text();
}

/// The keys end with the unit, as those of the other fields do.
Json to_json(std::span<const genl::CcDetail> details) {
  Json object = Json::object();
  for (const genl::CcDetail& detail : details) {
    switch (detail.format) {
      case SROCE_NL_CC_RATE:
        object[detail.key + "_rate"] = detail.value;
        break;
      case SROCE_NL_CC_NS:
        object[detail.key + "_ns"] = detail.value;
        break;
      case SROCE_NL_CC_FRACTION:
        object[detail.key] = fraction(detail.value);
        break;
      default:
        object[detail.key] = detail.value;
    }
  }
  return object;
}

void add_fields(Json& object, const WorkQueue& wq, std::span<const WorkQueueField> fields) {
  for (const auto& [attribute, name] : fields) object[name] = or_null(wq.find(attribute));
}

Json to_json(const WorkQueue& wq, std::span<const WorkQueueField> own_fields) {
  Json object{{"cc", or_null(wq.cc)}, {"cc_state", or_null(wq.cc_state)}};
  add_fields(object, wq, common_fields);
  object["cc_info"] = to_json(wq.cc_info);
  add_fields(object, wq, own_fields);
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
          {"srqn", or_null(qp.srqn)},
          {"peer", to_json(qp.peer)},
          {"sq", to_json(qp.sq, sq_fields)},
          {"rq", to_json(qp.rq, rq_fields)}};
}

Json array_of(std::span<const QueuePair> qps) {
  Json array = Json::array();
  for (const QueuePair& qp : qps) array.push_back(to_json(qp));
  return array;
}

std::vector<QueuePair> query_qps(System& system, const QpOptions& options) {
  std::vector<QueuePair> qps;
  for (const Bytes& payload :
       genl::ask_module(system, {"show", options.device},
                        [&](uint16_t family) { return genl::qps_request(family, options.device); }))
    qps.push_back(genl::decode_qp(payload));
  return qps;
}

/// In JSON, one object a line.
void repeat_qps(System& system, const QpOptions& options, std::ostream& out) {
  QpHistory before;
  call_at_interval(system, *options.interval_seconds, out, [&](double seconds) {
    const auto qps = query_qps(system, options);
    if (options.format == Format::json) {
      // No interval has ended before the first.
      const Json object{{"seconds", seconds > 0 ? Json(seconds) : Json(nullptr)},
                        {"qps", array_of(qps)}};
      out << object.dump(-1, ' ', false, Json::error_handler_t::replace) << std::endl;
    } else {
      out << (seconds > 0 ? "\n" : "") << qp_text(qps, before) << std::flush;
    }
    before.clear();
    for (const QueuePair& qp : qps) before[{qp.index, qp.qpn}] = qp;
  });
}

}  // namespace

std::string qp_text(std::span<const QueuePair> qps, const QpHistory& before) {
  std::vector<Row> rows{{"STATE", "TYPE", "DEVICE", "LOCAL:QPN", "PEER:QPN"}};
  for (const QueuePair& qp : qps) rows.push_back(heading_of(qp));
  const auto lines = align(std::move(rows));
  std::string text;
  for (size_t i = 0; i < lines.size(); ++i) {
    text += lines[i] + '\n';
    if (i == 0) continue;
    const QueuePair& qp = qps[i - 1];
    const auto last = before.find({qp.index, qp.qpn});
    text += details_of(qp, last == before.end() ? nullptr : &last->second) + '\n';
  }
  return text;
}

std::string qp_json(std::span<const QueuePair> qps) { return json_text(array_of(qps)); }

void run_qp(System& system, const QpOptions& options, std::ostream& out) {
  if (options.interval_seconds) {
    repeat_qps(system, options, out);
    return;
  }
  const auto qps = query_qps(system, options);
  out << (options.format == Format::json ? qp_json(qps) : qp_text(qps));
}

}  // namespace sroce
