# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Corrupt packets in the middle of a GSO batch, which only their ICRC reveals. They are counted, and
# the data is right in the end.
# guests: one
# links: sroce
# seconds: 120
# stages: vm-newest vm-6.12
# full: vm-newest-native vm-debug vm-6.1
set -euo pipefail
. /share/vm/lib.sh
topology
set -- tc filter add dev "$B_IF" egress matchall action pedit munge offset 2608 u8 invert munge offset 9000 u8 invert
on_b tc qdisc add dev "$B_IF" clsact
if ! on_b "$@"; then
	skip "corrupt packets in a GSO batch" "this kernel has no act_pedit"
	exit 0
fi
wrong() { counter_at a rx_icrc_encapsulated; }

before=$(wrong)
pair "ib_write_bw" ib_write_bw -d "$A_DEV" -x "$A_GID" -F -m 1024 -s 65536 -n 200 -- \
	ib_write_bw -d "$B_DEV" -x "$B_GID" -F -m 1024 -s 65536 -n 200 "$A_IP"
check "corrupt packets in GSO batches are detected" test $(($(wrong) - before)) -ge 200
duet "verified traffic" rc_verify --quick --max-size 100000
pair "ib_read_bw" ib_read_bw -d "$A_DEV" -x "$A_GID" -F -m 1024 -s 65536 -n 200 -- \
	ib_read_bw -d "$B_DEV" -x "$B_GID" -F -m 1024 -s 65536 -n 200 "$A_IP"
