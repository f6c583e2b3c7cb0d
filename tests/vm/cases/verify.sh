# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# rc_verify: every opcode at every size and path MTU with random SGE splits, chains, fences, RNR,
# errors, flush, SQD. It checks every byte, guard byte and completion field, in both directions.
# guests: any
# seconds: 150
# stages: vm-newest vm-newest-rxe vm-newest-native vm-debug
# full: vm-6.12 vm-6.1 vm-6.12-two vm-6.1-two vm-debug-native vm-debug-rxe vm-6.12-sizes vm-6.12-two-rxe vm-6.1-two-rxe
set -euo pipefail
. /share/vm/lib.sh
MTU=4500 topology
export LIMIT=120

# rdma_rxe never leaves SQD, and reports SEND_WITH_INV with wrong flags.
rxe_lacks=()
[[ $A_TYPE$B_TYPE != *rxe* ]] || rxe_lacks=(--skip "SQD,SEND_WITH_INV")
if [[ $QUICK ]]; then
	duet "quick" rc_verify --quick "${rxe_lacks[@]}"
else
	duet "all" rc_verify --rounds 1 "${rxe_lacks[@]}"
fi
