# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Completion queues of a million entries, whose memory grows by use; moderation; completion vectors.
# guests: one
# links: sroce
# seconds: 150
# stages: vm-newest vm-newest-native
# full: vm-debug vm-debug-native vm-6.12 vm-6.1
set -euo pipefail
. /share/vm/lib.sh
topology
export LIMIT=120

both_ends() # OPTION...
{
	"$programs"/cq_verify --dev "$A_DEV" --gid "$A_GID" --peer-dev "$B_DEV" --peer-gid "$B_GID" "$@"
}
tap "cq" both_ends

# There is a vector for each CPU, and events come with all of them. QEMU guests have two CPUs.
vectors() { ibv_devinfo -v -d "$1" | sed -n 's/^\tnum_comp_vectors:\t*//p'; } # DEVICE
export -f vectors
count=$(on_a vectors "$A_DEV")
check "as many vectors as CPUs" test "$count" = "$(nproc --all)"
for ((vector = 0; vector < count; vector++)); do
	tool "events of completion vector $vector" ib_send_lat -x GID -F -s 64 -n 100 -e -X $vector
done

# A mapping that grows needs the module.
module_is_used() { (($(references) > $1)); }
before=$(references)
"$programs"/cq_verify --dev "$A_DEV" --gid "$A_GID" --entries 20000 --fill &
keeper=$!
check "a process that maps a large CQ holds the module" wait_until 10 module_is_used "$before"
check_fails "the module does not unload" "in use" rmmod sroce
rdma link delete "$A_DEV"
check_fails "the module does not unload without the device either" "in use" rmmod sroce
kill $keeper
wait $keeper || true
check "the module unloads when the process has ended" wait_until 10 rmmod sroce
