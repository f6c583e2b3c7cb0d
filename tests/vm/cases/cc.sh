# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# The module's netlink family through the tool: parameters set and read back, and what a queue pair is doing.
# guests: one
# links: sroce
# seconds: 120
# full: vm-newest-native vm-debug vm-6.12 vm-6.1
set -euo pipefail
. /share/vm/lib.sh
topology

sroce=$programs/sroce
export sroce

# A connected QP that has had answers, and no other.
qp_has_rtt() { "$sroce" qp "$A_DEV" | grep -A1 '^RTS *RC ' | grep -E 'cc:dcqcn/.* rtt:[0-9.]+/[0-9.]+ minrtt:'; }
export -f as_nobody qp_has_rtt
export A_DEV B_DEV

# --- parameters ------------------------------------------------------------------------------------------

says "the algorithm and its names" 0 "^cc +dcqcn +dcqcn +none\|dcqcn\|delay" on_a "$sroce" show "$A_DEV"
says "the speed of the interface" 0 "line rate 10Gbps" on_a "$sroce" show "$A_DEV"
says "parameters as JSON" 0 '"rp_time_reset"' on_a "$sroce" show "$A_DEV" -j
says "set several" 0 "cc delay, rp_ai_rate 5, ecn 0" on_a "$sroce" set "$A_DEV" cc delay rp_ai_rate 5 ecn 0
says "read back the algorithm" 0 "^cc +delay +dcqcn" on_a "$sroce" show "$A_DEV"
says "read back a number" 0 "^rp_ai_rate +5 +0 +0\.\.800000 +Mb/s" on_a "$sroce" show "$A_DEV"
says "read back a switch" 0 "^ecn +0 +1 +0\.\.1" on_a "$sroce" show "$A_DEV"
says "the other device is left alone" 0 "^cc +dcqcn" on_b "$sroce" show "$B_DEV"
says "any namespace sees a shared device" 0 "^cc +dcqcn" on_a "$sroce" show "$B_DEV"
says "out of range, and which" 13 "rp_gd: 12 is not in|out of range.*rp_gd" on_a "$sroce" set "$A_DEV" ecn 1 rp_gd 12
says "of which nothing was set" 0 "^ecn +0" on_a "$sroce" show "$A_DEV"
says "no such parameter, and which" 13 "rp_xyz: no such parameter|no such parameter.*rp_xyz" on_a "$sroce" set "$A_DEV" ecn 1 rp_xyz 1
says "no such algorithm, and which" 13 "cubic" on_a "$sroce" set "$A_DEV" cc cubic
says "a text where a number belongs" 13 "rp_gd" on_a "$sroce" set "$A_DEV" rp_gd many
says "a value is missing" 2 "'ecn' has no value" on_a "$sroce" set "$A_DEV" cc none ecn
says "no permission to set" 4 "permission" on_a as_nobody "$sroce" set "$A_DEV" ecn 1
says "nobody may read" 0 "^ecn +0" on_a as_nobody "$sroce" show "$A_DEV"
says "no such device" 6 "sroce_x" on_a "$sroce" show sroce_x
check "back to the defaults" on_a "$sroce" set "$A_DEV" cc dcqcn rp_ai_rate 0 ecn 1

# --- queue pairs -----------------------------------------------------------------------------------------

on_b ibv_rc_pingpong -d "$B_DEV" -g "$B_GID" -n 2000000 >/dev/null 2>&1 &
server=$!
on_b wait_until 10 listens ibv_rc_pingpong
on_a ibv_rc_pingpong -d "$A_DEV" -g "$A_GID" -n 2000000 "$B_IP" >/dev/null 2>&1 &
client=$!
check "a connected QP, with its round-trip time" on_a wait_until 10 qp_has_rtt
says "its peer" 0 "^RTS +RC +$A_DEV +$A_IP:[0-9]+ +$B_IP:[0-9]+" on_a "$sroce" qp
says "selective repeat was agreed on" 0 "selective:on" on_a "$sroce" qp "$A_DEV"
says "as JSON" 0 '"srtt_ns": [1-9]' on_a "$sroce" qp -j
says "the QP of the kernel is there, too" 0 "^RTS +GSI +$A_DEV +\*:1 " on_a "$sroce" qp "$A_DEV"
says "only those of the device" 0 "^RTS +GSI +$B_DEV" on_b "$sroce" qp "$B_DEV"
says "no QPs of no device" 6 "sroce_x" on_a "$sroce" qp sroce_x
on_a pkill ibv_rc_pingpong
on_b pkill ibv_rc_pingpong || true
wait $client $server || true

# --- more of them than fit into a message ----------------------------------------------------------------

many=300
# A line begins with state, type, device and the own address and number; its peer's come behind them.
list_qpns() { "$sroce" qp "$A_DEV" | grep -oE "^[A-Z]+ +(RC|GSI) +$A_DEV +[^ ]+" | sort -u; }
lists_all() { (($(list_qpns | wc -l) == many + 1)) && (($(list_qpns | grep -c '^RTS') == many + 1)); }
export -f list_qpns lists_all
export many
on_b ib_write_bw -d "$B_DEV" -x "$B_GID" -F -q $many -t 1 -s 64 -D 50 >/dev/null 2>&1 &
server=$!
on_b wait_until 20 listens ib_write_bw
on_a chrt -i 0 ib_write_bw -d "$A_DEV" -x "$A_GID" -F -q $many -t 1 -s 64 -D 50 "$B_IP" >/dev/null 2>&1 &
client=$!
check "$many QPs, each once, and that of the kernel" on_a wait_until 20 lists_all
on_a pkill ib_write_bw
on_b pkill ib_write_bw || true
wait $client $server || true
