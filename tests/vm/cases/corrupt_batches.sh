# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Packets spoilt in the middle of a run, where only their ICRC tells: every byte is right in the end, and they are counted.
# guests: one
# links: sroce
# seconds: 120
# stages: vm-newest vm-6.12
# full: vm-newest-native vm-debug
set -euo pipefail
. /share/vm/lib.sh
topology
set -- tc filter add dev "$B_IF" egress matchall action pedit munge offset 2608 u8 invert munge offset 9000 u8 invert
on_b tc qdisc add dev "$B_IF" clsact
if ! on_b "$@"; then
	skip "packets spoilt in a run" "this kernel cannot edit packets (act_pedit)"
	exit 0
fi
wrong() { counter_at a rx_icrc_encapsulated; }

before=$(wrong)
pair "ib_write_bw" ib_write_bw -d "$A_DEV" -x "$A_GID" -F -m 1024 -s 65536 -n 200 -- \
	ib_write_bw -d "$B_DEV" -x "$B_GID" -F -m 1024 -s 65536 -n 200 "$A_IP"
check "packets in runs were spoilt, and found" test $(($(wrong) - before)) -ge 200
duet "verified traffic" rc_verify --quick --max-size 100000
pair "ib_read_bw" ib_read_bw -d "$A_DEV" -x "$A_GID" -F -m 1024 -s 65536 -n 200 -- \
	ib_read_bw -d "$B_DEV" -x "$B_GID" -F -m 1024 -s 65536 -n 200 "$A_IP"
