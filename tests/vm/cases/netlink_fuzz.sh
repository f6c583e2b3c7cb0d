# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Random netlink messages from several processes, some without rights or in other namespaces, while
# devices and QPs come and go. scripts/vm --set SEED=N --set COUNT=M repeats M messages of each process.
# guests: one
# links: sroce
# seconds: 75
# stages: vm-debug
# full: vm-newest vm-6.12 vm-6.1
set -euo pipefail
. /share/vm/lib.sh
topology

no_device() { ! rdma link show | grep -E '^link (fuzz_|judged)'; }
# The name differs by several bytes from those that messages are mutated from.
add_judged() { ip link add judge type dummy && ip link set judge up && link_add judged sroce judge; }
export -f add_judged

remember_objects
on_a add_judged
on_a add_dummies fuzz 2
duration=40
[[ ! $QUICK ]] || duration=10
export LIMIT=$((${SPAN:-$duration} + 90))
tap "netlink_fuzz" on_a "$programs"/netlink_fuzz --dev "$A_DEV" --gid "$A_GID" --judged judged --interface judge \
	--seconds "${SPAN:-$duration}" --seed "${SEED:-1}" ${COUNT:+--count "$COUNT"}
# A device that somebody still holds cannot be deleted.
for name in $(rdma link show | sed -nE 's,^link (fuzz_[0-9]|judged)/.*,\1,p'); do
	rdma link delete "$name" &
done
check "its devices can be deleted" wait_until 60 no_device
check "references and objects are as before" wait_until 10 settled
tool "traffic flows afterwards" ibv_rc_pingpong -g GID -n 50 -s 10000 -c
