# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# `rdma system set netns exclusive`: a device is visible only in its interface's namespace, and
# works there. This needs a guest of its own, because the mode cannot be set while another namespace
# exists.
# guests: one
# links: sroce
# seconds: 60
# stages: vm-newest-netns
# full: vm-6.12-netns
set -euo pipefail
. /share/vm/lib.sh

finish()
{
	leave_topology
	rdma system set netns shared
}

has_device() { rdma dev show "$1" >/dev/null 2>&1; }
has_no_device() { ! has_device "$1"; }
no_device_left() { ! ls -d /sys/class/infiniband/sroce_b >/dev/null 2>&1 && [[ ! $(rdma_devices) ]]; }
export -f has_device has_no_device

echo "# $CASE on $KERNEL: namespace a: sroce_a on eth_a ---veth--- eth_b on sroce_b: namespace b; exclusive"
load_module sroce
wait_until 10 rdma system set netns exclusive   # EBUSY until the last case's namespaces are gone
trap finish EXIT
make_veth
on_a address_add eth_a "$A_IP" "$A_IP6"
on_b address_add eth_b "$B_IP" "$B_IP6"
check "a link is added in namespace a" on_a link_add sroce_a sroce eth_a
check "a link is added in namespace b" on_b link_add sroce_b sroce eth_b
check "namespace a sees its device" on_a has_device sroce_a
check "namespace b sees its device" on_b has_device sroce_b
check "namespace a does not see b's device" on_a has_no_device sroce_b
check "the initial namespace does not see a's device" has_no_device sroce_a
A_GID=$(on_a wait_for_gid sroce_a "$A_IP")
# shellcheck disable=SC2034
B_GID=$(on_b wait_for_gid sroce_b "$B_IP")
tool "traffic flows" ibv_rc_pingpong -g GID -n 50 -s 10000 -c
check "counters are visible in the device's namespace" test "$(on_a counter sroce_a rcvd_pkts)" -gt 0

# A device that is moved is closed to the processes of the old namespace.
traffic_flows() { (($(on_a counter sroce_a rcvd_pkts) > $1 + 1000)); }
has_no_qp() { local qps && qps=$(rdma resource show qp link "$1") && ! grep "type RC" <<<"$qps"; }
export -f has_no_qp
ends() { ! kill -0 "$1"; } 2>/dev/null
on_a ib_write_bw -d sroce_a -x "$A_GID" -F -s 65536 -D 60 >/dev/null 2>&1 &
server=$!
wait_until 10 on_a listens ib_write_bw
packets=$(on_a counter sroce_a rcvd_pkts)
on_b ib_write_bw -d sroce_b -x "$B_GID" -F -s 65536 -D 60 "$A_IP" >/dev/null 2>&1 &
client=$!
check "there is traffic" wait_until 15 traffic_flows "$packets"
check "a device moves under traffic" on_a rdma dev set sroce_a netns b
check "namespace a does not see it any more" on_a has_no_device sroce_a
check "namespace b does" on_b has_device sroce_a
check "the QP of a's process has gone with it" on_b has_no_qp sroce_a
check "its peer fails" wait_until 30 ends $client
on_a pkill ib_write_bw || true
check "a's process ends" wait_until 10 ends $server
wait $server $client || true
check "it moves back" on_b rdma dev set sroce_a netns a
check "namespace a sees it again" on_a has_device sroce_a
A_GID=$(on_a wait_for_gid sroce_a "$A_IP")
tool "traffic flows again" ibv_rc_pingpong -g GID -n 50 -s 10000 -c

on_a rdma link delete sroce_a
check "a device can be deleted in its namespace" on_a has_no_device sroce_a
ip netns delete b
check "a device is removed with its namespace" wait_until 10 no_device_left

# If its interface changes namespace while a device is being moved, the device is removed.
gone_everywhere() { ! ip netns exec a rdma dev show sroce_m && ! rdma dev show sroce_m; } >/dev/null 2>&1
left=0
for ((i = 0; i < 10; i++)); do
	ip link add eth_m type veth peer name eth_n
	ip link set eth_m up
	rdma link add sroce_m type sroce netdev eth_m
	rdma dev set sroce_m netns a &
	sleep "0.00$((i % 10))"
	ip link set eth_m netns a
	wait $! || true
	wait_until 2 gone_everywhere || left=$((left + 1))
	ip -n a link delete eth_m
	wait_until 10 gone_everywhere
done
check "a device is removed if its interface moves at the same time" test $left -eq 0
