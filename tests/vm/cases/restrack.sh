# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# `rdma resource show`: whose each object is, and the details of the driver, also while objects go.
# guests: one
# links: sroce
# seconds: 90
# stages: vm-newest vm-newest-native
# full: vm-debug vm-debug-native vm-6.12 vm-6.1
set -euo pipefail
. /share/vm/lib.sh
topology

sroce=$programs/sroce
show() { rdma resource show "$1" "$(filter_for "$1")" "$A_DEV" -dd; } # TYPE
filter_for() { [[ $1 == qp ]] && echo link || echo dev; }
# shows TYPE PATTERN: a line of this type has all words of the pattern, in their order
shows() { show "$1" | grep -E -- "${2// /.* }"; }
export sroce
export -f filter_for show shows

# --- a QP under traffic, and what belongs to it -----------------------------------------------------

on_b ibv_rc_pingpong -d "$B_DEV" -g "$B_GID" -n 10000000 >/dev/null 2>&1 &
server=$!
on_b wait_until 10 listens ibv_rc_pingpong
on_a ibv_rc_pingpong -d "$A_DEV" -g "$A_GID" -n 10000000 "$B_IP" >/dev/null 2>&1 &
client=$!
check "a QP tells its PSNs, window, round trip and queues" wait_until 10 shows qp \
	'type RC state RTS pid [0-9]+ comm ibv_rc_pingpong drv_sq_wqes [0-9]+ drv_unacked_psn [0-9]+ drv_sent_psn [0-9]+ drv_inflight [0-9]+ drv_window [1-9][0-9]* drv_srtt_ns [1-9][0-9]* drv_min_rtt_ns [1-9][0-9]* drv_retransmits 0 drv_timeouts 0 drv_probes [0-9]+ drv_rq_wqes [1-9][0-9]* drv_expected_psn [0-9]+ drv_reorder_packets 0'
check "the kernel's QP has details" shows qp 'lqpn 1 type GSI comm \[ib_core\] drv_rq_wqes [1-9]'
check "a CQ tells its entries" shows cq 'pid [0-9]+ comm ibv_rc_pingpong drv_unread [0-9]+ drv_overflowed 0 drv_event_count 0 drv_event_period_us 0'
check "a region tells its state" shows mr 'pid [0-9]+ comm ibv_rc_pingpong drv_valid 1 drv_windows 0'
check "a protection domain is listed" shows pd 'pid [0-9]+ comm ibv_rc_pingpong'
check "a context is listed" shows ctx 'pid [0-9]+ comm ibv_rc_pingpong'
# Everybody may read these: no address, neither of the peer nor of a process.
as_anybody() { as_nobody rdma resource show "$1" "$(filter_for "$1")" "$A_DEV" -dd; } # TYPE
names() { as_anybody "$1" | grep -o 'drv_[a-z_]*' | sort -u | sed s/drv_// | paste -s -d ' '; } # TYPE
has_no_address() { as_anybody qp | grep drv_window && ! as_anybody qp | grep -F "$B_IP"; }
check "details need no permission, and have no address of the peer" has_no_address
of_qp="expected_psn inflight min_rtt_ns probes reorder_packets retransmits rq_wqes sent_psn sq_wqes srtt_ns"
check "everybody sees of a QP" test "$(names qp)" = "$of_qp timeouts unacked_psn window"
check "everybody sees of a CQ" test "$(names cq)" = "event_count event_period_us overflowed unread"
check "everybody sees of a region" test "$(names mr)" = "valid windows"
psn() { show qp | sed -n 's/.*type RC.* drv_sent_psn \([0-9]*\).*/\1/p'; }
psn_moves() { [[ $(psn) != "$1" ]]; }
check "the PSN moves" wait_until 5 psn_moves "$(psn)"
says "sroce qp shows the receives of a QP" 0 'wqes:[0-9]+ .* rq_wqes:[1-9]' on_a "$sroce" qp "$A_DEV"
on_a pkill ibv_rc_pingpong
on_b pkill ibv_rc_pingpong || true
wait $client $server || true

# --- an SRQ, whose command iproute2 6.1 prints wrongly ----------------------------------------------

on_b ibv_srq_pingpong -d "$B_DEV" -g "$B_GID" -n 10000000 -q 4 >/dev/null 2>&1 &
server=$!
on_b wait_until 10 listens ibv_srq_pingpong
on_a ibv_srq_pingpong -d "$A_DEV" -g "$A_GID" -n 10000000 -q 4 "$B_IP" >/dev/null 2>&1 &
client=$!
check "an SRQ tells whose it is" wait_until 10 shows srq 'srqn [0-9]+ type BASIC lqpn [0-9]+ pid [1-9][0-9]* comm'
if [[ $KERNEL == 6.1 ]]; then
	skip "an SRQ tells its requests" "Linux 6.1 has no details of SRQs"
else
	check "an SRQ tells its requests" shows srq 'srqn [0-9]+ drv_wqes [1-9][0-9]* drv_max_wr [1-9][0-9]* drv_limit 0'
	check "everybody sees of an SRQ" test "$(names srq)" = "limit max_wr wqes"
fi
srqn=$(show srq | sed -n 's/.*srqn \([0-9]*\) .*/\1/p' | head -n 1)
users_of_srq() { "$sroce" qp "$A_DEV" | grep -c " srq:$1 "; }
has_users() { (($(users_of_srq "$1") == 4)); }
check "sroce qp names the SRQ of each QP" wait_until 10 has_users "$srqn"
on_a pkill ibv_srq_pingpon
on_b pkill ibv_srq_pingpon || true
wait $client $server || true

# --- objects that go while they are listed --------------------------------------------------------

list_all_the_time()
{
	local type
	while :; do
		for type in qp cq mr srq; do
			rdma resource show $type -dd >/dev/null || return
		done
		"$sroce" qp >/dev/null || return
	done
}
export -f list_all_the_time
chrt -i 0 bash -c list_all_the_time &
lister=$!
for ((i = 0; i < 3; i++)); do
	tool "QPs come and go while they are listed, $i" ibv_srq_pingpong -g GID -n 20 -s 1000 -r 100 -q 32
done
live_in_turn() # a QP is destroyed in SQD, with requests
{
	local i
	for ((i = 0; i < 20; i++)); do
		"$programs/object_life" --dev "$A_DEV" --gid "$A_GID" --peer-dev "$B_DEV" --peer-gid "$B_GID" >/tmp/life 2>&1 || { cat /tmp/life; return 1; }
	done
}
check "QPs go that have requests left" live_in_turn
check "listing has not failed" kill -0 $lister
kill $lister
wait $lister || true
