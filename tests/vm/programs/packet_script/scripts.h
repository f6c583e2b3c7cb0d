// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// The scripts that both devices play.
#pragma once

#include "packet_script/player.h"

namespace packet_script {

std::vector<Script> responder_scripts();
std::vector<Script> message_scripts();  // of the responder: opcodes, lengths, keys
std::vector<Script> requester_scripts();

// Scripts put together at random from pieces that no script of the lists above shows to differ.
Script random_responder_script(std::uint64_t seed);
Script random_requester_script(std::uint64_t seed);

}  // namespace packet_script
