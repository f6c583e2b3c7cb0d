# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Eight senders share a slow port that marks, once with each congestion-control algorithm. Prints "figure WHAT CONDITION VALUE" lines.
# guests: one
# seconds: 600
set -euo pipefail
. /share/vm/lib.sh
. /share/vm/incast.sh
incast_topology
export LIMIT=120

now_us() { echo "${EPOCHREALTIME/./}"; }

figure() { echo "figure $1 $2 $3"; } # WHAT CONDITION VALUE

jain() # "BYTES... before" "BYTES... after"
{
	awk -v before="$1" -v after="$2" 'BEGIN {
		n = split(before, b); split(after, a)
		for (i = 1; i <= n; i++) { moved = a[i] - b[i]; sum += moved; squares += moved * moved }
		printf "%.3f\n", squares ? sum * sum / (n * squares) : 0
	}'
}

# Prints the median and the greatest queue depth in KiB, sampled every 50 ms.
queue_depths() # SECONDS
{
	local end=$((SECONDS + $1))
	while ((SECONDS < end)); do
		port_statistics | cut -d' ' -f3
		sleep 0.05
	done | sort -n | awk '{ depth[NR] = $1 } END { printf "%d %d\n", depth[int((NR + 1) / 2)] / 1024, depth[NR] / 1024 }'
}

many() # CONDITION ALGORITHM QDISC OPTION...
{
	local condition=$1 bytes from sent dropped marked depths sent_after dropped_after _
	set_all cc "$2" rp_min_rate 1
	shift 2
	bottleneck "$@"
	start_flows
	sleep 5
	bytes=$(all_sent) from=$(now_us)
	read -r sent dropped _ marked <<<"$(port_statistics)"
	read -r -a depths <<<"$(queue_depths 10)"
	read -r sent_after dropped_after _ marked <<<"$(port_statistics)"
	figure utilisation "$condition" "$(awk -v bytes=$((sent_after - sent)) -v us=$(($(now_us) - from)) -v rate="$BOTTLENECK_BYTES" \
		'BEGIN { printf "%.3f\n", bytes / (us / 1e6 * rate) }')"
	figure jain "$condition" "$(jain "$bytes" "$(all_sent)")"
	figure queue_median_KiB "$condition" "${depths[0]}"
	figure queue_max_KiB "$condition" "${depths[1]}"
	figure dropped "$condition" "$dropped_after"
	figure marked "$condition" "$marked"
	stop_flows
}

IFS='|' read -r -a algorithms <<<"$("$programs/sroce" show sroce_d | awk '$1 == "cc" { print $4 }')"
for algorithm in "${algorithms[@]}"; do
	many "red_$algorithm" "$algorithm" red limit 4mb min 60kb max 180kb avpkt 1000 burst 100 probability 0.1 bandwidth 100mbit ecn
	many "fq_codel_$algorithm" "$algorithm" fq_codel limit 10000 ce_threshold 1ms ecn
done
ok "measured"
