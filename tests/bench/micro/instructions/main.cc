// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// instructions write|send|read BYTES COUNT: passes COUNT messages through the engine. The
// difference between two counts under callgrind is the exact number of instructions per message,
// even on a busy machine.
#include <cstdlib>
#include <string>

#include "conversation.h"

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  const std::string kind = argv[1];
  const u8 opcode = kind == "write"  ? SROCE_WR_WRITE
                    : kind == "send" ? SROCE_WR_SEND
                                     : SROCE_WR_READ;
  bench::Conversation talk;
  for (long i = std::atol(argv[3]); i > 0; i--) {
    talk.post(opcode, static_cast<u32>(std::atol(argv[2])));
    if (talk.run() != 1) return 1;
  }
}
