# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# A device follows its interface: link state, MTU, addresses, name, namespace, and deletion under
# traffic.
# guests: one
# links: sroce
# seconds: 90
# stages: vm-newest
# full: vm-newest-native vm-debug vm-6.1 vm-6.12
set -euo pipefail
. /share/vm/lib.sh
topology

infiniband=/sys/class/infiniband
device_is_gone() { [[ ! -e $infiniband/$1 ]]; }
port_is() { grep -q "$2" "$infiniband/$1/ports/1/state"; } # DEVICE STATE
active_mtu() { ibv_devinfo -d "$1" | sed -n 's/.*active_mtu:[[:space:]]*\([0-9]*\) .*/\1/p'; }
mtu_is() { ip link set "$2" mtu "$3" && [[ $(active_mtu "$1") == "$4" ]]; } # DEVICE INTERFACE MTU ACTIVE
netdev_is() { rdma link show "$1/1" | grep -q " netdev $2"; }
has_gid() { gid_index "$@" >/dev/null; }
no_gid() { ! gid_index "$@" >/dev/null; }
traffic_flows() { (($(counter sroce_a rcvd_pkts) > 100)); }
processes_end() { ! kill -0 "$server" 2>/dev/null && ! kill -0 "$client" 2>/dev/null; }
export -f active_mtu mtu_is netdev_is has_gid no_gid

# --- link -----------------------------------------------------------------------------------------

check "with carrier, the port is active" port_is sroce_a ACTIVE
on_b ip link set eth_b down
check "without carrier, the port is down" wait_until 5 port_is sroce_a DOWN
on_b ip link set eth_b up
check "with carrier again, the port is active" wait_until 5 port_is sroce_a ACTIVE
on_a ip link set eth_a down
check "with the interface down, the port is down" wait_until 5 port_is sroce_a DOWN
on_a address_add eth_a "$A_IP" "$A_IP6"
check "with the interface up, the port is active" wait_until 5 port_is sroce_a ACTIVE
check "link_downed counts both" test "$(counter sroce_a link_downed)" -ge 2

# --- MTU: the largest path MTU that fits, after 84 bytes of headers -------------------------------

for mtu in 1500:1024 4184:4096 4183:2048 9000:4096 1280:1024 600:512; do
	check "MTU ${mtu%:*}: path MTU ${mtu#*:}" on_a mtu_is sroce_a eth_a "${mtu%:*}" "${mtu#*:}"
done
on_a ip link set eth_a mtu 1500
on_a address_add eth_a "$A_IP" "$A_IP6"

# --- addresses ------------------------------------------------------------------------------------

on_a ip address add 10.9.9.9/24 dev eth_a
check "adding an address adds a GID" on_a wait_until 5 has_gid sroce_a 10.9.9.9
on_a ip address del 10.9.9.9/24 dev eth_a
check "deleting an address deletes the GID" on_a wait_until 5 no_gid sroce_a 10.9.9.9
on_a ip link set eth_a address 02:00:00:12:34:56
check "a new MAC address changes the node GUID" test "$(<$infiniband/sroce_a/node_guid)" = 0000:00ff:fe12:3456
check "... and the system image GUID" test "$(<$infiniband/sroce_a/sys_image_guid)" = 0000:00ff:fe12:3456

# A host sends nothing from an address that it has lost, even if it has another. A connection survives
# until it is back, four seconds later.
sent() { counter sroce_a sent_pkts; }
received() { nstat -asz "$1" | awk -v name="$1" '$1 == name { print $2 }'; } # COUNTER of the stack
receives() { (($(received "$1") > $2 + 100)); }
lost_route() { (($(counter sroce_a drop_no_route) > 0)); }
export -f received receives
streams=()
stream() # PORT GID_OF_A GID_OF_B: start WRITEs from A to B
{
	local work=(-F -s 65536 -u 18 -n 100000 -p "$1")
	on_b ib_write_bw -d sroce_b -x "$3" "${work[@]}" >/tmp/server 2>&1 &
	streams+=($!)
	on_b wait_until 10 port_listens "$1"
	on_a ib_write_bw -d sroce_a -x "$2" "${work[@]}" "$B_IP" >/tmp/client 2>&1 &
	streams+=($!)
}
traffic_arrives() # NAME
{
	local name
	for name in IpInReceives Ip6InReceives; do
		check "$1, $name" on_b wait_until 15 receives "$name" "$(on_b received $name)"
	done
}
# The second addresses keep the routes to the peer. If one had the same prefix, it would go with the first.
on_a ip address add 10.0.0.9/25 dev eth_a
on_a ip address add fd00::9/64 dev eth_a nodad
A_GID=$(on_a wait_for_gid sroce_a "$A_IP")
A_GID6=$(on_a wait_for_gid sroce_a "$A_IP6")
# B has lost its IPv6 address with its link.
on_b address_add eth_b "$B_IP" "$B_IP6"
B_GID6=$(on_b wait_for_gid sroce_b "$B_IP6")
B_GID=$(on_b wait_for_gid sroce_b "$B_IP")
stream 18600 "$A_GID" "$B_GID"
stream 18601 "$A_GID6" "$B_GID6"
traffic_arrives "there is traffic"
on_a ip address del "$A_IP/24" dev eth_a
on_a ip address del "$A_IP6/64" dev eth_a
check "without its address, a QP has no route" wait_until 5 lost_route
sleep 0.2
before=$(sent)
sleep 4
check "without its address, a QP sends nothing" test "$(sent)" -eq "$before"
on_a address_add eth_a "$A_IP" "$A_IP6"
traffic_arrives "with its address again, a QP sends"
on_a pkill ib_write_bw || true
on_b pkill ib_write_bw || true
wait "${streams[@]}" || true
on_a ip address del 10.0.0.9/25 dev eth_a
on_a ip address del fd00::9/64 dev eth_a

# --- name -----------------------------------------------------------------------------------------

on_a ip link set eth_a down
on_a ip link set eth_a name wire
on_a address_add wire "$A_IP" "$A_IP6"
check "rdma link shows the new name of an interface" on_a netdev_is sroce_a wire
check "sysfs shows the new name of an interface" test "$(<$infiniband/sroce_a/parent)" = wire
check "a device is renamed" on_a rdma dev set sroce_a name sroce_z
check "a renamed device keeps its interface" on_a netdev_is sroce_z wire
on_a rdma dev set sroce_z name sroce_a
on_a ip link set wire down
on_a ip link set wire name eth_a
on_a address_add eth_a "$A_IP" "$A_IP6"
A_GID=$(on_a wait_for_gid "$A_DEV" "$A_IP")
tool "traffic flows after all that" ibv_rc_pingpong -g GID -n 50 -s 10000 -c

# --- namespace ------------------------------------------------------------------------------------

ip netns add elsewhere
check_fails "in shared mode a device belongs to no namespace" "." on_a rdma dev set sroce_a netns elsewhere
tool "it works as before" ibv_rc_pingpong -g GID -n 50 -s 10000 -c
on_a ip link set eth_a netns elsewhere
check "an interface that moves to another namespace loses its device" wait_until 10 device_is_gone sroce_a
check "it gets a new device there" ip netns exec elsewhere rdma link add sroce_a type sroce netdev eth_a
ip netns exec elsewhere rdma link delete sroce_a
ip -n elsewhere link set eth_a netns a
on_a address_add eth_a "$A_IP" "$A_IP6"
on_a link_add sroce_a sroce eth_a
A_GID=$(on_a wait_for_gid "$A_DEV" "$A_IP")

# If it moves while a device is being attached, that fails, or the device is removed again.
move_to_and_fro() # ROUNDS: between the namespaces a and elsewhere; it ends in a
{
	local i
	for ((i = 0; i < $1; i++)); do
		ip -n a link set eth_m netns elsewhere && ip -n elsewhere link set eth_m netns a || return
	done
}
attach_all_the_time()
{
	local here
	while kill -0 "$mover" 2>/dev/null; do
		for here in a elsewhere; do
			ip netns exec $here rdma link add sroce_m type sroce netdev eth_m || true
		done
	done >/dev/null 2>&1
}
ip -n a link add eth_m type veth peer name eth_n
move_to_and_fro 100 &
mover=$! moved=0
attach_all_the_time
wait $mover || moved=$?
check "an interface moves between namespaces while devices are attached to it" test $moved -eq 0
ip -n a link delete eth_m
check "no such device is left" wait_until 10 device_is_gone sroce_m

# --- deletion under traffic -----------------------------------------------------------------------

on_a ib_write_bw -d sroce_a -x "$A_GID" -F -s 65536 -D 60 >/tmp/server 2>&1 &
server=$!
wait_until 10 on_a listens ib_write_bw
on_b ib_write_bw -d sroce_b -x "$B_GID" -F -s 65536 -D 60 "$A_IP" >/tmp/client 2>&1 &
client=$!
check "there is traffic" wait_until 15 traffic_flows
check "an interface is deleted under traffic without delay" timeout $((10 * TIME_FACTOR)) ip -n a link delete eth_a
check "its device is gone" wait_until 5 device_is_gone sroce_a
check "the device of the other end is gone" wait_until 5 device_is_gone sroce_b
on_a pkill ib_write_bw || true
on_b pkill ib_write_bw || true
check "the processes end" wait_until 10 processes_end
wait $server $client || true
check "the kernel waits for no reference" test -z "$(dmesg | grep 'waiting for')"
