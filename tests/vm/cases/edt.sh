# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# A slow fq stops the sender instead of dropping its packets.
# Under fq, paced packets carry their departure time. The pacer's own timer fires less often, and
# the rate is the same. sroce notices when fq is added or removed under traffic.
# guests: one
# links: sroce-sroce
# seconds: 180
# kernels: newest debug
set -euo pipefail
. /share/vm/lib.sh
. /share/vm/incast.sh
SENDERS=1 QUEUES=2
incast_topology

H1_GID=$(in_namespace h1 wait_for_gid sroce_h1 "$(address_of h1)")

# --- a queue pair that is not paced waits for a slow qdisc ----------------------------------------

transfer() # TOOL OPTION...
{
	in_namespace d "$@" -d sroce_d -x "$D_GID" >/dev/null 2>&1 &
	in_namespace d wait_until 10 listens "$1"
	in_namespace h1 timeout $((20 * TIME_FACTOR)) "$@" -d sroce_h1 -x "$H1_GID" "$D_IP"
	wait
}

dropped() { in_namespace "$1" tc -s qdisc show dev eth0 | sed -n 's/.*dropped \([0-9]*\).*/\1/p'; } # NAMESPACE

# A flow of fq has at most 100 skbs.
for host in h1 d; do
	in_namespace $host tc qdisc replace dev eth0 root fq maxrate 400mbit
done
for tool in "ib_write_bw -s 65536 -n 200" "ib_write_bw -s 64 -n 10000" "ib_read_bw -s 65536 -n 200" \
	"ib_send_bw -c UD -s 1024 -n 10000"; do
	# shellcheck disable=SC2086
	check "slow fq: $tool" transfer $tool -F -m 1024
	check "slow fq: $tool: no packet is dropped" test "$(dropped h1) $(dropped d)" = "0 0"
done
for host in h1 d; do
	check "slow fq: $host lost nothing" test "$(counter sroce_$host send_err)" -eq 0
	in_namespace $host tc qdisc delete dev eth0 root
done

# --- or slows down, if the qdisc orphans packets --------------------------------------------------

is_paced() { (($(counter "sroce_$1" pacing_wakeups) > $2)); } # NAMESPACE FORMER-COUNT
export -f is_paced

set_all rp_rate_to_set_on_first_cnp 100
in_namespace d tc qdisc replace dev eth0 root netem rate 400mbit limit 100
check "slow netem: ib_read_bw" transfer ib_read_bw -F -m 1024 -s 65536 -n 200
check "slow netem: packets are dropped" test "$(dropped d)" -gt 0
check "slow netem: the sender is paced" is_paced d 0
in_namespace d tc qdisc delete dev eth0 root
set_all rp_rate_to_set_on_first_cnp 0

# --- packets carry departure times ----------------------------------------------------------------

# The switch marks every packet, so that both ends stay at their lowest rate, even if a slow machine
# makes them pause.
mbps=100
mark_all() # PORT
{
	in_switch tc qdisc replace dev "$1" root handle 1: prio bands 2 priomap 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
	in_switch tc filter add dev "$1" parent 1: protocol ip u32 match ip protocol 17 0xff match ip tos 0x2 0x3 flowid 1:2
	in_switch tc qdisc replace dev "$1" parent 1:2 handle 2: netem limit 10000 loss 100% ecn
}
mark_all to_d
mark_all to_h1
set_all rp_min_rate $mbps rp_max_rate $((2 * mbps)) rp_time_reset 131071 rp_byte_reset 0

# Run a tool between h1 and d until stop, at idle priority because it polls.
start() # TOOL
{
	local flow=(chrt -i 0 "$1" -F -m 1024 -s 65536 -u 18 -n 100000)
	in_namespace d "${flow[@]}" -d sroce_d -x "$D_GID" >/dev/null 2>&1 &
	in_namespace d wait_until 10 listens "$1"
	in_namespace h1 "${flow[@]}" -d sroce_h1 -x "$H1_GID" "$D_IP" >/dev/null 2>&1 &
}

stop() # TOOL
{
	pkill -x "$1"
	wait || true
}

qdisc() # none|fq|mq|...
{
	case $1 in
	none) in_namespace "$sender" tc qdisc delete dev eth0 root ;;
	mq)
		in_namespace "$sender" tc qdisc replace dev eth0 root handle 8: mq
		in_namespace "$sender" tc qdisc replace dev eth0 parent 8:1 fq
		in_namespace "$sender" tc qdisc replace dev eth0 parent 8:2 fq
		;;
	*) in_namespace "$sender" tc qdisc replace dev eth0 root "$1" ;;
	esac
}

# How often fq had to wait for the departure time of a packet.
throttled()
{
	in_namespace "$sender" tc -s qdisc show dev eth0 |
		awk '/highprio/ { for (i = 1; i < NF; i++) if ($i == "throttled") sum += $(i + 1) } END { print sum + 0 }'
}

# Sets woken, the pacer's timer expiries per 1000 packets, and rate, in Mb/s.
observe()
{
	local device=sroce_$sender from=${EPOCHREALTIME/./} wakeups packets bytes
	wakeups=$(counter "$device" pacing_wakeups) packets=$(counter "$device" sent_pkts) bytes=$(counter "$device" sent_bytes)
	sleep $((1 * TIME_FACTOR))
	woken=$((($(counter "$device" pacing_wakeups) - wakeups) * 1000 / ($(counter "$device" sent_pkts) - packets + 1)))
	rate=$((($(counter "$device" sent_bytes) - bytes) * 8 / (${EPOCHREALTIME/./} - from)))
}

# Observe until the rate is at least half of RATE, at most three times, because both ends may pause
# on a busy machine.
observe_at_least() # RATE
{
	local attempt
	for attempt in 1 2 3; do
		observe
		((rate * 2 <= $1)) || break
		echo "# $rate Mb/s in attempt $attempt"
	done
}

# flow TOOL NAMESPACE: run the tool, whose data leaves that namespace, under one qdisc after the
# other
flow()
{
	local name plain_woken plain_rate kind sender=$2
	start "$1"
	check "$1: traffic flows and is paced" wait_until 10 is_paced "$sender" "$(counter "sroce_$sender" pacing_wakeups)"
	for kind in pfifo fq pfifo mq none; do
		qdisc $kind
		# Packets in the old qdisc are lost; give the sender time to recover.
		sleep $((1 * TIME_FACTOR))
		observe_at_least "${plain_rate:-0}"
		name="$1, $kind"
		echo "# $name: $woken timer expiries per 1000 packets, $rate Mb/s"
		check "$name: paced" test "$rate" -lt $((mbps * 2))
		if [[ $kind == ?q ]]; then
			check "$name: fq delays packets" test "$(throttled)" -gt 0
			check "$name: the timer fires less often" test $((woken * 3)) -lt $((plain_woken * 2))
			check "$name: the rate is about the same" test $((rate * 2)) -gt "$plain_rate"
		elif [[ ${plain_woken:-} ]]; then
			check "$name: the timer fires as often as before" test $((woken * 3)) -gt $((plain_woken * 2))
		else
			plain_woken=$woken plain_rate=$rate
		fi
	done
	stop "$1"
}

flow ib_write_bw h1
flow ib_read_bw d
