# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Unreliable connections: unmodified tools, and a program that checks every byte, also with loss.
# guests: any
# seconds: 150
# stages: vm-newest vm-newest-rxe vm-newest-native
# full: vm-kcsan vm-debug vm-debug-native vm-6.12 vm-6.1 vm-6.12-two
set -euo pipefail
. /share/vm/lib.sh
MTU=4500 topology
export LIMIT=100

for mtu in 256 1024 4096; do
	tool "ibv_uc_pingpong MTU $mtu" ibv_uc_pingpong -g GID -m $mtu -n 100 -s 10000
done
tool "ibv_uc_pingpong with events" ibv_uc_pingpong -g GID -n 100 -e
tool "ib_send_bw" ib_send_bw -x GID -F -c UC -s 4096 -n 200
tool "ib_send_bw with events, both directions" ib_send_bw -x GID -F -c UC -s 4096 -n 200 -e -b
tool "ib_write_bw, two QPs" ib_write_bw -x GID -F -c UC -s 65536 -n 64 -q 2
tool "ib_send_lat" ib_send_lat -x GID -F -c UC -s 64 -n 100
tool "ib_write_lat" ib_write_lat -x GID -F -c UC -s 64 -n 100 -I 0

[[ $GUESTS == 1 ]] || exit 0
both_ends() # OPTION...
{
	"$programs"/uc_verify --dev "$A_DEV" --gid "$A_GID" --peer-dev "$B_DEV" --peer-gid "$B_GID" "$@"
}
# With rxe, the protection domain of an SRQ must be that of the QP, and errors end differently.
options=()
[[ $A_TYPE$B_TYPE == srocesroce ]] || options=(--traffic)
tap "uc" both_ends "${options[@]}"
netem loss 1%
tap "1 % loss" both_ends --loss
netem
((${#options[@]} == 0)) || exit 0
check "messages without a receive are counted" test "$(counter "$B_DEV" drop_no_wqe)" -ge 2
check "messages with a bad key are counted" test "$(counter "$B_DEV" drop_invalid)" -ge 1
check "messages that are too long are counted" test "$(counter "$B_DEV" drop_length)" -ge 2
check "gaps are counted" test "$(counter "$B_DEV" drop_gap)" -ge 1
