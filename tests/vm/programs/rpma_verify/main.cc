// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// rpma_verify: librpma between two processes, which compare every byte. scripts/lib/librpma.sh
// builds it, because it needs librpma's header.
#include <arpa/inet.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "harness/args.h"
#include "harness/failure.h"
#include "harness/random.h"
#include "harness/tap.h"
#include "rpma_verify/link.h"

namespace {

using harness::expect;
using rpma_verify::compare;
using rpma_verify::End;
using rpma_verify::fill;
using rpma_verify::Link;
using rpma_verify::LinkOptions;
using rpma_verify::Memory;
using rpma_verify::message_limit;
using rpma_verify::must;
using rpma_verify::Queues;
using rpma_verify::SharedQueue;

constexpr const char* usage =
    R"(usage: rpma_verify --server ADDRESS [--port P] [--rounds N]
       rpma_verify --client ADDRESS [--port P] [--rounds N]

Run librpma's WRITE, READ, immediate data, flush and messages, also with a shared receive queue
(N messages, default 500). Both ends print TAP and must have the same options.)";

constexpr std::size_t memory_size = 4 << 20;
constexpr std::uint64_t far_seed = 1000, near_seed = 2000000, message_seed = 4000000;
constexpr std::size_t note = 8;  // bytes of a message that only says that something is done

std::uint64_t rounds;

// A transfer between offsets of both memories
struct Piece {
  std::size_t near, far, length;
};
constexpr Piece pieces[] = {
    {0, 0, 1},
    {7, 4093, 2},
    {4096, 9999, 1023},
    {12289, 16384, 1024},
    {20000, 20001, 4096},
    {65537, 70000, 65535},
    {200003, 300001, 1000000},
    {1500000, 2000000, 2097152},
};

std::size_t length_of(std::uint64_t round) { return 1 + harness::mix(round) % message_limit; }

// Memory as fill() leaves it
std::vector<std::uint8_t> filled(std::uint64_t seed) {
  std::vector<std::uint8_t> bytes(memory_size);
  fill(bytes.data(), bytes.size(), seed);
  return bytes;
}

void expect_same(const std::vector<std::uint8_t>& is, const std::vector<std::uint8_t>& wanted) {
  const auto differ = std::mismatch(is.begin(), is.end(), wanted.begin());
  expect(differ.first == is.end(), "byte ", differ.first - is.begin(), " of the memory is wrong");
}

// The memory of the server after a WRITE of all pieces
std::vector<std::uint8_t> written() {
  std::vector<std::uint8_t> wanted = filled(far_seed);
  const std::vector<std::uint8_t> source = filled(near_seed);
  for (const Piece& piece : pieces)
    std::copy_n(source.begin() + static_cast<std::ptrdiff_t>(piece.near), piece.length,
                wanted.begin() + static_cast<std::ptrdiff_t>(piece.far));
  return wanted;
}

// Fill both memories, before the client touches the server's.
void prepare(const End& end, Link& link) {
  fill(link.memory.bytes.data(), memory_size, end.is_server ? far_seed : near_seed);
  if (end.is_server)
    link.send(note, message_seed);
  else
    link.receive(note, message_seed);
}

void done(const End& end, Link& link) {
  if (end.is_server)
    link.receive(note, message_seed + 1);
  else
    link.send(note, message_seed + 1);
}

void reads(End& end, std::uint32_t test) {
  Link link(end, {.test = test, .bytes = memory_size});
  prepare(end, link);
  if (!end.is_server) {
    std::vector<std::uint8_t> wanted = filled(near_seed);
    const std::vector<std::uint8_t> source = filled(far_seed);
    for (const Piece& piece : pieces) {
      must(rpma_read(link.get(), link.memory.region.get(), piece.near, link.remote.get(), piece.far,
                     piece.length, RPMA_F_COMPLETION_ALWAYS, nullptr),
           "rpma_read");
      link.finish(IBV_WC_RDMA_READ);
      std::copy_n(source.begin() + static_cast<std::ptrdiff_t>(piece.far), piece.length,
                  wanted.begin() + static_cast<std::ptrdiff_t>(piece.near));
      expect_same(link.memory.bytes, wanted);
    }
  }
  done(end, link);
  if (end.is_server) expect_same(link.memory.bytes, filled(far_seed));
  link.close(end);
}

void writes(End& end, std::uint32_t test) {
  Link link(end, {.test = test, .bytes = memory_size});
  prepare(end, link);
  if (!end.is_server)
    for (const Piece& piece : pieces) {
      must(rpma_write(link.get(), link.remote.get(), piece.far, link.memory.region.get(),
                      piece.near, piece.length, RPMA_F_COMPLETION_ALWAYS, nullptr),
           "rpma_write");
      link.finish(IBV_WC_RDMA_WRITE);
    }
  done(end, link);
  if (end.is_server) expect_same(link.memory.bytes, written());
  link.close(end);
}

void writes_with_immediate(End& end, std::uint32_t test) {
  Link link(end, {.test = test, .bytes = memory_size});
  prepare(end, link);
  for (const Piece& piece : pieces) {
    const auto immediate = static_cast<std::uint32_t>(harness::mix(piece.far));
    if (end.is_server) {
      const ibv_wc completion = link.receive_any();
      expect(completion.opcode == IBV_WC_RECV_RDMA_WITH_IMM &&
                 (completion.wc_flags & IBV_WC_WITH_IMM) && completion.byte_len == piece.length,
             "opcode ", int{completion.opcode}, ", ", completion.byte_len, " bytes");
      expect(ntohl(completion.imm_data) == immediate, "immediate data ",
             ntohl(completion.imm_data));
      continue;
    }
    must(
        rpma_write_with_imm(link.get(), link.remote.get(), piece.far, link.memory.region.get(),
                            piece.near, piece.length, RPMA_F_COMPLETION_ALWAYS, immediate, nullptr),
        "rpma_write_with_imm");
    link.finish(IBV_WC_RDMA_WRITE);
  }
  done(end, link);
  if (end.is_server) expect_same(link.memory.bytes, written());
  link.close(end);
}

// Data, a flush for visibility, and a word that says that they are there. librpma 1.2 flushes with
// a READ, and where libibverbs is old its atomic write is a WRITE.
void flushes(End& end, std::uint32_t test) {
  Link link(end, {.test = test, .bytes = memory_size});
  prepare(end, link);
  constexpr std::size_t at = 8, bytes = 1024;
  for (std::uint64_t value = 1; value <= rounds && !end.is_server; ++value) {
    must(rpma_write(link.get(), link.remote.get(), at, link.memory.region.get(), value, bytes,
                    RPMA_F_COMPLETION_ON_ERROR, nullptr),
         "rpma_write");
    must(rpma_flush(link.get(), link.remote.get(), at, bytes, RPMA_FLUSH_TYPE_VISIBILITY,
                    RPMA_F_COMPLETION_ON_ERROR, nullptr),
         "rpma_flush");
    char word[8];
    std::memcpy(word, &value, sizeof word);
    must(rpma_atomic_write(link.get(), link.remote.get(), 0, word, RPMA_F_COMPLETION_ALWAYS,
                           nullptr),
         "rpma_atomic_write");
    link.finish(IBV_WC_RDMA_WRITE);
  }
  done(end, link);
  if (end.is_server) {
    std::vector<std::uint8_t> wanted = filled(far_seed);
    const std::vector<std::uint8_t> source = filled(near_seed);
    std::memcpy(wanted.data(), &rounds, sizeof rounds);
    std::copy_n(source.begin() + static_cast<std::ptrdiff_t>(rounds), bytes, wanted.begin() + at);
    expect_same(link.memory.bytes, wanted);
  }
  link.close(end);
}

void messages(End& end, const LinkOptions& options, bool with_immediate) {
  Link link(end, options);
  const auto send = [&](std::uint64_t round, std::uint64_t seed) {
    if (with_immediate)
      link.send(length_of(round), seed, static_cast<std::uint32_t>(seed));
    else
      link.send(length_of(round), seed);
  };
  const auto receive = [&](std::uint64_t round, std::uint64_t seed) {
    const ibv_wc completion = link.receive(length_of(round), seed);
    expect(!(completion.wc_flags & IBV_WC_WITH_IMM) == !with_immediate, "round ", round, ": flags ",
           completion.wc_flags);
    expect(!with_immediate || ntohl(completion.imm_data) == seed, "round ", round,
           ": immediate data ", ntohl(completion.imm_data));
  };
  for (std::uint64_t round = 0; round < rounds; ++round) {
    const std::uint64_t there = message_seed + 2 * round, back = there + 1;
    if (end.is_server) {
      receive(round, there);
      send(round, back);
    } else {
      send(round, there);
      receive(round, back);
    }
  }
  link.close(end);
}

// --- a shared receive queue, of the server -------------------------------------------------------

constexpr std::size_t link_count = 3;

std::uint64_t shared_seed(std::size_t index, std::uint64_t round) {
  return message_seed + 10000000 * (index + 1) + 2 * round;
}

// Answers every message to the queue on the connection that it came from.
void serve_shared(std::vector<Link>& links, rpma_srq* queue, Memory& inbox) {
  rpma_cq* completions = nullptr;
  must(rpma_srq_get_rcq(queue, &completions), "rpma_srq_get_rcq");
  std::uint64_t counts[link_count] = {};
  for (std::uint64_t total = 0; total < link_count * rounds;) {
    ibv_wc completion{};
    if (!rpma_verify::take(completions, completion)) {
      must(rpma_cq_wait(completions), "rpma_cq_wait");
      continue;
    }
    ++total;
    expect(completion.status == IBV_WC_SUCCESS, ibv_wc_status_str(completion.status));
    const auto link = std::find_if(links.begin(), links.end(), [&](const Link& candidate) {
      return candidate.qp_number() == completion.qp_num;
    });
    expect(link != links.end(), "a message of an unknown QP");
    const auto index = static_cast<std::size_t>(link - links.begin());
    const std::uint64_t round = counts[index]++, seed = shared_seed(index, round);
    const unsigned slot = rpma_verify::slot_of(completion);
    expect(completion.byte_len == length_of(round), "a message of ", completion.byte_len, " bytes");
    compare(inbox.bytes.data() + slot * message_limit, completion.byte_len, seed);
    must(rpma_srq_recv(queue, inbox.region.get(), slot * message_limit, message_limit,
                       rpma_verify::context_of(slot)),
         "rpma_srq_recv");
    link->send(length_of(round), seed + 1);
  }
}

void talk_shared(std::vector<Link>& links) {
  for (std::uint64_t round = 0; round < rounds; ++round) {
    for (std::size_t index = 0; index < link_count; ++index)
      links[index].send(length_of(round), shared_seed(index, round));
    for (std::size_t index = 0; index < link_count; ++index)
      links[index].receive(length_of(round), shared_seed(index, round) + 1);
  }
}

void shared_queue(End& end, std::uint32_t test) {
  Memory inbox(end, 2 * link_count * message_limit, RPMA_MR_USAGE_RECV);
  SharedQueue queue;
  if (end.is_server) {
    must(rpma_srq_new(end.peer.get(), nullptr, queue.out()), "rpma_srq_new");
    for (unsigned slot = 0; slot < 2 * link_count; ++slot)
      must(rpma_srq_recv(queue.get(), inbox.region.get(), slot * message_limit, message_limit,
                         rpma_verify::context_of(slot)),
           "rpma_srq_recv");
  }
  std::vector<Link> links;
  links.reserve(link_count);
  for (std::uint32_t index = 0; index < link_count; ++index)
    links.emplace_back(end, LinkOptions{.test = test + index, .shared = queue.get()});
  if (end.is_server)
    serve_shared(links, queue.get(), inbox);
  else
    talk_shared(links);
  for (Link& link : links) link.close(end);
}

void write_past_the_end(End& end, std::uint32_t test) {
  Link link(end, {.test = test, .bytes = memory_size});
  prepare(end, link);
  if (!end.is_server) {
    must(rpma_write(link.get(), link.remote.get(), memory_size - 1, link.memory.region.get(), 0, 2,
                    RPMA_F_COMPLETION_ALWAYS, nullptr),
         "rpma_write");
    link.finish(IBV_WC_RDMA_WRITE, IBV_WC_REM_ACCESS_ERR);
  }
  link.close(end);
  if (end.is_server) expect_same(link.memory.bytes, filled(far_seed));
}

}  // namespace

int main(int argc, char** argv) {
  harness::Args args(argc, argv, usage);
  const std::string server = args.text("--server", ""), client = args.text("--client", "");
  const std::string port = args.text("--port", "7471");
  rounds = args.number("--rounds", 500);
  args.finish();
  alarm(120);  // librpma's waits have no limit
  rpma_log_set_threshold(RPMA_LOG_THRESHOLD, RPMA_LOG_LEVEL_WARNING);
  harness::Tap tap;
  const bool complete = tap.completes([&] {
    expect(server.empty() != client.empty(), "give either --server or --client");
    End end(!server.empty(), server + client, port);
    tap.run("READ", [&] { reads(end, 1); });
    tap.run("WRITE", [&] { writes(end, 2); });
    tap.run("WRITE with immediate data", [&] { writes_with_immediate(end, 3); });
    tap.run("WRITE, flush, atomic write", [&] { flushes(end, 4); });
    tap.run("messages", [&] { messages(end, {.test = 5}, false); });
    tap.run("messages with immediate data", [&] { messages(end, {.test = 6}, true); });
    tap.run("messages, a CQ for receives",
            [&] { messages(end, {.test = 7, .queues = Queues::two}, false); });
    tap.run("messages, two CQs in one channel",
            [&] { messages(end, {.test = 8, .queues = Queues::two_in_channel}, false); });
    tap.run("messages of three connections, a shared receive queue",
            [&] { shared_queue(end, 10); });
    tap.run("a WRITE past the end is refused", [&] { write_past_the_end(end, 20); });
  });
  tap.run("every object can be closed",
          [] { expect(rpma_verify::close_failures == 0, rpma_verify::close_failures, " cannot"); });
  const int status = tap.finish();
  return complete ? status : 1;
}
