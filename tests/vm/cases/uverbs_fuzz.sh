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

fuzz() # MODE
{
	local options=()
	remember_objects
	on_a link_add fuzz_d sroce fuzz0
	on_a link_add fuzz_u sroce fuzz1
	[[ $1 == rxe ]] || options=(--native)
	tap "$1 mode" on_a "$programs"/uverbs_fuzz --dev fuzz_d --unplug fuzz_u --interface fuzz1 \
		"${options[@]}" --seconds "${SPAN:-$duration}" --seed "${SEED:-1}" ${COUNT:+--count "$COUNT"}
	rdma link show | grep -q '^link fuzz_u' || on_a link_add fuzz_u sroce fuzz1
	rdma link delete fuzz_d &
	rdma link delete fuzz_u &
	check "$1 mode: its devices can be deleted" wait_until 60 no_device
	check "$1 mode: references and objects are as before" wait_until 10 settled
}
no_device() { ! rdma link show | grep '^link fuzz_'; }

on_a add_dummies fuzz 2
insmod /share/module/exporter.ko
duration=20
[[ ! $QUICK ]] || duration=6
export LIMIT=$((${SPAN:-$duration} + 90))
fuzz rxe
fuzz native
tool "traffic flows afterwards" ibv_rc_pingpong -g GID -n 50 -s 10000 -c
no_buffer_is_held() { [[ $(</sys/module/exporter/parameters/state) == "buffers 0 attachments 0 pins 0 maps 0 accesses 0" ]]; }
check "no DMA-BUF is held" wait_until 10 no_buffer_is_held
check "the exporter unloads" wait_until 10 rmmod exporter
