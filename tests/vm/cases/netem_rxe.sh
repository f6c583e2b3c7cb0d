# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# A standard peer, in-tree rxe, on a path that loses, duplicates and reorders. rxe sometimes gives
# up, so tools may fail. Data that arrives must be right, nothing may hang, and traffic must flow
# afterwards.
# guests: one
# links: sroce-rxe rxe-sroce
# seconds: 360
# stages: vm-newest vm-newest-rxe
set -euo pipefail
. /share/vm/lib.sh
topology
export LIMIT=25

on_a ethtool -K "$A_IF" tso off gso off gro off >/dev/null
on_b ethtool -K "$B_IF" tso off gso off gro off >/dev/null

sroce_end=a
[[ $A_TYPE == sroce ]] || sroce_end=b

# ibv_rc_pingpong -c compares the data.
impaired() # NAME NETEM_OPTION...
{
	local name=$1 wrong=0 done=0 _
	shift
	netem "$@"
	for _ in 1 2 3; do
		if talk ibv_rc_pingpong -d "$A_DEV" -g "$A_GID" -s 10000 -n 100 -c -- ibv_rc_pingpong -d "$B_DEV" -g "$B_GID" -s 10000 -n 100 -c "$A_IP"; then
			done=$((done + 1))
		fi
		! grep -q 'invalid data' <<<"$pair_report" || wrong=$((wrong + 1))
		if talk ib_write_bw -d "$A_DEV" -x "$A_GID" -F -s 65536 -n 64 -- ib_write_bw -d "$B_DEV" -x "$B_GID" -F -s 65536 -n 64 "$A_IP"; then
			done=$((done + 1))
		fi
		# READs, because the requester reorders their responses.
		if talk ib_read_bw -d "$A_DEV" -x "$A_GID" -F -s 65536 -n 64 -- ib_read_bw -d "$B_DEV" -x "$B_GID" -F -s 65536 -n 64 "$A_IP"; then
			done=$((done + 1))
		fi
	done
	netem
	echo "# $name: $done of 9 succeeded, $(counter_at $sroce_end implied_nak_seq_err) READs requested again so far"
	check "$name: no byte is wrong" test "$wrong" -eq 0
	tool "$name: traffic flows on a clean path afterwards" ibv_rc_pingpong -g GID -n 50 -s 10000 -c
}

impaired "loss 0.5 %" loss 0.5%
impaired "5 % duplicates" duplicate 5%
impaired "reordering" delay 500us reorder 75% 50%
# Loss must not cause these errors.
for counter in rx_icrc_encapsulated req_remote_access_errors resp_remote_access_errors drop_length drop_pad; do
	expect_counter $sroce_end $counter -eq 0
done
