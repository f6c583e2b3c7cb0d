# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Switches that mark packets instead of dropping them. Packets are ECN capable, the receiver of a
# mark sends a CNP, and a CNP slows the sender down. The same holds for datagrams.
# guests: any
# links: sroce
# seconds: 90
# full: vm-newest-native vm-debug vm-6.12 vm-6.1
set -euo pipefail
. /share/vm/lib.sh
topology

rose() # a|b COUNTER BEFORE
{
	local after
	after=$(counter_at "$1" "$2")
	check "$1: $2 rose from $3 to $after" test "$after" -gt "$3"
}

tool "no marks: ib_write_bw" ib_write_bw -x GID -F -s 65536 -n 64
expect_counter a np_ecn_marked_roce_packets -eq 0
expect_counter b rp_cnp_handled -eq 0

# With "ecn", netem marks ECN capable packets instead of dropping them.
netem loss 2% ecn
tool "2 % marked: ib_write_bw" ib_write_bw -x GID -F -s 65536 -n 256
rose a np_ecn_marked_roce_packets 0
rose a np_cnp_sent 0
rose b rp_cnp_handled 0
sent=$(counter_at b np_cnp_sent) handled=$(counter_at a rp_cnp_handled)
tool "2 % of the responses marked: ib_read_bw" ib_read_bw -x GID -F -s 65536 -n 256
rose b np_cnp_sent "$sent"
rose a rp_cnp_handled "$handled"

# --- datagrams ------------------------------------------------------------------------------------

# CNPs for datagrams are addressed to the QP that sent them. Both ends get some, because the server
# sends datagrams back.
netem loss 10% ecn
sent=$(counter_at a np_cnp_sent) handled=$(counter_at b rp_cnp_handled)
tool "10 % of the datagrams marked: ib_send_lat over UD" ib_send_lat -c UD -x GID -F -s 1024 -n 200 -I 0 -e
rose a np_cnp_sent "$sent"
rose b rp_cnp_handled "$handled"
sent=$(counter_at a np_cnp_sent) handled=$(counter_at b rp_cnp_handled)
pair "10 % of the datagrams marked: ibv_ud_pingpong over IPv6" ibv_ud_pingpong -d "$A_DEV" -g "$A_GID6" -n 200 -e -- \
	ibv_ud_pingpong -d "$B_DEV" -g "$B_GID6" -n 200 -e "$A_IP"
rose a np_cnp_sent "$sent"
rose b rp_cnp_handled "$handled"

# The first CNP sets a rate, and these parameters keep dcqcn from raising it. UD QPs use dcqcn even
# if "delay" is configured, because that needs ACKs.
sroce=$programs/sroce
ud_is_slow() { "$sroce" qp "$B_DEV" | grep -A1 '^RTS *UD ' | grep -E 'cc:dcqcn/fast recovery rate:[12][0-9.]*Mbps target:'; }
export -f ud_is_slow
export sroce B_DEV
for algorithm in dcqcn delay; do
	check "$algorithm: the parameters are set" on_b "$sroce" set "$B_DEV" cc $algorithm rp_rate_to_set_on_first_cnp 20 rp_time_reset 131071
	on_a ibv_ud_pingpong -d "$A_DEV" -g "$A_GID" -n 1000000 -e >/dev/null 2>&1 &
	server=$!
	on_a wait_until 10 listens ibv_ud_pingpong
	on_b ibv_ud_pingpong -d "$B_DEV" -g "$B_GID" -n 1000000 -e "$A_IP" >/dev/null 2>&1 &
	client=$!
	check "$algorithm: CNPs slow a UD QP down" on_b wait_until 10 ud_is_slow
	on_b pkill ibv_ud_pingpong
	on_a pkill ibv_ud_pingpong || true
	wait $client $server || true
done
check "the parameters are back to their defaults" on_b "$sroce" set "$B_DEV" cc dcqcn rp_rate_to_set_on_first_cnp 0 rp_time_reset 150
netem
tool "no marks again: ib_write_bw" ib_write_bw -x GID -F -s 65536 -n 64
