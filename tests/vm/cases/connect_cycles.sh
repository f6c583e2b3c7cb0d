# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# A thousand connections are made, carry data, and are torn down. Nothing is left behind.
# guests: any
# kernels: newest debug 6.12
# seconds: 240
# full: vm-newest-rxe vm-newest-native vm-debug vm-6.12
set -euo pipefail
. /share/vm/lib.sh
topology

for round in {1..10}; do
	pair "ucmatose, 100 connections, round $round" ucmatose -c 100 -C 2 -S 100 -- ucmatose -s "$A_IP" -c 100 -C 2 -S 100
done
left=$(on_a rdma resource show qp; on_b rdma resource show qp)
if grep -v 'type GSI\|type SMI' <<<"$left" | grep -q lqpn; then
	not_ok "no QP is left" "$left"
else
	ok "no QP is left"
fi
