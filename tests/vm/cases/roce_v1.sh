# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# RoCE v1: devices of the type sroce_v1 have two GIDs for each address.
# guests: one
# links: sroce
# seconds: 300
# stages: vm-newest
# full: vm-newest-native vm-debug vm-debug-native vm-6.12 vm-6.1
set -euo pipefail
. /share/vm/lib.sh
topology none

# Print the index of the GID of an address. TYPE is as in sysfs; default: RoCE v1.
typed_gid() # DEVICE ADDRESS [TYPE]
{
	local port=/sys/class/infiniband/$1/ports/1 index gid
	gid=$(gid_of "$2")
	for index in {0..31}; do
		[[ $(<"$port/gids/$index") == "$gid" ]] || continue
		[[ $(cat "$port/gid_attrs/types/$index") == "${3:-IB/RoCE v1}" ]] || continue
		echo "$index"
		return
	done
	return 1
}
wait_for_v1() { wait_until 10 typed_gid "$@" && typed_gid "$@"; } # DEVICE ADDRESS [TYPE]
mac_of() { cat "/sys/class/net/$1/address"; } # INTERFACE
export -f typed_gid wait_for_v1 mac_of

attach()
{
	on_a "$programs/sroce" add --v1 --wait 20 "$A_IF" "$A_DEV" >/tmp/add
	on_b link_add "$B_DEV" sroce_v1 "$B_IF"
	A_GID=$(on_a wait_for_v1 "$A_DEV" "$A_IP") B_GID=$(on_b wait_for_v1 "$B_DEV" "$B_IP")
	A_GID6=$(on_a wait_for_v1 "$A_DEV" "$A_IP6") B_GID6=$(on_b wait_for_v1 "$B_DEV" "$B_IP6")
	A_GID_V2=$(on_a wait_for_v1 "$A_DEV" "$A_IP" "RoCE v2") B_GID_V2=$(on_b wait_for_v1 "$B_DEV" "$B_IP" "RoCE v2")
}
attach
on_b wait_until 10 ping -c 1 -W 1 "$A_IP"
on_b wait_until 10 ping -c 1 -W 1 "$A_IP6"
check "each address has a GID of both types" test "$A_GID $A_GID_V2" == "2 3"
check "the tool suggests one of RoCE v2" grep -q "^try: .* -g $A_GID_V2 " /tmp/add
check "the tool shows both types" test "$(on_a "$programs/sroce" gids "$A_DEV" | grep -Ec "$A_IP |fd00::1 ")" == 4
on_a ibv_devinfo -v -d "$A_DEV" >/tmp/devinfo
check "ibv_devinfo shows both types" test "$(grep -c 'GID.*RoCE v1' /tmp/devinfo) $(grep -c 'GID.*RoCE v2' /tmp/devinfo)" == "3 3"

# --- traffic --------------------------------------------------------------------------------------

on_a tcpdump -q -i "$A_IF" -s 0 -B 32768 -Z root -U -w /tmp/capture.pcap ether proto 0x8915 or udp port 4791 >/tmp/tcpdump.log 2>&1 &
sniffer=$!
wait_until 10 test -s /tmp/capture.pcap
tool "ibv_rc_pingpong" ibv_rc_pingpong -g GID -n 100 -s 10000 -c
tool "ibv_uc_pingpong" ibv_uc_pingpong -g GID -n 100 -s 10000 -c
tool "ibv_ud_pingpong" ibv_ud_pingpong -g GID -n 100 -s 1001 -c
tool "ibv_srq_pingpong" ibv_srq_pingpong -g GID -n 100 -s 1001
pair "ibv_rc_pingpong between IPv6 GIDs" ibv_rc_pingpong -d "$A_DEV" -g "$A_GID6" -n 100 -s 9999 -c -- \
	ibv_rc_pingpong -d "$B_DEV" -g "$B_GID6" -n 100 -s 9999 -c "$A_IP"
pair "ibv_ud_pingpong between IPv6 GIDs" ibv_ud_pingpong -d "$A_DEV" -g "$A_GID6" -n 100 -s 999 -c -- \
	ibv_ud_pingpong -d "$B_DEV" -g "$B_GID6" -n 100 -s 999 -c "$A_IP"
pair "ibv_rc_pingpong between link-local GIDs" ibv_rc_pingpong -d "$A_DEV" -g 0 -n 100 -c -- \
	ibv_rc_pingpong -d "$B_DEV" -g 0 -n 100 -c "$A_IP"
for program in ib_write_bw ib_read_bw ib_send_bw; do
	tool "$program" $program -x GID -F -s 65536 -n 100 -t 16
done
tool "ib_atomic_bw" ib_atomic_bw -x GID -F -n 100
pkill -INT -x tcpdump
wait $sniffer || true
check "every frame is of type 0x8915 and well formed" /share/vm/guest/roce_v1 check /tmp/capture.pcap
mkdir -p "$keep"
cp /tmp/capture.pcap "$keep/v1.pcap"
duet "v1" rc_verify --quick --max-size 10000
at_both=(--dev "$A_DEV" --gid "$A_GID" --peer-dev "$B_DEV" --peer-gid "$B_GID")
tap "UC" "$programs"/uc_verify "${at_both[@]}"
[[ $MODE != native ]] || tap "XRC" "$programs"/xrc_verify "${at_both[@]}"
for group in "$A_GID $B_GID" "$A_GID6 $B_GID6"; do
	tap "multicast" "$programs"/mcast_verify --dev "$A_DEV" --gid "${group% *}" --peer-dev "$B_DEV" --peer-gid "${group#* }"
done
DUET_GID_A=$A_GID_V2 DUET_GID_B=$B_GID_V2 duet "v2 of the same device" rc_verify --quick --max-size 10000
for end in a b; do
	expect_counter $end rx_icrc_encapsulated -eq 0
	expect_counter $end np_cnp_sent -eq 0
done

# --- the other version ----------------------------------------------------------------------------

for gids in "$A_GID $B_GID_V2" "$A_GID_V2 $B_GID"; do
	before=$(counter_at a drop_address)
	talk ibv_rc_pingpong -d "$A_DEV" -g "${gids% *}" -n 5 -- ibv_rc_pingpong -d "$B_DEV" -g "${gids#* }" -n 5 "$A_IP" || true
	check "a connection takes no packet of the other version, GIDs $gids" grep -q 'Failed status transport retry' <<<"$pair_output"
	expect_counter a drop_address -gt "$before"
done

# --- rdma_cm --------------------------------------------------------------------------------------

configfs=/sys/kernel/config
mountpoint -q $configfs || mount -t configfs none $configfs
modprobe -q rdma_cm || true
cm_version() # DEVICE VERSION
{
	mkdir -p "$configfs/rdma_cm/$1/"
	echo "$2" >"$configfs/rdma_cm/$1/ports/1/default_roce_mode"
}
mkdir "$configfs/rdma_cm/$A_DEV" "$configfs/rdma_cm/$B_DEV"
check "rdma_cm prefers v2" test "$(cat "$configfs/rdma_cm/$A_DEV/ports/1/default_roce_mode")" == "RoCE v2"
cm_version "$A_DEV" "IB/RoCE v1"
cm_version "$B_DEV" "IB/RoCE v1"
for address in "$A_IP" "$A_IP6"; do
	rm -f /tmp/tcpdump.log
	on_a tcpdump --immediate-mode -q -i "$A_IF" -Z root -U -w /tmp/cm.pcap udp port 4791 >/tmp/tcpdump.log 2>&1 &
	sniffer=$!
	wait_until 10 test -s /tmp/cm.pcap
	pair "rping to $address" rping -s -a "$address" -v -V -C 20 -S 4001 -- rping -c -a "$address" -v -V -C 20 -S 4001
	pair "udaddy to $address" udaddy -b "$address" -c 2 -C 10 -S 500 -- udaddy -s "$address" -c 2 -C 10 -S 500
	pkill -INT -x tcpdump
	wait $sniffer || true
	check "nothing went by v2" test "$(stat -c %s /tmp/cm.pcap)" == 24
	rm /tmp/cm.pcap
done
for group in "239.1.1.1 $A_IP $B_IP" "ff15::77:9 $A_IP6 $B_IP6"; do
	read -r group at_a at_b <<<"$group"
	on_a mckey -m "$group" -b "$at_a" -C 100 -S 500 >/tmp/mckey 2>&1 &
	receiver=$!
	sleep 2
	check "mckey: sender to $group" on_b mckey -m "$group" -b "$at_b" -C 100 -S 500 -s
	status=0
	wait $receiver || status=$?
	check "mckey: receiver of $group" test $status == 0
done
cm_version "$A_DEV" "RoCE v2"
cm_version "$B_DEV" "RoCE v2"
rmdir "$configfs/rdma_cm/$A_DEV" "$configfs/rdma_cm/$B_DEV"

# --- frames that no device sends ------------------------------------------------------------------

mac=$(on_a mac_of "$A_IF")
while read -r kind name; do
	counter_at a "$name" >/tmp/before
	on_b /share/vm/guest/roce_v1 send "$B_IF" "$kind" "$mac" "$B_IP" "$A_IP" 20
	wait_until 2 test "$(counter_at a "$name")" -ge $(($(</tmp/before) + 20)) || true
	check "$kind: 20 frames are counted in $name" test "$(counter_at a "$name")" -eq $(($(</tmp/before) + 20))
done <<-'END'
	good drop_qkey
	remarked drop_qkey
	padded drop_qkey
	no_qp drop_no_qp
	wrong_icrc rx_icrc_encapsulated
	damaged_gid rx_icrc_encapsulated
	short_grh drop_truncated
	cut drop_truncated
	short_bth drop_truncated
	empty drop_truncated
	version_4 drop_version
	udp drop_version
END
before=$(counter_at a rcvd_pkts)
on_b /share/vm/guest/roce_v1 send "$B_IF" good 02:11:22:33:44:55 "$B_IP" "$A_IP" 20
on_b /share/vm/guest/roce_v1 send "$B_IF" good "$mac" "$B_IP" 10.0.0.77 20
sleep 0.3
check "frames for another MAC address or GID are ignored" test "$(counter_at a rcvd_pkts)" == "$before"
for source in "$A_IP" 224.0.0.1 127.0.0.1 0.0.0.0 255.255.255.255; do
	before=$(counter_at a drop_address)
	on_b /share/vm/guest/roce_v1 send "$B_IF" good "$mac" "$source" "$A_IP" 20
	wait_until 2 test "$(counter_at a drop_address)" -ge $((before + 20)) || true
	check "20 frames from $source are counted in drop_address" test "$(counter_at a drop_address)" -eq $((before + 20))
done

# --- loss, VLANs, one host ------------------------------------------------------------------------

netem loss 1%
duet "1 % loss" rc_verify --duration 4
tool "ib_write_bw at 1 % loss" ib_write_bw -x GID -F -s 65536 -n 200 -t 16
netem
on_a ip link add link eth_a name eth_a.5 type vlan id 5
on_b ip link add link eth_b name eth_b.5 type vlan id 5
on_a address_add eth_a.5 10.0.5.1 fd05::1
on_b address_add eth_b.5 10.0.5.2 fd05::2
on_b wait_until 10 ping -c 1 -W 1 10.0.5.1
vlan_a=$(on_a wait_for_v1 "$A_DEV" 10.0.5.1) vlan_b=$(on_b wait_for_v1 "$B_DEV" 10.0.5.2)
pair "RC over a VLAN" ibv_rc_pingpong -d "$A_DEV" -g "$vlan_a" -n 50 -s 10000 -c -- ibv_rc_pingpong -d "$B_DEV" -g "$vlan_b" -n 50 -s 10000 -c 10.0.5.1
pair "UD over a VLAN" ibv_ud_pingpong -d "$A_DEV" -g "$vlan_a" -n 50 -c -- ibv_ud_pingpong -d "$B_DEV" -g "$vlan_b" -n 50 -c 10.0.5.1
at_a() # NAME SERVER... -- CLIENT...: both at A
{
	# shellcheck disable=SC2317
	on_b() { on_a "$@"; }
	pair "$@"
	on_b() { in_namespace b "$@"; }
}
for gid in "$A_GID" "$A_GID6" "$vlan_a" 0; do
	at_a "RC within one host, GID $gid" ibv_rc_pingpong -d "$A_DEV" -g "$gid" -n 50 -s 10000 -c -- ibv_rc_pingpong -d "$A_DEV" -g "$gid" -n 50 -s 10000 -c 127.0.0.1
	at_a "UD within one host, GID $gid" ibv_ud_pingpong -d "$A_DEV" -g "$gid" -n 50 -c -- ibv_ud_pingpong -d "$A_DEV" -g "$gid" -n 50 -c 127.0.0.1
done
# Two devices of one host.
on_a ip link add second type dummy
on_a address_add second 10.0.9.1 fd09::1
on_a link_add second sroce_v1 second
second=$(on_a wait_for_v1 second 10.0.9.1)
at_a "RC of a second device of a host" ibv_rc_pingpong -d second -g "$second" -n 50 -s 10000 -c -- ibv_rc_pingpong -d second -g "$second" -n 50 -s 10000 -c 127.0.0.1
tool "RC of the first" ibv_rc_pingpong -g GID -n 50 -s 10000 -c
on_a rdma link delete second
on_a link_add host sroce_v1 lo
on_a wait_for_v1 host 127.0.0.1 >/tmp/host_gid
before=$(counter host drop_address)
on_b /share/vm/guest/roce_v1 send "$B_IF" good "$mac" "$B_IP" 127.0.0.1 20
sleep 0.3
check "frames from the network do not reach a device on loopback" test "$(counter host drop_address)" == $((before + 20))
gid=$(</tmp/host_gid)
at_a "RC on loopback" ibv_rc_pingpong -d host -g "$gid" -n 50 -c -- ibv_rc_pingpong -d host -g "$gid" -n 50 -c 127.0.0.1
on_a rdma link delete host

# --- what has no Ethernet header, and ends under traffic ------------------------------------------

on_a ip tuntap add tun7 mode tun
check_fails "a tun has no RoCE v1" "not supported" on_a link_add tun sroce_v1 tun7
flows() { (($(counter_at a rcvd_pkts) > $1 + 1000)); }
for round in {1..3}; do
	packets=$(counter_at a rcvd_pkts)
	on_a timeout 20 ib_write_bw -d "$A_DEV" -x "$A_GID" -F -s 65536 -D 10 >/dev/null 2>&1 &
	server=$!
	wait_until 15 on_a listens ib_write_bw
	on_b timeout 20 ib_write_bw -d "$B_DEV" -x "$B_GID" -F -s 65536 -D 10 "$A_IP" >/dev/null 2>&1 &
	client=$!
	check "round $round has traffic" wait_until 10 flows "$packets"
	case $round in
	1) on_a rdma link delete "$A_DEV" ;;
	2) on_b ip link set "$B_IF" down ;;
	3) ip netns delete b ;;
	esac
	sleep 0.5
	pkill ib_write_bw || true
	wait $server $client || true
	ok "round $round ends under traffic"
	[[ $round == 3 ]] || {
		on_b ip link set "$B_IF" up
		on_b address_add "$B_IF" "$B_IP" "$B_IP6"
		for device in $(rdma_devices); do rdma link delete "$device"; done
		for end in a b; do
			for device in $(ip netns exec $end rdma link show | sed -n 's,^link \([^/]*\)/.*,\1,p'); do ip netns exec $end rdma link delete "$device"; done
		done
		on_b wait_until 10 ping -c 1 -W 1 "$A_IP"
		attach
	}
done
