# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# A consumer inside the kernel registers memory for its peer, as NVMe over Fabrics and NFS over RDMA
# do: REG_MR, SEND with invalidate, LOCAL_INV. Invalidated keys do not work, and requests do not
# touch regions that went away while they were queued. Ports and address handles can be modified.
# guests: one
# seconds: 120
# stages: vm-newest vm-newest-rxe vm-debug
# full: vm-6.12 vm-6.1
set -euo pipefail
. /share/vm/lib.sh
topology

commands=20000 under_loss=5000 trials=50 deregistrations=50
[[ ! $QUICK ]] || commands=2000 under_loss=500 trials=5 deregistrations=5

insmod /share/module/ulp.ko
parameter=/sys/module/ulp/parameters/fast_registration

consumer() # TEST FIRST SECOND ROUNDS
{
	echo "$*" >$parameter || { dmesg | grep 'ulp:' | tail -n 1; return 1; }
}

both_ways() # NAME TEST ROUNDS
{
	check "$1, owner $A_DEV" consumer "$2" "$A_DEV" "$B_DEV" "$3"
	check "$1, owner $B_DEV" consumer "$2" "$B_DEV" "$A_DEV" "$3"
}

both_ways "$commands commands" exchange $commands
both_ways "$commands commands, shared receive queue" exchange_shared $commands
both_ways "stale keys" stale_keys $trials
both_ways "port and address handle modified" modify 10
# rdma_rxe may give up under loss, and a queued REG_MR of rdma_rxe follows a pointer to the region.
if [[ $A_TYPE$B_TYPE != *rxe* ]]; then
	nacks=$(counter_at a rcvd_rnr_err)
	both_ways "deregistered while queued" deregister_queued $deregistrations
	check "requests waited for receives" test "$(counter_at a rcvd_rnr_err)" -gt "$nacks"
	before=$(counter_at a roce_adp_retrans)
	netem loss 1%
	both_ways "$under_loss commands, loss 1 %" exchange $under_loss
	netem
	check "packets were retransmitted" test "$(counter_at a roce_adp_retrans)" -gt "$before"
fi
check "the consumer unloads" rmmod ulp
