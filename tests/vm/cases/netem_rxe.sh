# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# A standard peer, in-tree rxe, on a path that loses, duplicates and reorders. rxe sometimes gives
# up, so two tools of nine may fail. Data that arrives must be right, nothing may stall, and traffic
# must flow afterwards.
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

# exchange TOOL OPTION...: the same tool at both ends. One that a time limit ended has stalled.
exchange()
{
	local program=$1
	shift
	if talk "$program" -d "$A_DEV" "${@/#GID/$A_GID}" -- "$program" -d "$B_DEV" "${@/#GID/$B_GID}" "$A_IP"; then
		done=$((done + 1))
	elif ((pair_status == 124 || pair_server_status == 124)); then
		stalled+=" $program"
	else
		echo "# ${pair_report//$'\n'/$'\n# '}"
	fi
	! grep -q 'invalid data' <<<"$pair_report" || wrong=$((wrong + 1))
}

# ibv_rc_pingpong -c compares the data. READs, because the requester reorders their responses.
impaired() # NAME NETEM_OPTION...
{
	local name=$1 wrong=0 done=0 stalled='' _
	shift
	netem "$@"
	for _ in 1 2 3; do
		exchange ibv_rc_pingpong -g GID -s 10000 -n 100 -c
		exchange ib_write_bw -x GID -F -s 65536 -n 64
		exchange ib_read_bw -x GID -F -s 65536 -n 64
	done
	netem
	echo "# $name: $(counter_at $sroce_end implied_nak_seq_err) READs requested again so far"
	check "$name: no byte is wrong" test "$wrong" -eq 0
	check "$name: nothing stalls${stalled:+, but$stalled did}" test ! "$stalled"
	check "$name: $done of 9 succeed" test "$done" -ge 7
	tool "$name: traffic flows on a clean path afterwards" ibv_rc_pingpong -g GID -n 50 -s 10000 -c
}

impaired "loss 0.5 %" loss 0.5%
impaired "5 % duplicates" duplicate 5%
impaired "reordering" delay 500us reorder 75% 50%
# Loss must not cause these errors.
for counter in rx_icrc_encapsulated req_remote_access_errors resp_remote_access_errors drop_length drop_pad; do
	expect_counter $sroce_end $counter -eq 0
done
