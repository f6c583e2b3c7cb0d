# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# FLUSH and ATOMIC WRITE: values, order, errors, and with loss and duplicates. rdma_rxe as either end.
# seconds: 60
# stages: vm-newest vm-newest-rxe vm-newest-native
# full: vm-kcsan vm-debug vm-debug-native vm-6.12
set -euo pipefail
. /share/vm/lib.sh
topology

both_ends() # OPTION...
{
	"$programs"/placement_verify --dev "$A_DEV" --gid "$A_GID" --peer-dev "$B_DEV" --peer-gid "$B_GID" "$@"
}
# User-mode Linux cannot write back a part of a cache.
persistence=()
[[ $KERNEL == @(newest|parallel|debug) ]] || persistence=(--persistence)
# rdma_rxe has a checksum of FLUSH that no other device accepts, or sends.
if [[ $A_TYPE$B_TYPE != srocesroce ]]; then
	tap "placement" both_ends --no-flush "${persistence[@]}"
	exit 0
fi
tap "placement" both_ends "${persistence[@]}"
expect_counter b resp_remote_access_errors -ge 9
expect_counter a req_remote_access_errors -eq "$(counter_at b resp_remote_access_errors)"
netem loss 1% duplicate 2%
tap "loss and duplicates" both_ends --faults
netem loss 1% duplicate 2% delay 1ms reorder 20%
tap "reordering" both_ends --faults
netem
check "there were duplicates" test "$(counter "$B_DEV" duplicate_request)" -ge 1
