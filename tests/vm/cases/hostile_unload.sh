# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# The module is unloaded and loaded while packets are forged, rings are scribbled on, keys are guessed,
# QPs are connected, and objects are created and destroyed.
# guests: one
# links: sroce-sroce
# kernels: debug
# seconds: 120
# stages: vm-debug-hostile
# full: none
set -euo pipefail
. /share/vm/lib.sh
topology
. /share/vm/hostile.sh

attack()
{
	on_a "$programs/ring_scribble" --dev "$A_DEV" --gid "$A_GID" --peer-dev "$B_DEV" --peer-gid "$B_GID" --seconds 60 &
	on_b "${abuse[@]}" --gid "$B_GID" --peer-gid "$A_GID" --job keys --seconds 60 &
	on_b "${abuse[@]}" --gid "$B_GID" --peer-gid "$A_GID" --job cycle --seconds 60 &
	on_b "${abuse[@]}" --gid "$B_GID" --peer-gid "$A_GID" --job churn --seconds 60 &
}
attach()
{
	load_module sroce
	on_a link_add "$A_DEV" sroce "$A_IF"
	on_b link_add "$B_DEV" sroce "$B_IF"
	A_GID=$(on_a wait_for_gid "$A_DEV" "$A_IP")
	B_GID=$(on_b wait_for_gid "$B_DEV" "$B_IP")
}
under_attack() { (($(counter "$A_DEV" resp_remote_access_errors) > 0 && $(counter "$A_DEV" drop_no_qp) > 0)); }

on_b "$programs/raw_flood" --dst "$A_IP" --not mad_of_unknown_version --seconds 600 >/dev/null 2>&1 &
for round in 1 2 3 4; do
	attack >/dev/null 2>&1
	check "round $round: the attacks reach the device" wait_until 20 under_attack
	check "round $round: the module unloads" timeout $((20 * TIME_FACTOR)) rmmod sroce
	pkill -KILL -x abuse || true
	pkill -KILL -x ring_scribble || true
	attach
done
pkill -x raw_flood || true
wait || true
tool "traffic flows afterwards" ibv_rc_pingpong -g GID -n 50 -s 10000 -c
