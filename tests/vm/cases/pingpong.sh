# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Unmodified ibv_rc_pingpong at every path MTU, with polling and with events, over IPv4 and IPv6.
# guests: any
# seconds: 60
# stages: vm-newest vm-newest-rxe vm-newest-native vm-debug vm-6.12 vm-6.1 vm-6.12-two vm-6.1-two
# full: vm-smp vm-debug-native vm-debug-rxe vm-6.12-two-rxe vm-6.1-two-rxe
set -euo pipefail
. /share/vm/lib.sh
MTU=4500 topology

for mtu in 256 512 1024 2048 4096; do
	tool "ibv_rc_pingpong MTU $mtu, data checked" ibv_rc_pingpong -g GID -m $mtu -n 50 -s 10000 -c
done
tool "ibv_rc_pingpong with events" ibv_rc_pingpong -g GID -n 50 -e
tool "ibv_rc_pingpong with the new calls to post" ibv_rc_pingpong -g GID -n 50 -s 10000 -c -N
tool "ibv_rc_pingpong 1 byte" ibv_rc_pingpong -g GID -n 50 -s 1 -c
pair "ibv_rc_pingpong over IPv6" ibv_rc_pingpong -d "$A_DEV" -g "$A_GID6" -n 50 -- \
	ibv_rc_pingpong -d "$B_DEV" -g "$B_GID6" -n 50 "$A_IP"
