# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# The port and its counters as hardware has them: infiniband-diags, sysfs, and MADs of performance management.
# guests: one
# links: sroce
# seconds: 60
# full: vm-debug vm-6.12 vm-6.1
set -euo pipefail
. /share/vm/lib.sh
topology

says "ibstat" 0 "State: Active" on_a ibstat "$A_DEV"
says "ibv_devices" 0 "^ +$A_DEV\s+[0-9a-f]{16}$" on_a ibv_devices
says "ibstatus" 0 "phys state:.*LinkUp" on_a ibstatus "$A_DEV"

port_counter() { cat "/sys/class/infiniband/$A_DEV/ports/1/counters/$1"; }
exceeds() { (($(port_counter "$1") > $2)); }

sent=$(port_counter port_xmit_data) received=$(port_counter port_rcv_packets)
tool "traffic" ib_write_bw -x GID -F -s 65536 -n 100 -b
# 4 byte words
check "port_xmit_data has counted it" exceeds port_xmit_data $((sent + 100 * 65536 / 4))
check "port_rcv_data has counted it" exceeds port_rcv_data $((100 * 65536 / 4))
check "port_rcv_packets has counted it" exceeds port_rcv_packets $((received + 100))
check "port_xmit_packets has counted it" exceeds port_xmit_packets 100
check "nothing was wrong" test "$(port_counter port_rcv_errors)$(port_counter port_xmit_discards)" = 00

# ib_mad does not recognise responses over IPv4.
before=$(counter "$B_DEV" drop_length)
tap "pma" on_a "$programs"/pma_verify --dev "$A_DEV" --gid "$A_GID6" --peer-dev "$B_DEV" --peer-gid "$B_GID6"
drops() { (($(counter "$B_DEV" drop_length) == before + 6)); }
check "MADs of wrong lengths are dropped and counted" wait_until 5 drops

# perfquery registers for subnet management packets first. ib_core refuses that for RoCE.
check_fails "perfquery cannot open the port" "client_register for mgmt 1 failed" on_a perfquery -C "$A_DEV" -P 1

# Packets that are too long for the interface; they belong to a QP with a counter of its own.
port=$A_DEV/1
has_bound_qp() { rdma statistic qp show link "$port" | grep "cntn [0-9]"; }
rdma statistic qp set link "$port" auto type on
on_b ibv_rc_pingpong -d "$B_DEV" -g "$B_GID" -s 100000 -n 10000000 >/dev/null 2>&1 &
server=$!
on_b wait_until 10 listens ibv_rc_pingpong
on_a ibv_rc_pingpong -d "$A_DEV" -g "$A_GID" -s 100000 -n 10000000 "$B_IP" >/dev/null 2>&1 &
client=$!
check "a QP has a counter" wait_until 10 has_bound_qp
discards=$(port_counter port_xmit_discards)
on_a ip link set "$A_IF" mtu 1000
check "port_xmit_discards counts for QPs with a counter" wait_until 10 exceeds port_xmit_discards "$discards"
on_a pkill ibv_rc_pingpong || true
on_b pkill ibv_rc_pingpong || true
wait $client $server || true

# ibv_asyncwatch waits for events of the first device of the list.
first=$(ibv_devices | awk 'NR == 3 { print $1 }')
on_a stdbuf -oL ibv_asyncwatch >/tmp/events 2>&1 &
watcher=$!
check "ibv_asyncwatch starts" wait_until 10 grep -q "^$first: async event FD" /tmp/events
downs=$(port_counter link_downed)
on_a ip link set "$A_IF" down
check "link_downed has counted" wait_until 5 exceeds link_downed "$downs"
check "ibv_asyncwatch reports it" wait_until 5 grep -q "event_type .*(10)" /tmp/events
on_a pkill -x ibv_asyncwatch
status=0
wait $watcher || status=$?
check "a signal ends ibv_asyncwatch" test $status == 143
sed 's/^/# /' /tmp/events
