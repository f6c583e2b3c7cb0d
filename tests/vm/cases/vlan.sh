# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# A device also has the addresses of interfaces stacked on its own as GIDs. VLANs work, also within
# one host. GIDs of another namespace are rejected. Packets leave through their GID's interface or
# not at all.
# guests: one
# links: sroce
# seconds: 60
# full: vm-newest-native vm-debug vm-6.12 vm-6.1
set -euo pipefail
. /share/vm/lib.sh
topology

# --- VLANs ----------------------------------------------------------------------------------------

on_a ip link add link eth_a name eth_a.5 type vlan id 5
on_b ip link add link eth_b name eth_b.5 type vlan id 5
on_a address_add eth_a.5 10.0.5.1 fd05::1
on_b address_add eth_b.5 10.0.5.2 fd05::2
for address in 10.0.5.1 fd05::1; do
	check "the VLAN's $address is a GID of the parent interface's device" on_a wait_for_gid sroce_a $address
done
on_b wait_for_gid sroce_b 10.0.5.2 >/tmp/gid
on_b wait_until 10 ping -c 1 -W 1 10.0.5.1
pair "traffic flows over a VLAN" ibv_rc_pingpong -d sroce_a -g "$(on_a gid_index sroce_a 10.0.5.1)" -n 50 -s 10000 -c -- \
	ibv_rc_pingpong -d sroce_b -g "$(</tmp/gid)" -n 50 -s 10000 -c 10.0.5.1
for address in 10.0.5.1 fd05::1; do
	pair "rping over a VLAN to $address" rping -s -a $address -v -V -C 20 -S 4000 -- rping -c -a $address -v -V -C 20 -S 4000
done

# --- the path MTU ---------------------------------------------------------------------------------

# That of the device's interface is larger. Messages of one packet would pass, and others never.
on_a ip link set eth_a mtu 2300
on_b ip link set eth_b mtu 2300
fails_with_mtu()
{
	on_a timeout 20 ibv_rc_pingpong -d sroce_a -g "$(on_a gid_index sroce_a 10.0.5.1)" -m 2048 >/tmp/mtu 2>&1 &
	local server=$!
	on_a wait_until 10 listens ibv_rc_pingpong
	on_b timeout 20 ibv_rc_pingpong -d sroce_b -g "$(</tmp/gid)" -m 2048 10.0.5.1 || true
	wait $server || true
	cat /tmp/mtu
	grep -q 'Failed to modify QP to RTR' /tmp/mtu
}
check "a path MTU beyond that of the VLAN is refused" fails_with_mtu
on_a ip link set eth_a mtu 1500
on_b ip link set eth_b mtu 1500

# --- the 802.1p priority --------------------------------------------------------------------------

# The priorities of RoCE packets that A has received since the last call, and how many: "3 123".
priorities() { sed -n 's/.* vlan 5, p \([0-7]\), .*/\1/p' /tmp/vlan.txt | sort | uniq -c | awk '{ print $2, $1 }'; }
only() { [[ $(priorities) =~ ^$1\ [0-9]{2,}$ ]]; } # PRIORITY
sniff() # COMMAND...
{
	rm -f /tmp/tcpdump.log
	on_a tcpdump --immediate-mode -e -n -l -i eth_a --direction=in vlan 5 and udp port 4791 >/tmp/vlan.txt 2>/tmp/tcpdump.log &
	sniffer=$!
	wait_until 10 grep -q 'listening on' /tmp/tcpdump.log
	"$@"
	sleep 0.2
	pkill -INT -x tcpdump
	wait $sniffer || true
	priorities | sed 's/^/# priority and packets: /'
}
on_a ip link set eth_a.5 type vlan egress-qos-map 3:3 6:4
on_b ip link set eth_b.5 type vlan egress-qos-map 3:3 6:4
for level in 0 3; do
	sniff pair "service level $level" ibv_rc_pingpong -d sroce_a -g "$(on_a gid_index sroce_a 10.0.5.1)" -l $level -n 50 -- \
		ibv_rc_pingpong -d sroce_b -g "$(</tmp/gid)" -l $level -n 50 10.0.5.1
	check "the 802.1p priority is the service level $level" only $level
	sniff pair "datagrams of service level $level" ibv_ud_pingpong -d sroce_a -g "$(on_a gid_index sroce_a 10.0.5.1)" -l $level -n 50 -- \
		ibv_ud_pingpong -d sroce_b -g "$(</tmp/gid)" -l $level -n 50 10.0.5.1
	check "the 802.1p priority of datagrams is the service level $level" only $level
done
# rdma_cm looks up the priority 6 of this type of service in the egress map: service level 4.
sniff pair "type of service 16" ucmatose -b 10.0.5.1 -C 20 -- ucmatose -s 10.0.5.1 -t 16 -C 20
check "the service level of rdma_cm is not mapped again" only 4
# The same if the address is that of an interface above the VLAN.
on_a ip address add 10.0.6.1/24 dev eth_a.5
on_b ip link add link eth_b.5 name above_b type macvlan mode bridge
on_b address_add above_b 10.0.6.2 fd06::2
on_a wait_for_gid sroce_a 10.0.6.1 >/dev/null
on_b wait_for_gid sroce_b 10.0.6.2 >/dev/null
sniff pair "type of service 16 above a VLAN" ucmatose -b 10.0.6.1 -C 20 -- ucmatose -b 10.0.6.2 -s 10.0.6.1 -t 16 -C 20
check "the service level is not mapped again above a VLAN" only 4
on_b ip link delete above_b

# --- the same within one host: packets arrive on loopback instead of the VLAN ---------------------

at_a() # NAME SERVER... -- CLIENT...: both at A
{
	# shellcheck disable=SC2317
	on_b() { on_a "$@"; }
	pair "$@"
	on_b() { in_namespace b "$@"; }
}
for address in "$A_IP" "$A_IP6" 10.0.5.1 fd05::1; do
	at_a "rping to the host's own $address" rping -s -a "$address" -v -V -C 20 -S 4000 -- rping -c -a "$address" -v -V -C 20 -S 4000
done
link_local=$(on_a ip -6 -o address show dev eth_a.5 scope link | sed -n 's/.* inet6 \([^/]*\).*/\1/p')
at_a "rping to the VLAN's own link-local address" rping -s -a "$link_local%eth_a.5" -v -V -C 20 -S 4000 -- \
	rping -c -a "$link_local%eth_a.5" -v -V -C 20 -S 4000

# --- another namespace ----------------------------------------------------------------------------

ip netns add pod
ip -n a link add link eth_a name pod0 type macvlan mode bridge
ip -n a link set pod0 netns pod
ip netns exec pod /share/vm/guest/call address_add pod0 10.0.7.1 fd07::1
# The peer is reachable, so that nothing else can fail.
ip -n pod route add 10.0.0.0/24 dev pod0
on_b ip route add 10.0.7.0/24 dev eth_b
ip netns exec pod /share/vm/guest/call wait_until 10 ping -c 1 -W 1 "$B_IP"
pod_gid=$(on_a wait_for_gid sroce_a 10.0.7.1)
talk ibv_rc_pingpong -d sroce_a -g "$pod_gid" -n 5 -- ibv_rc_pingpong -d sroce_b -g "$B_GID" -n 5 "$A_IP" || true
check "the GID of an interface in another namespace is rejected" grep -q "Failed to modify QP to RTR" <<<"$pair_report"
ip netns delete pod

# --- a route through another interface ------------------------------------------------------------

on_b ip link add aside type dummy
on_b ip link set aside up
on_b ip -6 route add "$A_IP6/128" dev aside
if talk ibv_rc_pingpong -d sroce_a -g "$A_GID6" -n 5 -- ibv_rc_pingpong -d sroce_b -g "$B_GID6" -n 5 "$A_IP"; then
	not_ok "no packet leaves through an interface other than its GID's" "$pair_report"
else
	ok "no packet leaves through an interface other than its GID's"
fi
expect_counter b drop_no_route -gt 0
on_b ip link delete aside
pair "traffic flows without that route" ibv_rc_pingpong -d sroce_a -g "$A_GID6" -n 5 -- ibv_rc_pingpong -d sroce_b -g "$B_GID6" -n 5 "$A_IP"
