# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Packets travel as GSO batches or one by one, as the interface allows. Every byte is right, and
# packets arrive in batches where possible.
# guests: one
# seconds: 240
# stages: vm-newest vm-newest-rxe
# full: vm-newest-native vm-debug vm-6.12 vm-6.1 vm-debug-native
set -euo pipefail
. /share/vm/lib.sh
MTU=9000 topology

set_offloads() # OPTION VALUE...
{
	on_a ethtool -K "$A_IF" "$@" >/dev/null
	on_b ethtool -K "$B_IF" "$@" >/dev/null
}

datagrams() { on_a cat /proc/net/snmp | sed -n 's/^Udp: \([0-9]*\) .*/\1/p'; }
packets() { on_a rdma statistic show link "$A_DEV/1" | grep -o 'rcvd_pkts [0-9]*' | cut -d ' ' -f 2; }

out_of_sequence() { on_a rdma statistic show link "$A_DEV/1" | grep -o 'out_of_sequence [0-9]*' | cut -d ' ' -f 2; }

# A 64 KiB WRITE at MTU 1024 is 64 packets. With GSO it is 3 skbs.
packets_per_skb()
{
	local skbs=$(($(datagrams))) before=$(($(packets)))
	pair "1000 WRITEs of 64 KiB, $1" ib_write_bw -d "$A_DEV" -x "$A_GID" -F -m 1024 -s 65536 -n 1000 -- \
		ib_write_bw -d "$B_DEV" -x "$B_GID" -F -m 1024 -s 65536 -n 1000 "$A_IP"
	skbs=$(($(datagrams) - skbs))
	ratio=$((($(packets) - before) / (skbs ? skbs : 1)))
	echo "# $1: $ratio packets per skb"
}

# The number of skbs that B has passed to IP.
passed_to_ip() { on_b cat /proc/net/snmp | sed -n 's/^Ip: \([0-9]* \)\{9\}\([0-9]*\) .*/\2/p'; }

skip=$(rxe_lacks)
# Of the two families, where one could differ: the IPv4 identification, the checksum of IPv6.
verify() # WHAT [4|6]
{
	local options=(--quick --data --max-size 100000 ${skip:+--skip "$skip"})
	[[ ${2:-4} != 4 ]] || DUET_GID_A=$A_GID DUET_GID_B=$B_GID duet "$1, IPv4" rc_verify "${options[@]}"
	[[ ${2:-6} != 6 ]] || DUET_GID_A=$A_GID6 DUET_GID_B=$B_GID6 duet "$1, IPv6" rc_verify "${options[@]}"
}

both_sroce() { [[ $A_TYPE$B_TYPE == srocesroce ]]; }

verify "default offloads"
if both_sroce; then
	before=$(passed_to_ip)
	packets_per_skb "default offloads"
	check "default offloads: packets arrive in batches" test $ratio -ge 4
	check "default offloads: packets are sent in batches" test $(($(passed_to_ip) - before)) -lt 16000
fi
set_offloads tx-udp-segmentation off gro off
# sroce sends batches only if there is a qdisc to queue their segments, which a veth alone would
# drop.
on_a tc qdisc add dev "$A_IF" root fq_codel
on_b tc qdisc add dev "$B_IF" root fq_codel
verify "segmented in software"
if both_sroce; then
	before=$(passed_to_ip)
	packets_per_skb "segmented in software"
	check "segmented in software: packets arrive one by one" test $ratio -eq 1
	check "segmented in software: packets are sent in batches" test $(($(passed_to_ip) - before)) -lt 16000
fi
on_a tc qdisc del dev "$A_IF" root
on_b tc qdisc del dev "$B_IF" root
verify "no qdisc" 4
if both_sroce; then
	before=$(passed_to_ip)
	packets_per_skb "no qdisc"
	check "no qdisc: packets are sent one by one" test $(($(passed_to_ip) - before)) -ge 64000
fi
# A veth uses GRO only for packets from an end without TSO.
set_offloads gro on tso off
verify "GRO" 4
if both_sroce; then
	before=$(($(out_of_sequence)))
	packets_per_skb "GRO"
	check "GRO: packets arrive in batches" test $ratio -ge 4
	check "GRO: packets stay in order" test $(($(out_of_sequence))) -eq $before
fi
set_offloads tx-udp-segmentation on tso on tx off
verify "without checksum offload" 6
set_offloads tx on gso off gro off
verify "without GSO" 6
# Packets of RDMA adapters have no UDP checksum, either.
set_offloads tso off gro on
verify "GRO without UDP checksums"
if both_sroce; then
	before=$(($(out_of_sequence)))
	packets_per_skb "GRO without UDP checksums"
	check "GRO without UDP checksums: packets arrive in batches" test $ratio -ge 4
	check "... in order" test $(($(out_of_sequence))) -eq $before
fi
set_offloads gso on tso on gro off

if both_sroce; then
	# Both ends at A, over loopback.
	# shellcheck disable=SC2317
	on_b() { on_a "$@"; }
	B_DEV=$A_DEV B_GID=$A_GID packets_per_skb "within one host"
	check "within one host: packets arrive in batches" test $ratio -ge 4
	on_b() { in_namespace b "$@"; }
fi

# --- a VLAN does not say what segments its packets below ------------------------------------------

# Hardware may leave the IPv4 identification as it is. So the stack gets a list of packets, each with
# complete headers. IPv6 has no identification.
if both_sroce; then
	sent_by() { on_b cat "/sys/class/net/$1/statistics/tx_packets"; }
	on_a ip link add link "$A_IF" name vlan5 type vlan id 5
	on_b ip link add link "$B_IF" name vlan5 type vlan id 5
	on_a address_add vlan5 10.0.5.1 fd05::1 9000
	on_b address_add vlan5 10.0.5.2 fd05::2 9000
	on_b wait_until 10 ping -c 1 -W 1 fd05::1
	# A veth passes lists on, too. Hardware that segments UDP does not.
	for below in "as it is" "like hardware"; do
		[[ $below == as* ]] || set_offloads tx-gso-list off tso off gro on
		for net in 10.0.5. fd05::; do
			DUET_GID_A=$(on_a wait_for_gid "$A_DEV" "${net}1")
			DUET_GID_B=$(on_b wait_for_gid "$B_DEV" "${net}2")
			export DUET_GID_A DUET_GID_B
			on_vlan=$(sent_by vlan5) on_veth=$(sent_by "$B_IF")
			pair "200 WRITEs of 64 KiB over a VLAN, veth $below, from ${net}2" \
				ib_write_bw -d "$A_DEV" -x "$DUET_GID_A" -F -m 1024 -s 65536 -n 200 -- \
				ib_write_bw -d "$B_DEV" -x "$DUET_GID_B" -F -m 1024 -s 65536 -n 200 "$A_IP"
			on_vlan=$(($(sent_by vlan5) - on_vlan)) on_veth=$(($(sent_by "$B_IF") - on_veth))
			echo "# skbs: $on_vlan on the VLAN, $on_veth on the veth"
			check "VLAN, veth $below, ${net}2: packets are sent in batches" test $on_vlan -gt 0 -a $on_vlan -lt 3200
			if [[ $below == like* && $net == *. ]]; then
				check "VLAN, veth $below, IPv4: lists are taken apart" test $on_veth -ge 12800
			else
				check "VLAN, veth $below, ${net}2: batches stay whole" test $on_veth -lt 3200
			fi
			[[ $below != like* || $net != *. ]] || duet "VLAN, veth $below" rc_verify --quick --data --max-size 100000 ${skip:+--skip "$skip"}
		done
	done
	set_offloads tx-gso-list on tso on gro off
	unset DUET_GID_A DUET_GID_B
	on_a ip link delete vlan5
	on_b ip link delete vlan5
fi

# --- the memory of GSO batches is reused only after they have been sent ---------------------------

if both_sroce; then
	wrong() { echo $(($(counter_at a rx_icrc_encapsulated) + $(counter_at b rx_icrc_encapsulated))); }
	before=$(wrong)
	# Packets that netem delays no longer count against their sender's TSQ limit. One that is
	# overwritten meanwhile has a wrong ICRC.
	netem delay 10ms limit 100000
	for test in ib_write_bw ib_read_bw; do
		pair "$test, more in flight than the page cache holds" \
			$test -d "$A_DEV" -x "$A_GID" -F -m 4096 -s 65536 -n 500 -- \
			$test -d "$B_DEV" -x "$B_GID" -F -m 4096 -s 65536 -n 500 "$A_IP"
	done
	verify "delayed 10 ms" 6
	netem
	check "no packet in flight is overwritten" test "$(wrong)" -eq "$before"
fi

# --- the MTU changes while packets are in flight --------------------------------------------------

start=$SECONDS
(while ((SECONDS - start < 4)); do
	for mtu in 1500 9000 5000; do
		on_a ip link set "$A_IF" mtu $mtu
		on_b ip link set "$B_IF" mtu $mtu
		sleep 0.1
	done
done) &
changer=$!
pair "traffic flows while the MTU changes" ib_write_bw -d "$A_DEV" -x "$A_GID" -F -m 1024 -s 65536 -D 3 -- \
	ib_write_bw -d "$B_DEV" -x "$B_GID" -F -m 1024 -s 65536 -D 3 "$A_IP"
wait $changer
verify "after the MTU changes" 4
