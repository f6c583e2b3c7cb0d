# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Memory is deregistered while packets for it are in flight, at either end, under WRITE and READ.
# guests: any
# seconds: 60
set -euo pipefail
. /share/vm/lib.sh
MTU=4500 topology

rounds=25
[[ ! $QUICK ]] || rounds=8
# rdma_rxe ends a WRITE whose source has gone with a flush instead of LOC_PROT_ERR.
rxe_lacks=()
[[ $A_TYPE$B_TYPE != *rxe* ]] || rxe_lacks=(--skip "the source of a WRITE")
duet "in flight" mr_race --rounds $rounds "${rxe_lacks[@]}"
tool "data flows afterwards" ibv_rc_pingpong -g GID -n 50 -s 10000 -c
