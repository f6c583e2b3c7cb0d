# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# A device that a process has added can send even if that process may not, as udevd of systemd. Egress
# programs of the root cgroup see what it sends.
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

# The program stays until it is killed.
drop_egress() # CGROUP
{
	mkdir -p "$keep"
	"$programs/drop_egress" "$1" >"$keep/drop" 2>&1 &
	wait_until 20 grep -qx attached "$keep/drop"
}

rdma link delete "$A_DEV"
check "the device is added from a cgroup" on_a add_in_cgroup "$A_DEV" sroce "$A_IF"
A_GID=$(on_a wait_for_gid "$A_DEV" "$A_IP")
check "the cgroup may send nothing" drop_egress $cgroups/rdma
tool "the device can send" ibv_rc_pingpong -g GID -n 20
check "nothing is dropped" test "$(counter "$A_DEV" send_err)" -eq 0
pkill -x drop_egress

sent=$(counter "$A_DEV" sent_pkts)
sends() { (($(counter "$A_DEV" sent_pkts) > sent + 50)); }
# Either end may be the one that sends.
loses() { (($(counter "$A_DEV" send_err) + $(counter "$B_DEV" send_err) > 0)); }
on_a ibv_rc_pingpong -d "$A_DEV" -g "$A_GID" -n 10000000 >/dev/null 2>&1 &
on_a wait_until 20 listens ibv_rc_pingpong
on_b ibv_rc_pingpong -d "$B_DEV" -g "$B_GID" -n 10000000 "$A_IP" >/dev/null 2>&1 &
check "the device sends" wait_until 20 sends
check "the root cgroup may send nothing" drop_egress $cgroups
check "packets are dropped" wait_until 20 loses
pkill -x drop_egress
pkill -x ibv_rc_pingpong || true
wait || true
umount $cgroups
