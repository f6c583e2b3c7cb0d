# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# A standard peer, in-tree rxe, on a path that loses, duplicates and reorders. rxe sometimes gives
# up, never sends again because its ACK timer does not run, or repeats for ever to a QP that is
# gone, so two tools of nine may fail. Data that arrives must be right, sroce must not stall, and
# traffic must flow afterwards.
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

# Wait without a process that would outlive the one that is killed.
pause() { read -rt "$1" <>/run/silence || true; } # SECONDS

# Shortly before the time limit, say what sroce still has to do: packets in flight, or packets that the
# peer repeats to a QP. If it is nothing, rxe has stalled.
unfinished()
{
	local received qps in_flight
	pause $(((LIMIT - 5) * TIME_FACTOR))
	received=$(counter_at $sroce_end rcvd_pkts)
	pause 2
	received=$(($(counter_at $sroce_end rcvd_pkts) - received))
	qps=$("on_$sroce_end" "$programs/sroce" qp)
	in_flight=$(grep -o 'inflight:[1-9][0-9]*' <<<"$qps") || in_flight=nothing
	! grep -qw RC <<<"$qps" || ((received == 0)) || in_flight+=", $received packets received"
	echo "$in_flight"
}

# exchange TOOL OPTION...: the same tool at both ends
exchange()
{
	local program=$1 watcher
	shift
	unfinished >/tmp/unfinished 2>&1 &
	watcher=$!
	if talk "$program" -d "$A_DEV" "${@/#GID/$A_GID}" -- "$program" -d "$B_DEV" "${@/#GID/$B_GID}" "$A_IP"; then
		done=$((done + 1))
	elif ((pair_status == 124 || pair_server_status == 124)) && [[ $(</tmp/unfinished) != nothing ]]; then
		stalled+=" $program ($(tr '\n' ' ' </tmp/unfinished))"
	else
		echo "# ${pair_report//$'\n'/$'\n# '}"
	fi
	kill $watcher 2>/dev/null || true
	wait $watcher || true
	! finds_wrong_data "$pair_report" || wrong=$((wrong + 1))
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
	check "$name: sroce does not stall${stalled:+, but does in$stalled}" test ! "$stalled"
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
