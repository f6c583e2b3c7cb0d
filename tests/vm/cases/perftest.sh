# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Unmodified perftest: every operation, at MTU 1024 and 4096, over sockets and over rdma_cm.
# guests: any
# seconds: 90
# stages: vm-newest vm-newest-rxe vm-newest-native
# full: vm-debug vm-6.12 vm-6.1 vm-6.12-two vm-debug-native vm-debug-rxe vm-6.12-two-rxe vm-6.1-two-rxe
set -euo pipefail
. /share/vm/lib.sh
MTU=4500 topology

# -F: do not check the CPU frequency. -I 0: perftest allows no inline data for an unknown vendor ID.
for mtu in 1024 4096; do
	for program in ib_write_bw ib_read_bw ib_send_bw; do
		tool "$program 64 KiB, MTU $mtu" $program -x GID -F -m $mtu -s 65536 -n 64
	done
done
tool "ib_write_bw 1 MiB, two QPs, both directions" ib_write_bw -x GID -F -s 1048576 -n 8 -q 2 -t 8 -b
tool "ib_send_bw with events" ib_send_bw -x GID -F -s 4096 -n 64 -e
tool "ib_atomic_bw FETCH_AND_ADD" ib_atomic_bw -x GID -F -n 200 -A FETCH_AND_ADD
tool "ib_atomic_bw CMP_AND_SWAP" ib_atomic_bw -x GID -F -n 200 -A CMP_AND_SWAP
tool "ib_write_lat" ib_write_lat -x GID -F -s 64 -n 100 -I 0
tool "ib_read_lat" ib_read_lat -x GID -F -s 64 -n 100
tool "ib_send_lat with events" ib_send_lat -x GID -F -s 64 -n 100 -I 0 -e
# With -R the server of perftest listens a second time after a handshake, and the client does not try
# again. If pollers yield, the client may be first on one CPU.
SROCE_POLL_YIELD=0 tool "ib_write_bw over rdma_cm" ib_write_bw -x GID -F -s 65536 -n 64 -R
