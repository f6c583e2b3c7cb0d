# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# librdmacm's own tools over IPv4 and IPv6: address and route resolution, connect, data, disconnect.
# guests: any
# seconds: 90
# stages: vm-newest vm-newest-rxe vm-newest-native vm-debug vm-6.12 vm-6.1 vm-6.12-two vm-6.1-two
# full: vm-smp vm-kcsan vm-debug-native vm-debug-rxe vm-6.12-two-rxe vm-6.1-two-rxe
set -euo pipefail
. /share/vm/lib.sh
topology

for address in "$A_IP" "$A_IP6"; do
	pair "rping to $address" rping -s -a "$address" -v -V -C 20 -S 4000 -- rping -c -a "$address" -v -V -C 20 -S 4000
	if grep -q 'ping data: rdma-ping-19' <<<"$pair_output"; then
		ok "rping to $address: all 20 pings return"
	else
		not_ok "rping to $address: all 20 pings return" "$pair_output"
	fi
done
pair "ucmatose, 10 connections" ucmatose -c 10 -C 20 -S 2000 -- ucmatose -s "$A_IP" -c 10 -C 20 -S 2000
pair "ucmatose over IPv6" ucmatose -c 2 -b "$A_IP6" -f ip -- ucmatose -s "$A_IP6" -f ip -c 2
check_fails "a connection that nobody listens for is rejected" REJECTED on_b ucmatose -s "$A_IP" -c 1
