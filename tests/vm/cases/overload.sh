# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Eight QPs in both directions send faster than the receivers can take, with perftest's default ACK
# timeout of 67 ms. Packets wait longer than that, and none is lost: no QP may run out of retries, and
# CNPs must not take the capacity.
# guests: any
# seconds: 120
# stages: vm-6.12-two
# full: vm-6.1-two vm-6.12
set -euo pipefail
. /share/vm/lib.sh
topology

# At the ends that are sroce: rdma_rxe neither marks nor counts CNPs.
sum() # COUNTER
{
	local end total=0
	for end in a b; do
		[[ $end$A_TYPE == arxe || $end$B_TYPE == brxe ]] || total=$((total + $(counter_at $end "$1")))
	done
	echo $total
}

declare -A rate cnps packets
for qps in 1 8; do
	tool "ib_write_bw with $qps QPs, both directions" ib_write_bw -x GID -F -q $qps -b -s 16384 -n $((400 / qps))
	rate[$qps]=$(awk 'NF == 5 && $1 == 16384 { print $4 }' <<<"$pair_output")
	cnps[$qps]=$(sum np_cnp_sent) packets[$qps]=$(sum rcvd_pkts)
	echo "#   ${rate[$qps]} MiB/s"
done
for counter in np_cnp_sent roce_adp_retrans local_ack_timeout_err duplicate_request; do
	echo "#   $counter: $(sum $counter)"
done
awk -v one="${rate[1]}" -v eight="${rate[8]}" 'BEGIN { if (one) printf "# ratio of the rates, 8 QPs : 1 QP: %.2f\n", eight / one }'
sent=$((cnps[8] - cnps[1])) received=$((packets[8] - packets[1]))
echo "# CNPs sent, packets received, 8 QPs: $sent, $received"
[[ $A_TYPE$B_TYPE == rxerxe ]] || check "CNPs are few: fewer than one for ten packets" test $((10 * sent)) -lt "$received"
