# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# tc netem at both ends: loss, duplicates, reordering, corruption. Every byte is right and nothing
# hangs.
# guests: any
# links: sroce
# seconds: 240
# full: vm-newest-native vm-debug vm-6.12 vm-6.12-two vm-6.1
set -euo pipefail
. /share/vm/lib.sh
topology
export LIMIT=100

soak=3 messages=256
[[ ! $QUICK ]] || messages=64

# Neighbour discovery must not fail, because it is not under test.
fix_neighbour() { ip neighbour replace "$2" lladdr "$3" dev "$1" nud permanent; } # INTERFACE ADDRESS MAC
mac() { cat "/sys/class/net/$1/address"; }
export -f fix_neighbour mac
a_mac=$(on_a mac "$A_IF") b_mac=$(on_b mac "$B_IF")
for address in "$B_IP" "$B_IP6"; do on_a fix_neighbour "$A_IF" "$address" "$b_mac"; done
for address in "$A_IP" "$A_IP6"; do on_b fix_neighbour "$B_IF" "$address" "$a_mac"; done

# Packets with a wrong UDP checksum never reach the device, so the namespace counts them.
udp_csum_errors() { "on_$1" nstat -asz UdpInCsumErrors Udp6InCsumErrors | awk '/InCsumErrors/ { sum += $2 } END { print sum + 0 }'; }

both_ends() # COUNTER...: their sum over both ends
{
	local name sum=0
	for name; do
		if [[ $name == udp_csum_errors ]]; then
			sum=$((sum + $(udp_csum_errors a) + $(udp_csum_errors b)))
		else
			sum=$((sum + $(counter_at a "$name") + $(counter_at b "$name")))
		fi
	done
	echo $sum
}

gso() # on|off: with GSO, packets carry a UDP checksum; without it, only the ICRC
{
	on_a ethtool -K "$A_IF" gso "$1" >/dev/null
	on_b ethtool -K "$B_IF" gso "$1" >/dev/null
}

# impaired NAME COUNTERS NETEM_OPTION...: run traffic of all kinds; the counters must rise
impaired()
{
	local name=$1 counters before after
	read -ra counters <<<"$2"
	shift 2
	before=$(both_ends "${counters[@]}")
	netem "$@"
	duet "$name" rc_verify --duration $soak
	tool "$name: ib_write_bw" ib_write_bw -x GID -F -s 65536 -n $messages
	tool "$name: ib_read_bw" ib_read_bw -x GID -F -s 65536 -n $messages
	tool "$name: ib_send_bw" ib_send_bw -x GID -F -s 65536 -n $messages
	tool "$name: ib_atomic_bw" ib_atomic_bw -x GID -F -n 200
	# rping's server hangs if the client's DREQ is lost, because the client exits without
	# repeating it.
	LIMIT=40 talk rping -s -a "$A_IP" -v -V -C 20 -S 4000 -- rping -c -a "$A_IP" -v -V -C 20 -S 4000 || true
	check "$name: rping, 20 pings" test "$(grep -c '^ping data' <<<"$pair_output")" -eq 20
	netem
	after=$(both_ends "${counters[@]}")
	check "$name: ${counters[*]} rose from $before to $after" test "$after" -gt "$before"
}

impaired "loss 1 %" "roce_adp_retrans" loss 1%
impaired "5 % duplicates" "duplicate_request" duplicate 5%
impaired "reordering" "out_of_seq_request out_of_sequence" delay 1ms reorder 75% 50%
impaired "corruption 1 %" "udp_csum_errors" corrupt 1%
messages=32
impaired "everything at once" "udp_csum_errors" loss 0.5% duplicate 1% corrupt 0.5% delay 200us 150us
gso off
impaired "corruption 1 %, without a UDP checksum" "rx_icrc_encapsulated" corrupt 1%
# Fails on an interface without checksum offload, which has no GSO.
gso on || true

tool "traffic flows on a clean link again" ibv_rc_pingpong -g GID -n 50 -s 10000 -c
