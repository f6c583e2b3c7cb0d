# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Unmodified qperf, whose tests of RC can use rdma_cm. Those of UC and UD know no GIDs, so that RoCE has no route for them.
# guests: any
# links: sroce
# seconds: 90
# stages: vm-newest-native
# full: vm-newest vm-debug vm-debug-native vm-6.12
set -euo pipefail
. /share/vm/lib.sh
topology

# These two check the value that each of many outstanding atomics returns.
tests="ver_rc_compare_swap ver_rc_fetch_add"
[[ $KERNEL$MODE == newestnative ]] ||
	tests+=" rc_lat rc_bw rc_bi_bw rc_rdma_write_poll_lat rc_rdma_read_lat rc_rdma_read_bw rc_rdma_write_lat rc_rdma_write_bw rc_compare_swap_mr rc_fetch_add_mr"
port=20000
for test in $tests; do
	# "quit" ends the server, of which something stays for a while. A second is the least time; 0 is for ever.
	# qperf 0.4.11 tells its client the port before it listens there. A client that is faster is rejected: no such service.
	for _ in 1 2 3; do
		port=$((port + 1)) status=0
		talk qperf -lp $port -- qperf "$A_IP" -lp $port -cm 1 -t 1 "$test" quit || status=1
		[[ $pair_output == *"Event rejected"* ]] || break
	done
	if ((status == 0)); then ok "qperf $test"; else not_ok "qperf $test" "$pair_report"; fi
done
