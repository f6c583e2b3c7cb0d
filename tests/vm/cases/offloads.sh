# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Packets that travel as one skb, and as many, by what the interface can: every byte is right, and they come together where they can.
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

early() { on_a rdma statistic show link "$A_DEV/1" | grep -o 'out_of_sequence [0-9]*' | cut -d ' ' -f 2; }

# 64 KiB WRITEs at 1024 are 64 packets each; 3 skbs where they travel together.
packets_per_skb()
{
	local skbs=$(($(datagrams))) before=$(($(packets)))
	pair "1,000 messages of 64 KiB, $1" ib_write_bw -d "$A_DEV" -x "$A_GID" -F -m 1024 -s 65536 -n 1000 -- \
		ib_write_bw -d "$B_DEV" -x "$B_GID" -F -m 1024 -s 65536 -n 1000 "$A_IP"
	skbs=$(($(datagrams) - skbs))
	ratio=$((($(packets) - before) / (skbs ? skbs : 1)))
	echo "# $1: $ratio packets an skb"
}

# skbs that B has given to IP
handed_over() { on_b cat /proc/net/snmp | sed -n 's/^Ip: \([0-9]* \)\{9\}\([0-9]*\) .*/\2/p'; }

rxe_lacks=()
[[ $A_TYPE$B_TYPE != *rxe* ]] || rxe_lacks=(--skip "SQD,SEND_WITH_INV")
verify() # WHAT
{
	DUET_GID_A=$A_GID DUET_GID_B=$B_GID duet "$1, IPv4" rc_verify --quick --max-size 100000 "${rxe_lacks[@]}"
	DUET_GID_A=$A_GID6 DUET_GID_B=$B_GID6 duet "$1, IPv6" rc_verify --quick --max-size 100000 "${rxe_lacks[@]}"
}

both_sroce() { [[ $A_TYPE$B_TYPE == srocesroce ]]; }

verify "as they are"
if both_sroce; then
	before=$(handed_over)
	packets_per_skb "as they are"
	check "packets travel together" test $ratio -ge 4
	check "they were handed over together" test $(($(handed_over) - before)) -lt 16000
fi
set_offloads tx-udp-segmentation off gro off
# Runs are segmented below a queue only: what a veth has no room for, it drops.
on_a tc qdisc add dev "$A_IF" root fq_codel
on_b tc qdisc add dev "$B_IF" root fq_codel
verify "segmented in software"
if both_sroce; then
	before=$(handed_over)
	packets_per_skb "segmented in software"
	check "packets come one by one" test $ratio -eq 1
	check "they were handed over together" test $(($(handed_over) - before)) -lt 16000
fi
on_a tc qdisc del dev "$A_IF" root
on_b tc qdisc del dev "$B_IF" root
verify "one by one where there is no queue"
if both_sroce; then
	before=$(handed_over)
	packets_per_skb "one by one where there is no queue"
	check "they were handed over one by one" test $(($(handed_over) - before)) -ge 64000
fi
# A veth puts together only what its peer's sender could not have.
set_offloads gro on tso off
verify "put together by GRO"
if both_sroce; then
	before=$(($(early)))
	packets_per_skb "put together by GRO"
	check "packets come together" test $ratio -ge 4
	check "none overtakes another" test $(($(early))) -eq $before
fi
set_offloads tx-udp-segmentation on tso on tx off
verify "without checksum offload"
set_offloads tx on gso off gro off
verify "without GSO"
set_offloads gso on

if both_sroce; then
	# Both ends at A: by loopback.
	# shellcheck disable=SC2317
	on_b() { on_a "$@"; }
	B_DEV=$A_DEV B_GID=$A_GID packets_per_skb "within one host"
	check "packets travel together within one host" test $ratio -ge 4
	on_b() { in_namespace b "$@"; }
fi

# --- the memory of runs is used again, once they are gone ------------------------------------------------------

if both_sroce; then
	wrong() { echo $(($(counter_at a rx_icrc_encapsulated) + $(counter_at b rx_icrc_encapsulated))); }
	before=$(wrong)
	# What netem holds is not its sender's any more. The IPv4 identification tells a packet from one that was written over it.
	netem delay 10ms limit 100000
	for test in ib_write_bw ib_read_bw; do
		pair "$test, more on its way than a processor has memory kept for" \
			$test -d "$A_DEV" -x "$A_GID" -F -m 4096 -s 65536 -n 500 -- \
			$test -d "$B_DEV" -x "$B_GID" -F -m 4096 -s 65536 -n 500 "$A_IP"
	done
	verify "held up on its way"
	netem
	check "no packet was written to on its way" test "$(wrong)" -eq "$before"
fi

# --- the MTU changes while packets are on their way ------------------------------------------------------------

start=$SECONDS
(while ((SECONDS - start < 4)); do
	for mtu in 1500 9000 5000; do
		on_a ip link set "$A_IF" mtu $mtu
		on_b ip link set "$B_IF" mtu $mtu
		sleep 0.1
	done
done) &
changer=$!
pair "data flows while the MTU changes" ib_write_bw -d "$A_DEV" -x "$A_GID" -F -m 1024 -s 65536 -D 3 -- \
	ib_write_bw -d "$B_DEV" -x "$B_GID" -F -m 1024 -s 65536 -D 3 "$A_IP"
wait $changer
verify "after that"
