# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# The module's netlink family, through the tool: parameters are set and read back, QPs are shown.
# guests: one
# links: sroce
# seconds: 120
# full: vm-newest-native vm-debug vm-6.12 vm-6.1
set -euo pipefail
. /share/vm/lib.sh
topology

sroce=$programs/sroce
export sroce

# Whether there is a connected QP with a measured round-trip time.
qp_has_rtt() { "$sroce" qp "$A_DEV" | grep -A1 '^RTS *RC ' | grep -E 'cc:dcqcn/.* rtt:[0-9.]+/[0-9.]+ minrtt:'; }
export -f as_nobody qp_has_rtt
export A_DEV B_DEV

# --- parameters -----------------------------------------------------------------------------------

says "show: the algorithm, and all that there are" 0 "^cc +dcqcn +dcqcn +none\|dcqcn\|delay" on_a "$sroce" show "$A_DEV"
says "show: the speed of the interface" 0 "line rate 10Gbps" on_a "$sroce" show "$A_DEV"
says "show: parameters as JSON" 0 '"rp_time_reset"' on_a "$sroce" show "$A_DEV" -j
says "set: several parameters at once" 0 "cc delay, rp_ai_rate 5, ecn 0" on_a "$sroce" set "$A_DEV" cc delay rp_ai_rate 5 ecn 0
says "set: the algorithm has changed" 0 "^cc +delay +dcqcn" on_a "$sroce" show "$A_DEV"
says "set: a number has changed" 0 "^rp_ai_rate +5 +0 +0\.\.800000 +Mb/s" on_a "$sroce" show "$A_DEV"
says "set: a switch has changed" 0 "^ecn +0 +1 +0\.\.1" on_a "$sroce" show "$A_DEV"
says "set: the other device is unchanged" 0 "^cc +dcqcn" on_b "$sroce" show "$B_DEV"
says "show: a shared device is visible in every namespace" 0 "^cc +dcqcn" on_a "$sroce" show "$B_DEV"
says "set: a value out of range is rejected by name" 13 "rp_gd: 12 is not in|out of range.*rp_gd" on_a "$sroce" set "$A_DEV" ecn 1 rp_gd 12
says "set: a rejected request changes no other parameter" 0 "^ecn +0" on_a "$sroce" show "$A_DEV"
says "set: an unknown parameter is rejected by name" 13 "rp_xyz: no such parameter|no such parameter.*rp_xyz" on_a "$sroce" set "$A_DEV" ecn 1 rp_xyz 1
says "set: an unknown algorithm is rejected by name" 13 "cubic" on_a "$sroce" set "$A_DEV" cc cubic
says "set: a text instead of a number is rejected" 13 "rp_gd" on_a "$sroce" set "$A_DEV" rp_gd many
says "set: a missing value is an error" 2 "'ecn' has no value" on_a "$sroce" set "$A_DEV" cc none ecn
says "set: needs permission" 4 "permission" on_a as_nobody "$sroce" set "$A_DEV" ecn 1
says "show: needs no permission" 0 "^ecn +0" on_a as_nobody "$sroce" show "$A_DEV"
says "show: an unknown device is an error" 6 "sroce_x" on_a "$sroce" show sroce_x
check "set: back to the defaults" on_a "$sroce" set "$A_DEV" cc dcqcn rp_ai_rate 0 ecn 1

# --- queue pairs ----------------------------------------------------------------------------------

on_b ibv_rc_pingpong -d "$B_DEV" -g "$B_GID" -n 2000000 >/dev/null 2>&1 &
server=$!
on_b wait_until 10 listens ibv_rc_pingpong
on_a ibv_rc_pingpong -d "$A_DEV" -g "$A_GID" -n 2000000 "$B_IP" >/dev/null 2>&1 &
client=$!
check "qp: a connected QP has a round-trip time" on_a wait_until 10 qp_has_rtt
says "qp: the peer of a connected QP" 0 "^RTS +RC +$A_DEV +$A_IP:[0-9]+ +$B_IP:[0-9]+" on_a "$sroce" qp
says "qp: selective repeat was negotiated" 0 "selective:on" on_a "$sroce" qp "$A_DEV"
says "qp: QPs as JSON" 0 '"srtt_ns": [1-9]' on_a "$sroce" qp -j
says "qp: the kernel's GSI QP" 0 "^RTS +GSI +$A_DEV +\*:1 " on_a "$sroce" qp "$A_DEV"
says "qp: only QPs of the given device" 0 "^RTS +GSI +$B_DEV" on_b "$sroce" qp "$B_DEV"
says "qp: needs permission" 4 "no permission" on_a as_nobody "$sroce" qp "$A_DEV"
says "qp: an unknown device is an error" 6 "sroce_x" on_a "$sroce" qp sroce_x
on_a pkill ibv_rc_pingpong
on_b pkill ibv_rc_pingpong || true
wait $client $server || true

# --- more QPs than fit into one netlink message ---------------------------------------------------

many=300
# A line has state, type, device, local address and QPN, then the address and QPN of the peer.
list_qpns() { "$sroce" qp "$A_DEV" | grep -oE "^[A-Z]+ +(RC|GSI) +$A_DEV +[^ ]+" | sort -u; }
lists_all() { (($(list_qpns | wc -l) == many + 1)) && (($(list_qpns | grep -c '^RTS') == many + 1)); }
export -f list_qpns lists_all
export many
on_b ib_write_bw -d "$B_DEV" -x "$B_GID" -F -q $many -t 1 -s 64 -D 50 >/dev/null 2>&1 &
server=$!
on_b wait_until 20 listens ib_write_bw
on_a chrt -i 0 ib_write_bw -d "$A_DEV" -x "$A_GID" -F -q $many -t 1 -s 64 -D 50 "$B_IP" >/dev/null 2>&1 &
client=$!
check "qp: $many QPs, each once, and the kernel's" on_a wait_until 20 lists_all
on_a pkill ib_write_bw
on_b pkill ib_write_bw || true
wait $client $server || true
