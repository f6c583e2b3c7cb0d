# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# RoCE over IPv6, between global and between link-local addresses.
# guests: any
# seconds: 60
# stages: vm-newest vm-newest-rxe
# full: vm-newest-native vm-debug vm-6.12 vm-6.1 vm-6.12-two vm-6.12-rxe
set -euo pipefail
. /share/vm/lib.sh
MTU=4500 topology

# Without tentative addresses, which neighbour discovery does not resolve yet.
link_local() { ip -6 -o address show dev "$1" scope link -tentative | sed -n 's/.* inet6 \([^/]*\).*/\1/p' | head -n 1; }
has_link_local() { [[ $(link_local "$1") ]]; }
has_gid_0() { grep -q '^fe80:' "/sys/class/infiniband/$1/ports/1/gids/0"; }
export -f link_local has_link_local has_gid_0

on_a wait_until 10 has_link_local "$A_IF"
on_b wait_until 10 has_link_local "$B_IF"
check "A's first GID is link-local" on_a has_gid_0 "$A_DEV"
check "B's first GID is link-local" on_b has_gid_0 "$B_DEV"
a_local=$(on_a link_local "$A_IF")
echo "# link-local address of A: $a_local"

# IPv6 headers are 20 bytes longer. Packets of path MTU 4096 still fit into the interface's 4500.
for gids in "0 0 link-local" "$A_GID6 $B_GID6 global"; do
	read -r a_gid b_gid scope <<<"$gids"
	for mtu in 1024 4096; do
		pair "ibv_rc_pingpong $scope, MTU $mtu" ibv_rc_pingpong -d "$A_DEV" -g "$a_gid" -m $mtu -n 50 -s 10001 -c -- \
			ibv_rc_pingpong -d "$B_DEV" -g "$b_gid" -m $mtu -n 50 -s 10001 -c "$A_IP"
	done
	pair "ibv_ud_pingpong $scope" ibv_ud_pingpong -d "$A_DEV" -g "$a_gid" -n 50 -c -- \
		ibv_ud_pingpong -d "$B_DEV" -g "$b_gid" -n 50 -c "$A_IP"
	for program in ib_write_bw ib_read_bw ib_send_bw; do
		pair "$program $scope" $program -d "$A_DEV" -x "$a_gid" -F -s 65536 -n 64 -- \
			$program -d "$B_DEV" -x "$b_gid" -F -s 65536 -n 64 "$A_IP"
	done
	pair "ib_atomic_bw $scope" ib_atomic_bw -d "$A_DEV" -x "$a_gid" -F -n 100 -- \
		ib_atomic_bw -d "$B_DEV" -x "$b_gid" -F -n 100 "$A_IP"
	DUET_GID_A=$a_gid DUET_GID_B=$b_gid duet "$scope" rc_verify --duration 2
done
pair "rping, global" rping -s -a "$A_IP6" -v -V -C 20 -S 4000 -- rping -c -a "$A_IP6" -v -V -C 20 -S 4000
pair "rping, link-local" rping -s -a "$a_local%$A_IF" -v -V -C 20 -S 4000 -- rping -c -a "$a_local%$B_IF" -v -V -C 20 -S 4000
