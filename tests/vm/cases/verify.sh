# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# rc_verify: every opcode at every size and path MTU with random SGE splits, chains, fences, RNR,
# errors, flush, SQD. It checks every byte, guard byte and completion field, in both directions.
# guests: any
# seconds: 150
# stages: vm-newest vm-newest-rxe vm-newest-native vm-debug
# full: vm-smp vm-kcsan vm-6.12 vm-6.1 vm-6.12-two vm-6.1-two vm-debug-native vm-debug-rxe vm-6.12-sizes vm-6.12-two-rxe vm-6.1-two-rxe
set -euo pipefail
. /share/vm/lib.sh
MTU=4500 topology
export LIMIT=120

# rc_verify does only what both devices say that they can do, so check what ours says.
limits_of() { ibv_devinfo -v -d "$1" | awk '$1 ~ /^(max_sge|max_qp_rd_atom|max_qp_init_rd_atom|atomic_cap|active_mtu):$/ { printf "%s%s ", $1, $2 }'; }
export -f limits_of
limits="^max_sge:32 max_qp_rd_atom:128 max_qp_init_rd_atom:128 atomic_cap:ATOMIC_GLOB active_mtu:4096 $"
[[ $A_TYPE == rxe ]] || says "A has all capabilities" 0 "$limits" on_a limits_of "$A_DEV"
[[ $B_TYPE == rxe ]] || says "B has all capabilities" 0 "$limits" on_b limits_of "$B_DEV"

skip=$(rxe_lacks)
if [[ $QUICK ]]; then
	duet "quick" rc_verify --quick ${skip:+--skip "$skip"}
else
	duet "all" rc_verify --rounds 1 ${skip:+--skip "$skip"}
fi
