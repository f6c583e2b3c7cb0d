# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# librpma, whose data both ends compare: WRITE, READ, immediate data, flush and messages, also of connections that share a
# receive queue.
# guests: any
# links: sroce
# seconds: 90
# parts: librpma
# stages: none
# full: vm-newest vm-newest-native
set -euo pipefail
. /share/vm/lib.sh
topology

remember_objects
rounds=500
[[ ! $QUICK ]] || rounds=50
tap_pair "librpma" "$programs/rpma_verify" --server "$A_IP" --rounds $rounds -- "$programs/rpma_verify" --client "$A_IP" --rounds $rounds
check "nothing is left" wait_until 20 settled
