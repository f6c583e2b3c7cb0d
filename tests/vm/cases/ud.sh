# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Unreliable datagrams: ibv_ud_pingpong, perftest and librdmacm's udaddy. rc_verify also tests UD.
# guests: any
# seconds: 60
# stages: vm-newest vm-newest-rxe vm-newest-native
# full: vm-debug vm-6.12 vm-6.1 vm-6.12-two vm-debug-native vm-debug-rxe vm-6.12-rxe
set -euo pipefail
. /share/vm/lib.sh
topology

tool "ibv_ud_pingpong" ibv_ud_pingpong -g GID -n 100
tool "ibv_ud_pingpong with events" ibv_ud_pingpong -g GID -n 100 -e
tool "ibv_ud_pingpong, 1 byte" ibv_ud_pingpong -g GID -n 50 -s 1
tool "ibv_ud_pingpong, a full MTU, data checked" ibv_ud_pingpong -g GID -n 50 -s 1024 -c
pair "ibv_ud_pingpong over IPv6" ibv_ud_pingpong -d "$A_DEV" -g "$A_GID6" -n 50 -c -- \
	ibv_ud_pingpong -d "$B_DEV" -g "$B_GID6" -n 50 -c "$A_IP"
tool "ib_send_lat over UD" ib_send_lat -c UD -x GID -F -s 64 -n 100 -I 0 -e
for address in "$A_IP" "$A_IP6"; do
	pair "udaddy to $address" udaddy -b "$address" -c 2 -C 10 -S 500 -- udaddy -s "$address" -c 2 -C 10 -S 500
done
