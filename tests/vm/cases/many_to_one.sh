# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Eight senders and one receiver behind a slow switch port that marks. With dcqcn, nothing is
# dropped, the queue is short, and every sender makes progress. Without congestion control, all
# windows stand in the queue. scripts/bench many measures how well dcqcn does.
# guests: one
# links: sroce-sroce
# seconds: 300
set -euo pipefail
. /share/vm/lib.sh
. /share/vm/incast.sh
incast_topology

# Without congestion control, each sender has 128 packets in flight, its TSQ limit. They queue at
# the port.
windows=$((SENDERS * 128 * 1024)) samples=21
[[ ! $QUICK ]] || samples=11

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
	check "$name: the port marks packets" test "$marked" -gt 0
}

controlled() # NAME QDISC OPTION...
{
	local name=$1 sent handled
	shift
	sent=$(sum_of np_cnp_sent sroce_d) handled=$(senders_sum rp_cnp_handled)
	flows "$name" dcqcn "$@"
	check "$name: the receiver sends CNPs" test "$(sum_of np_cnp_sent sroce_d)" -gt "$sent"
	check "$name: the senders handle CNPs" test "$(senders_sum rp_cnp_handled)" -gt "$handled"
	check "$name: the port drops nothing" test "$dropped" -eq 0
	check "$name: the queue is below half of the windows, $queued of $windows" test "$queued" -lt $((windows / 2))
	check "$name: every sender makes progress, the slowest has $share % of an equal share" test "$share" -ge 20
}

uncontrolled() # NAME QDISC OPTION...
{
	local name=$1
	shift
	flows "$name" none "$@"
	check "$name: the windows fill the queue, $queued of $windows" test "$queued" -gt $((windows / 2))
}

red=(red limit 4mb min 60kb max 180kb avpkt 1000 burst 100 probability 0.1 bandwidth 100mbit ecn)
fq_codel=(fq_codel limit 10000 ce_threshold 1ms ecn)
controlled "dcqcn, RED" "${red[@]}"
uncontrolled "no control, RED" "${red[@]}"
controlled "dcqcn, fq_codel" "${fq_codel[@]}"
uncontrolled "no control, fq_codel" "${fq_codel[@]}"
