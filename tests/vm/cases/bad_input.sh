# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Wrong attributes, keys, addresses, states and lengths from user processes. Each is rejected, or
# ends in the error completion that the standard requires. Other QPs and the kernel are unharmed.
# guests: one
# links: sroce
# seconds: 90
# stages: vm-newest vm-newest-native vm-debug vm-6.12 vm-6.1
# full: vm-debug-native
set -euo pipefail
. /share/vm/lib.sh
topology

# One process opens both devices, because all namespaces share RDMA devices.
before=$(rdma_log)
rows=190 first=$tests_run
tap "bad_input" on_a "$programs"/bad_input --dev "$A_DEV" --gid "$A_GID" --peer-dev "$B_DEV" --peer-gid "$B_GID"
check "all $rows rows were tested" test $((tests_run - first)) -eq $rows
check "the kernel logs nothing" logs_nothing_since "$before"

# Rings and objects of a process are charged to its memory cgroup.
in_group() # COMMAND...
{
	echo $BASHPID >/sys/fs/cgroup/rings/cgroup.procs
	exec "$@"
}
charged() { (($(awk -v key="$1" '$1 == key { print $2 }' /sys/fs/cgroup/rings/memory.stat) >= $2)); } # KEY BYTES
end() # PID
{
	kill "$1"
	wait "$1" || true
}
if mkdir -p /sys/fs/cgroup && mount -t cgroup2 none /sys/fs/cgroup && grep -qw memory /sys/fs/cgroup/cgroup.controllers; then
	echo +memory >/sys/fs/cgroup/cgroup.subtree_control
	mkdir /sys/fs/cgroup/rings
	in_group ip netns exec a ibv_rc_pingpong -d "$A_DEV" -g "$A_GID" -r 10000 >/dev/null 2>&1 &
	# The smaller ring, that of native mode, has 24 bytes for each of 16,384 receives.
	check "rings are charged to the process's memory cgroup" wait_until 10 charged vmalloc $((24 << 14))
	end $!
	in_group ip netns exec a "$programs"/many_objects --dev "$A_DEV" --gid "$A_GID" --count 5000 >/dev/null 2>&1 &
	check "address handles and regions are charged to it, too" wait_until 10 charged slab $((2 << 20))
	end $!
	in_group ip netns exec a "$programs"/reorder_gaps --dev "$B_DEV" --gid "$B_GID" --peer-dev "$A_DEV" --peer-gid "$A_GID" --pairs 32 >/dev/null 2>&1 &
	check "packets in reorder queues are charged to it, too" wait_until 10 charged slab $((8 << 20))
	end $!
	in_group ip netns exec a "$programs"/cq_verify --dev "$A_DEV" --gid "$A_GID" --entries 300000 --fill >/dev/null 2>&1 &
	check "the entries of a large CQ are charged to it when they are written" wait_until 30 charged kernel 19200000
	end $!
	wait_until 5 rmdir /sys/fs/cgroup/rings
else
	skip "rings are charged to the process's memory cgroup" "no memory cgroups"
	skip "address handles and regions are charged to it, too" "no memory cgroups"
	skip "packets in reorder queues are charged to it, too" "no memory cgroups"
	skip "the entries of a large CQ are charged to it when they are written" "no memory cgroups"
fi
umount /sys/fs/cgroup || true
tool "traffic flows afterwards" ibv_rc_pingpong -g GID -n 50 -s 10000 -c
