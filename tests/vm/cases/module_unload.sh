# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# The module is unloaded while idle, with devices, under traffic, and while links are being added.
# guests: one
# links: sroce
# seconds: 90
# stages: vm-newest vm-debug vm-6.1
# full: vm-6.12
set -euo pipefail
. /share/vm/lib.sh
topology

no_devices() { [[ ! $(rdma_devices) ]]; }
module_is_gone() { [[ ! -d /sys/module/sroce ]]; }
traffic_flows() { (($(counter "$A_DEV" rcvd_pkts) > 100)); }
processes_end() { ! kill -0 "$server" 2>/dev/null && ! kill -0 "$client" 2>/dev/null; }
load_and_unload() { for _ in {1..10}; do rmmod sroce && load_module sroce && on_a link_add sroce_a sroce eth_a || return; done; }
add_for_ever() { while [[ -e /tmp/go ]]; do rdma link add sroce_r type sroce netdev "$1"; rdma link delete sroce_r; done; }
race() { for _ in {1..20}; do rmmod sroce && insmod /share/module/sroce.ko || return; done; }
export -f add_for_ever
attach_both()
{
	on_a link_add "$A_DEV" sroce eth_a
	on_b link_add "$B_DEV" sroce eth_b
	A_GID=$(on_a wait_for_gid "$A_DEV" "$A_IP")
	B_GID=$(on_b wait_for_gid "$B_DEV" "$B_IP")
}

check "the module unloads with devices attached" rmmod sroce
check "the devices are gone" no_devices
check "the module loads again" load_module sroce
attach_both
tool "traffic flows" ibv_rc_pingpong -g GID -n 50 -s 10000 -c

# --- under traffic --------------------------------------------------------------------------------

on_a ib_write_bw -d "$A_DEV" -x "$A_GID" -F -s 65536 -D 60 >/tmp/server 2>&1 &
server=$!
wait_until 10 on_a listens ib_write_bw
on_b ib_write_bw -d "$B_DEV" -x "$B_GID" -F -s 65536 -D 60 "$A_IP" >/tmp/client 2>&1 &
client=$!
check "there is traffic" wait_until 15 traffic_flows
check "the module unloads under traffic" timeout $((20 * TIME_FACTOR)) rmmod sroce
check "the devices are gone under traffic" no_devices
check "the module loads again while the old processes live" load_module sroce
attach_both
on_a pkill ib_write_bw || true
on_b pkill ib_write_bw || true
check "the old processes can be ended" wait_until 10 processes_end
wait $server $client || true
tool "traffic flows again" ibv_rc_pingpong -g GID -n 50 -s 10000 -c

# --- while a qdisc keeps packets ------------------------------------------------------------------

packets_wait() { on_b tc -s qdisc show dev eth_b | grep 'backlog [1-9]'; }
unloading_says_why() { dmesg | grep 'sroce: unloading waits until'; }
on_a ib_write_bw -d "$A_DEV" -x "$A_GID" -F -s 65536 -D 60 >/tmp/server 2>&1 &
server=$!
wait_until 10 on_a listens ib_write_bw
on_b ib_write_bw -d "$B_DEV" -x "$B_GID" -F -s 65536 -D 60 "$A_IP" >/tmp/client 2>&1 &
client=$!
wait_until 15 traffic_flows
on_b tc qdisc replace dev eth_b root tbf rate 8kbit burst 128kb limit 10mb
check "the qdisc keeps packets" wait_until 15 packets_wait
rmmod sroce &
unloader=$!
check "unloading says that it waits for packets" wait_until 10 unloading_says_why
on_b tc qdisc delete dev eth_b root
check "it ends when they have been freed" wait_until 10 module_is_gone
wait $unloader
on_a pkill ib_write_bw || true
on_b pkill ib_write_bw || true
wait $server $client || true
load_module sroce
attach_both

# --- many times, and while links are being added --------------------------------------------------

check "the module is unloaded with a device and loaded ten times" load_and_unload

# Adding and deleting links fails while the module is not loaded. Only the kernel's health is
# tested.
touch /tmp/go
on_a add_for_ever eth_a >/dev/null 2>&1 &
adder=$!
check "the module is unloaded twenty times while links are added and deleted" race
rm /tmp/go
wait $adder || true
check "the module unloads at the end" rmmod sroce
check "the module is gone" module_is_gone
