# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Memory is deregistered at either end while packets of a WRITE or READ are in flight.
# guests: any
# seconds: 60
# full: vm-newest-rxe vm-newest-native vm-debug vm-6.12 vm-6.1
set -euo pipefail
. /share/vm/lib.sh
MTU=4500 topology

rounds=25
[[ ! $QUICK ]] || rounds=8
# When the source of a WRITE is deregistered, rdma_rxe flushes instead of reporting LOC_PROT_ERR.
skip=''
[[ $A_TYPE != rxe ]] || skip="server:the source of a WRITE"
[[ $B_TYPE != rxe ]] || skip+="${skip:+,}client:the source of a WRITE"
duet "in flight" mr_race --rounds $rounds ${skip:+--skip "$skip"}

# Packets are queued out of order and placed coalesced, while memory is deregistered. netem must not
# lose packets: a lost final ACK of a connection would fail the test.
if [[ $A_TYPE$B_TYPE != *rxe* ]]; then
	before=$(counter_at a out_of_seq_request)
	netem delay 300us 200us limit 4000
	duet "in flight, out of order" mr_race --rounds $rounds
	netem
	check "requests were queued out of order" test $(($(counter_at a out_of_seq_request) - before)) -ge 100
fi
tool "traffic flows afterwards" ibv_rc_pingpong -g GID -n 50 -s 10000 -c
