# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# The module is unloaded, a device is deleted, and its interface goes away, while packets are forged,
# rings are scribbled on, keys are guessed, QPs are connected, and objects are created and destroyed.
# guests: one
# links: sroce-sroce
# kernels: debug
# seconds: 180
# stages: vm-debug-hostile
# full: none
set -euo pipefail
. /share/vm/lib.sh
topology
. /share/vm/hostile.sh

attack()
{
	on_b "$programs/raw_flood" --dst "$A_IP" --not mad_of_unknown_version --seconds 60 &
	on_a "$programs/ring_scribble" --dev "$A_DEV" --gid "$A_GID" --peer-dev "$B_DEV" --peer-gid "$B_GID" --seconds 60 &
	on_b "${abuse[@]}" --gid "$B_GID" --peer-gid "$A_GID" --job keys --seconds 60 &
	on_b "${abuse[@]}" --gid "$B_GID" --peer-gid "$A_GID" --job cycle --seconds 60 &
	on_b "${abuse[@]}" --gid "$B_GID" --peer-gid "$A_GID" --job churn --seconds 60 &
}
end_attack()
{
	pkill -KILL -x abuse || true
	pkill -KILL -x ring_scribble || true
	pkill -KILL -x raw_flood || true
}
exists() { [[ -e /sys/class/infiniband/$1 ]]; } # DEVICE
is_gone() { ! exists "$1"; } # DEVICE

# Bring back what is missing.
attach()
{
	load_module sroce
	exists "$A_DEV" || on_a link_add "$A_DEV" sroce "$A_IF"
	exists "$B_DEV" || on_b link_add "$B_DEV" sroce "$B_IF"
	A_GID=$(on_a wait_for_gid "$A_DEV" "$A_IP")
	B_GID=$(on_b wait_for_gid "$B_DEV" "$B_IP")
}
connect()
{
	ip link add "$A_IF" netns a type veth peer name "$B_IF" netns b
	on_a address_add "$A_IF" "$A_IP" "$A_IP6"
	on_b address_add "$B_IF" "$B_IP" "$B_IP6"
}
under_attack() { (($(counter "$A_DEV" resp_remote_access_errors) > 0 && $(counter "$A_DEV" drop_no_qp) > 0)); }

# during_attack NAME COMMAND...: the command, which must end, while the attacks reach the device
during_attack()
{
	local name=$1
	shift
	attack >/dev/null 2>&1
	check "$name: the attacks reach the device" wait_until 20 under_attack
	check "$name" timeout $((20 * TIME_FACTOR)) "$@"
}

remember_state
for round in 1 2 3 4; do
	during_attack "round $round: the module unloads" rmmod sroce
	end_attack
	attach
done
for round in 1 2 3; do
	during_attack "round $round: the device is deleted" rdma link delete "$A_DEV"
	check "round $round: it is gone" is_gone "$A_DEV"
	check "round $round: the other is not" exists "$B_DEV"
	end_attack
	attach
	during_attack "round $round: the interface is deleted" ip -n a link delete "$A_IF"
	check "round $round: its device goes with it" wait_until 20 is_gone "$A_DEV"
	check "round $round: and that of the other end of the veth pair" wait_until 20 is_gone "$B_DEV"
	end_attack
	connect
	attach
done
wait || true
check_state "after all"
tool "traffic flows afterwards" ibv_rc_pingpong -g GID -n 50 -s 10000 -c
