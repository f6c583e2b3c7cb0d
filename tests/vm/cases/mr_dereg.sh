# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Memory is deregistered while packets for it are in flight, at either end, under WRITE and READ.
# guests: any
# seconds: 60
# full: vm-newest-rxe vm-newest-native vm-debug vm-6.12 vm-6.1
set -euo pipefail
. /share/vm/lib.sh
MTU=4500 topology

rounds=25
[[ ! $QUICK ]] || rounds=8
# rdma_rxe ends a WRITE whose source has gone with a flush instead of LOC_PROT_ERR.
rxe_lacks=()
[[ $A_TYPE$B_TYPE != *rxe* ]] || rxe_lacks=(--skip "the source of a WRITE")
duet "in flight" mr_race --rounds $rounds "${rxe_lacks[@]}"

# What comes before its turn is held, and then placed in rows, in the midst of which memory goes. Nothing is lost: the last word
# of a connection would be missed.
if [[ $A_TYPE$B_TYPE != *rxe* ]]; then
	before=$(counter_at a out_of_seq_request)
	netem delay 300us 200us limit 4000
	duet "in flight, out of order" mr_race --rounds $rounds
	netem
	check "requests were held" test $(($(counter_at a out_of_seq_request) - before)) -ge 100
fi
tool "data flows afterwards" ibv_rc_pingpong -g GID -n 50 -s 10000 -c
