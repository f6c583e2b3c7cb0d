# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# XRC, which only native mode has: unmodified tools, and a program that checks every byte.
# guests: any
# links: sroce
# seconds: 240
# stages: vm-newest
# full: vm-debug vm-6.12 vm-6.1
set -euo pipefail
. /share/vm/lib.sh
export MODE=native
MTU=4500 topology
export LIMIT=60

both_ends() # OPTION...
{
	"$programs"/xrc_verify --dev "$A_DEV" --gid "$A_GID" --peer-dev "$B_DEV" --peer-gid "$B_GID" "$@"
}
if [[ $GUESTS == 1 ]]; then
	tap "xrc" both_ends
	# Each by a region of another queue's protection domain; and messages that find no receive.
	expect_counter b resp_remote_access_errors -eq 3
	expect_counter a req_remote_access_errors -eq 3
	expect_counter b send_rnr_err -ge 1
	expect_counter a rcvd_rnr_err -ge 1
	netem loss 1%
	tap "1 % loss" both_ends --seed 2 --traffic
	netem
fi
lists_xrc() { ibv_devinfo -v -d "$1" | grep -q '^[[:space:]]*XRC$'; }
shows_types() # COMMAND...: while it runs, tools show both types
{
	"$@" >/dev/null 2>&1 &
	wait_until 20 eval 'rdma resource show qp | grep -q "type XRC_INI" && rdma resource show qp | grep -q "type XRC_TGT"'
}
lacks_xrc() # DEVICE
{
	local info
	info=$(ibv_devinfo -v -d "$1")
	grep -q 'max_qp:' <<<"$info" && ! grep -q '^[[:space:]]*XRC$' <<<"$info"
}
export -f lists_xrc lacks_xrc
check "the device reports XRC" on_a lists_xrc "$A_DEV"
tool "ibv_xsrq_pingpong" ibv_xsrq_pingpong -g GID -n 100 -s 5000
tool "ibv_xsrq_pingpong with events" ibv_xsrq_pingpong -g GID -n 100 -s 5000 -e
tool "ib_send_bw" ib_send_bw -x GID -F -c XRC -s 4096 -n 200
tool "ib_send_bw, events" ib_send_bw -x GID -F -c XRC -s 4096 -n 200 -e
tool "ib_send_lat" ib_send_lat -x GID -F -c XRC -s 64 -n 100
tool "ib_write_bw" ib_write_bw -x GID -F -c XRC -s 65536 -n 64
tool "ib_write_bw, two QPs" ib_write_bw -x GID -F -c XRC -s 65536 -n 64 -q 2
tool "ib_read_bw" ib_read_bw -x GID -F -c XRC -s 65536 -n 64
tool "ib_atomic_bw" ib_atomic_bw -x GID -F -c XRC -n 200 -A FETCH_AND_ADD
tool "ib_read_lat" ib_read_lat -x GID -F -c XRC -s 64 -n 100
tool "ib_write_lat" ib_write_lat -x GID -F -c XRC -s 64 -n 100 -I 0
tool "ib_atomic_bw CMP_AND_SWAP" ib_atomic_bw -x GID -F -c XRC -n 200 -A CMP_AND_SWAP
pair "rdma_xclient, over rdma_cm" rdma_xserver -c x -- rdma_xclient -s "$A_IP" -c x

[[ $GUESTS == 1 ]] || exit 0
# The device goes away under traffic: neither a warning nor a reference may stay.
check "initiators and targets are shown with their type" shows_types both_ends --seed 3
for delay in 0.1 0.4; do
	both_ends --seed 4 >/dev/null 2>&1 &
	work=$!
	sleep "$delay"
	rdma link delete "$B_DEV"
	wait $work || true
	check "the device is removed under traffic" test ! -e "/sys/class/infiniband/$B_DEV"
	on_b link_add "$B_DEV" sroce "$B_IF"
	B_GID=$(on_b wait_for_gid "$B_DEV" "$B_IP")
done

MODE=rxe on_a install_provider
check "a process in rxe mode sees no XRC" on_a lacks_xrc "$A_DEV"
