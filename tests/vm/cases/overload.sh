# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Eight QPs in both directions send faster than the receivers can take, with perftest's default ACK
# timeout of 67 ms. Packets wait longer than that, and none is lost: no QP may run out of retries.
# guests: any
# seconds: 120
# stages: vm-6.12-two
# full: vm-6.1-two vm-6.12
set -euo pipefail
. /share/vm/lib.sh
topology

for qps in 1 8; do
	tool "ib_write_bw with $qps QPs, both directions" ib_write_bw -x GID -F -q $qps -b -s 16384 -n $((400 / qps))
	echo "#   $(awk 'NF == 5 && $1 == 16384 { print $4 " MiB/s" }' <<<"$pair_output")"
done
for counter in np_cnp_sent roce_adp_retrans local_ack_timeout_err duplicate_request; do
	echo "#   $counter: $(on_a cat "/sys/class/infiniband/$A_DEV/ports/1/hw_counters/$counter") $(on_b cat "/sys/class/infiniband/$B_DEV/ports/1/hw_counters/$counter")"
done
