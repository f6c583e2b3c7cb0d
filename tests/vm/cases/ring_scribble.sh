# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# A process scribbles on the SQ, RQ, SRQ and CQ rings that it shares with the kernel, while another
# verifies its traffic over the same devices. Only the scribbler may be harmed.
# guests: one
# links: sroce
# seconds: 90
# stages: vm-newest vm-newest-native vm-debug vm-6.12
# full: vm-debug-native vm-6.1
set -euo pipefail
. /share/vm/lib.sh
MTU=4500 topology

duration=10
[[ ! $QUICK ]] || duration=5

before=$(rdma_log)
for seed in 1 $RANDOM; do
	echo "# seed $seed"
	tap "seed $seed" on_a "$programs"/ring_scribble --dev "$A_DEV" --gid "$A_GID" --peer-dev "$B_DEV" --peer-gid "$B_GID" \
		--seconds $duration --seed "$seed"
done
check "the kernel logs nothing" logs_nothing_since "$before"
tool "traffic flows afterwards" ibv_rc_pingpong -g GID -n 50 -s 10000 -c
