# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# A process scribbles on the SQ, RQ, SRQ and CQ rings that it shares with the kernel, while another
# verifies its traffic over the same devices. Only the scribbler may be harmed. The kernel moves
# pages meanwhile, where it can.
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

# Compaction clears all free pages without a pause. An emulated CPU of a busy host takes tens of seconds.
if [[ $QUICK && -w /proc/sys/kernel/watchdog_thresh ]]; then
	threshold=$(</proc/sys/kernel/watchdog_thresh)
	leave_case() { echo "$threshold" >/proc/sys/kernel/watchdog_thresh; }
	echo 60 >/proc/sys/kernel/watchdog_thresh
fi
compacts() { while sleep 0.1; do echo 1 >/proc/sys/vm/compact_memory; done; }
migrated() { awk '$1 == "pgmigrate_success" { n = $2 } END { print n + 0 }' /proc/vmstat; }
compactor=
if [[ -w /proc/sys/vm/compact_memory ]]; then
	compacts &
	compactor=$!
fi

before=$(rdma_log) pages=$(migrated)
for seed in 1 $RANDOM; do
	echo "# seed $seed"
	tap "seed $seed" on_a "$programs"/ring_scribble --dev "$A_DEV" --gid "$A_GID" --peer-dev "$B_DEV" --peer-gid "$B_GID" \
		--seconds $duration --seed "$seed"
done
[[ ! $compactor ]] || { kill "$compactor"; echo "# $(($(migrated) - pages)) pages were moved"; }
check "the kernel logs nothing" logs_nothing_since "$before"
tool "traffic flows afterwards" ibv_rc_pingpong -g GID -n 50 -s 10000 -c
