# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Eight senders and one receiver behind a slow switch port that marks. Nothing is dropped, and every
# message, mark and CNP arrives once. With dcqcn, the queue is short and the senders share the port.
# Without congestion control, the senders fill the queue. scripts/bench many measures how well dcqcn
# does.
# guests: one
# links: sroce-sroce
# seconds: 300
set -euo pipefail
. /share/vm/lib.sh
. /share/vm/incast.sh
incast_topology

# Without congestion control, back-pressure lets each sender have 80 skbs in the stack, here of a
# packet each. They queue at the port.
allowed=$((SENDERS * 80 * 1024)) samples=11 messages=60

# The bytes queued at the port: the median of several samples.
standing_queue()
{
	local sample
	for ((sample = 0; sample < samples; sample++)); do
		port_statistics | cut -d' ' -f3
		sleep 0.1
	done | sort -n | sed -n $((samples / 2 + 1))p
}

# The bytes of the slowest sender, in percent of an equal share.
least_share() # "BYTES... before" "BYTES... after"
{
	awk -v before="$1" -v after="$2" 'BEGIN {
		n = split(before, b); split(after, a)
		for (i = 1; i <= n; i++) { moved = a[i] - b[i]; sum += moved; if (i == 1 || moved < least) least = moved }
		printf "%d\n", sum ? 100 * n * least / sum : 0
	}'
}

senders=$(each_sender | sed s/^/sroce_h/)

# Print every counter that flows() compares, summed over the receiver or the senders.
totals()
{
	local name
	for name in rcvd_bytes np_ecn_marked_roce_packets np_cnp_sent out_of_sequence; do
		echo "$name $(sum_of $name sroce_d)"
	done
	for name in sent_bytes rp_cnp_handled rp_cnp_ignored drop_no_qp roce_adp_retrans; do
		# shellcheck disable=SC2086
		echo "$name $(sum_of $name $senders)"
	done
}
rise() { awk -v name="$1" '$1 == name { was = now; now = $2 } END { print now - was }' /tmp/before /tmp/after; } # COUNTER

port_is_empty() { [[ $(port_statistics | cut -d' ' -f3) == 0 ]]; }

# flows NAME ALGORITHM QDISC OPTION...; sets queued, share. Measures flows that never end, and then
# counts what flows of some messages transfer.
flows()
{
	local name=$1 before dropped marked _
	set_all cc "$2" rp_min_rate 1
	shift 2
	bottleneck "$@"
	start_flows
	sleep $((2 * TIME_FACTOR))
	before=$(all_sent)
	queued=$(standing_queue)
	share=$(least_share "$before" "$(all_sent)")
	stop_flows
	wait_until 30 port_is_empty

	bottleneck "$@"
	totals >/tmp/before
	start_flows $messages
	finish_flows
	read -r _ dropped _ marked <<<"$(port_statistics)"
	totals >/tmp/after
	echo "# $name: $queued bytes queued, least share $share %, $dropped dropped, $marked marked"
	paste -d' ' /tmp/before /tmp/after | awk '{ print "#   " $1 " +" $4 - $2 }'
	check "$name: every end of every flow has transferred $messages messages" test "$broken_flows" -eq 0
	check "$name: the port drops nothing" test "$dropped" -eq 0
	check "$name: the port marks packets" test "$marked" -gt 0
	check "$name: the receiver counts $marked marks" test "$(rise np_ecn_marked_roce_packets)" -eq "$marked"
	check "$name: every byte sent is received" test "$(rise rcvd_bytes)" -eq "$(rise sent_bytes)"
	check "$name: every CNP sent is received" \
		test $(($(rise rp_cnp_handled) + $(rise rp_cnp_ignored))) -eq "$(rise np_cnp_sent)"
	check "$name: nothing arrives out of order" test "$(rise out_of_sequence)" -eq 0
}

controlled() # NAME QDISC OPTION...
{
	local name=$1
	shift
	flows "$name" dcqcn "$@"
	check "$name: the receiver sends CNPs" test "$(rise np_cnp_sent)" -gt 0
	check "$name: the senders handle all of them" test "$(rise rp_cnp_handled)" -eq "$(rise np_cnp_sent)"
	# A slow kernel handles CNPs so late that its queue says more about the host.
	[[ $QUICK ]] || check "$name: the queue is below half of that, $queued of $allowed" test "$queued" -lt $((allowed / 2))
	check "$name: the slowest sender has $share % of an equal share" test "$share" -ge 50
}

uncontrolled() # NAME QDISC OPTION...
{
	local name=$1
	shift
	flows "$name" none "$@"
	check "$name: the senders fill the queue, $queued of $allowed" test "$queued" -gt $((allowed / 2))
	check "$name: the slowest sender has $share % of an equal share" test "$share" -ge 50
}

red=(red limit 4mb min 15kb max 60kb avpkt 1000 burst 100 probability 0.1 bandwidth 100mbit ecn)
fq_codel=(fq_codel limit 10000 ce_threshold 1ms ecn)
controlled "dcqcn, RED" "${red[@]}"
uncontrolled "no control, RED" "${red[@]}"
controlled "dcqcn, fq_codel" "${fq_codel[@]}"
uncontrolled "no control, fq_codel" "${fq_codel[@]}"
