# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# A thousand times: resolve, connect with private data, SEND, WRITE, verify, disconnect, destroy.
# Some connections are rejected. Nothing is left behind.
# guests: any
# seconds: 90
# full: vm-newest-rxe vm-newest-native vm-debug vm-6.12 vm-6.12-sizes vm-6.1
set -euo pipefail
. /share/vm/lib.sh
topology
export LIMIT=80

cycles=900 over_ipv6=100
[[ ! $QUICK ]] || cycles=150 over_ipv6=50

objects() { rdma resource show; }
objects_at() { "on_$1" objects | sed "s/^[0-9]*: //" | sort; }
export -f objects

before=$(objects_at a; objects_at b)
tap_pair "$cycles cycles" "$programs"/cm_cycle --server -- "$programs"/cm_cycle --client "$A_IP" --cycles $cycles
tap_pair "$over_ipv6 cycles over IPv6" "$programs"/cm_cycle --server --family 6 -- \
	"$programs"/cm_cycle --client "$A_IP6" --cycles $over_ipv6
as_before() { [[ $(objects_at a; objects_at b) == "$before" ]]; }
check "the connections leave no objects behind" wait_until 10 as_before
