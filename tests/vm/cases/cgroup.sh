# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Egress programs of a cgroup see the packets of devices that its processes have attached.
# guests: one
# links: sroce
# kernels: 6.1 6.12
# seconds: 60
# stages: vm-6.12
# full: vm-6.1
set -euo pipefail
. /share/vm/lib.sh
topology

cgroups=/run/cgroups
mkdir -p $cgroups
mount -t cgroup2 none $cgroups
mkdir -p $cgroups/rdma

# link_add in cgroup "rdma".
add_in_cgroup() # DEVICE TYPE INTERFACE
{
	echo $BASHPID >$cgroups/rdma/cgroup.procs
	link_add "$@"
	echo $BASHPID >$cgroups/cgroup.procs
}
export cgroups
export -f add_in_cgroup

rdma link delete "$A_DEV"
check "the device is attached from the cgroup" on_a add_in_cgroup "$A_DEV" sroce "$A_IF"
A_GID=$(on_a wait_for_gid "$A_DEV" "$A_IP")
tool "traffic flows without a program" ibv_rc_pingpong -g GID -n 20
check "nothing is dropped" test "$(counter "$A_DEV" send_err)" -eq 0

loses() { (($(counter "$A_DEV" send_err) > 0)); }
check "a program is attached that drops everything" "$programs/drop_egress" $cgroups/rdma
on_a ibv_rc_pingpong -d "$A_DEV" -g "$A_GID" -n 20 >/dev/null 2>&1 &
on_a wait_until 20 listens ibv_rc_pingpong
on_b ibv_rc_pingpong -d "$B_DEV" -g "$B_GID" -n 20 "$A_IP" >/dev/null 2>&1 &
check "packets of the cgroup's device are dropped" wait_until 20 loses
check "those of the other device are not" test "$(counter "$B_DEV" send_err)" -eq 0
pkill -x ibv_rc_pingpong || true
wait || true
umount $cgroups
