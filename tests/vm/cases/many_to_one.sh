# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Eight senders, one receiver, and before it a slow port of a switch that marks: with dcqcn nothing is dropped, the queue does not
# stand, and everybody gets on; with none all windows stand in the queue. How well it goes: scripts/bench many.
# guests: one
# links: sroce-sroce
# seconds: 300
set -euo pipefail
. /share/vm/lib.sh
. /share/vm/incast.sh
incast_topology

# 128 packets of each sender are on their way, however short the path is: as much as a half has in the stack, and so in the port.
windows=$((SENDERS * 128 * 1024)) looks=21
[[ ! $QUICK ]] || looks=11

# What is queued at the port: the median of some looks.
standing_queue()
{
	local look
	for ((look = 0; look < looks; look++)); do
		port_statistics | cut -d' ' -f3
		sleep 0.1
	done | sort -n | sed -n $((looks / 2 + 1))p
}

# In percent of an equal share, what the one moved who moved least.
least_share() # "BYTES... before" "BYTES... after"
{
	awk -v before="$1" -v after="$2" 'BEGIN {
		n = split(before, b); split(after, a)
		for (i = 1; i <= n; i++) { moved = a[i] - b[i]; sum += moved; if (i == 1 || moved < least) least = moved }
		printf "%d\n", sum ? 100 * n * least / sum : 0
	}'
}

# flows NAME ALGORITHM QDISC OPTION...; sets queued, share, dropped, marked
flows()
{
	local name=$1 before _
	set_all cc "$2" rp_min_rate 1
	shift 2
	bottleneck "$@"
	start_flows
	sleep $((2 * TIME_FACTOR))
	before=$(all_sent)
	queued=$(standing_queue)
	share=$(least_share "$before" "$(all_sent)")
	read -r _ dropped _ marked <<<"$(port_statistics)"
	stop_flows
	echo "# $name: $queued bytes queued, least share $share %, $dropped dropped, $marked marked"
	check "$name: the port has marked" test "$marked" -gt 0
}

controlled() # NAME QDISC OPTION...
{
	local name=$1 sent handled
	shift
	sent=$(sum_of np_cnp_sent sroce_d) handled=$(senders_sum rp_cnp_handled)
	flows "$name" dcqcn "$@"
	check "$name: marks are answered with CNPs" test "$(sum_of np_cnp_sent sroce_d)" -gt "$sent"
	check "$name: CNPs are heeded" test "$(senders_sum rp_cnp_handled)" -gt "$handled"
	check "$name: the port drops nothing" test "$dropped" -eq 0
	check "$name: the queue is below half of the windows, $queued of $windows" test "$queued" -lt $((windows / 2))
	check "$name: nobody waits_rwqe, the least has $share % of an equal share" test "$share" -ge 20
}

uncontrolled() # NAME QDISC OPTION...
{
	local name=$1
	shift
	flows "$name" none "$@"
	check "$name: the windows stand in the queue, $queued of $windows" test "$queued" -gt $((windows / 2))
}

red=(red limit 4mb min 60kb max 180kb avpkt 1000 burst 100 probability 0.1 bandwidth 100mbit ecn)
fq_codel=(fq_codel limit 10000 ce_threshold 1ms ecn)
controlled "dcqcn, RED" "${red[@]}"
uncontrolled "no control, RED" "${red[@]}"
controlled "dcqcn, fq_codel" "${fq_codel[@]}"
uncontrolled "no control, fq_codel" "${fq_codel[@]}"
