# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Random calls on a device's file, in both modes: objects come and go, processes share a file and close
# it, and the device is deleted. scripts/vm --set SEED=N --set COUNT=M repeats M calls.
# guests: one
# links: sroce
# seconds: 75
# stages: vm-debug
# full: vm-newest
set -euo pipefail
. /share/vm/lib.sh
MODE=rxe topology

references() { cat /sys/module/sroce/refcnt; }
objects() { rdma resource show | sed 's/^[0-9]*: //' | sort; }
settled() { [[ $(references) == "$start_references" && $(objects) == "$start_objects" ]]; }
fuzz() # MODE
{
	local options=()
	echo "$1" >/sys/module/sroce/parameters/mode
	start_references=$(references) start_objects=$(objects)
	on_a link_add fuzz_d sroce fuzz0
	on_a link_add fuzz_u sroce fuzz1
	[[ $1 == rxe ]] || options=(--native)
	tap "$1 mode" on_a "$programs"/uverbs_fuzz --dev fuzz_d --unplug fuzz_u --interface fuzz1 \
		"${options[@]}" --seconds "${SPAN:-$duration}" --seed "${SEED:-$RANDOM}" ${COUNT:+--count "$COUNT"}
	rdma link show | grep -q '^link fuzz_u' || on_a link_add fuzz_u sroce fuzz1
	rdma link delete fuzz_d &
	rdma link delete fuzz_u &
	check "$1 mode: its devices can be deleted" wait_until 20 no_device
	check "$1 mode: references and objects are as before" wait_until 10 settled
}
no_device() { ! rdma link show | grep '^link fuzz_'; }
add_interfaces()
{
	local i
	for i in 0 1; do
		ip link add fuzz$i type dummy && address_add fuzz$i 10.77.$i.1 fd77:$i::1 || return
	done
}
export -f add_interfaces

on_a add_interfaces
duration=20
[[ ! $QUICK ]] || duration=6
export LIMIT=$((${SPAN:-$duration} + 90))
fuzz rxe
fuzz native
echo rxe >/sys/module/sroce/parameters/mode
tool "traffic flows afterwards" ibv_rc_pingpong -g GID -n 50 -s 10000 -c
