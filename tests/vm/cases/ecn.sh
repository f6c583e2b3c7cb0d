# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Switches that mark instead of dropping: what is sent is ECN capable, marks are answered with CNPs, CNPs slow the sender.
# guests: any
# links: sroce
# seconds: 60
set -euo pipefail
. /share/vm/lib.sh
topology

rose() # a|b COUNTER BEFORE
{
	local after
	after=$(counter_at "$1" "$2")
	check "$1: $2 rose from $3 to $after" test "$after" -gt "$3"
}

tool "nothing is marked: ib_write_bw" ib_write_bw -x GID -F -s 65536 -n 64
expect_counter a np_ecn_marked_roce_packets -eq 0
expect_counter b rp_cnp_handled -eq 0

# What netem would lose it marks, if that is possible.
netem loss 2% ecn
tool "every 50th is marked: ib_write_bw" ib_write_bw -x GID -F -s 65536 -n 256
rose a np_ecn_marked_roce_packets 0
rose a np_cnp_sent 0
rose b rp_cnp_handled 0
sent=$(counter_at b np_cnp_sent) handled=$(counter_at a rp_cnp_handled)
tool "responses are marked as well: ib_read_bw" ib_read_bw -x GID -F -s 65536 -n 256
rose b np_cnp_sent "$sent"
rose a rp_cnp_handled "$handled"
netem
tool "and on a clean path again" ib_write_bw -x GID -F -s 65536 -n 64
