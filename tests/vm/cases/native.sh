# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# The mode of a process: librxe and our provider open the same device, one after the other and at the
# same time. Then unmodified programs in native mode.
# guests: one
# links: sroce
# seconds: 150
# full: vm-debug vm-6.12 vm-6.1
set -euo pipefail
. /share/vm/lib.sh
MTU=4500 MODE=rxe topology
export LIMIT=120

is_active() { ibv_devinfo -v -d "$1" | grep 'state:.*PORT_ACTIVE'; }
# Only our provider has XRC.
is_native() { ibv_devinfo -v -d "$1" | grep -w XRC; }
is_rxe() { is_active "$1" && ! is_native "$1"; }
ours() { IBV_DRIVERS=$programs/libsroce "$@"; }
both_ends() # PROGRAM: run a program that has both ends in one process
{
	tap "$1" on_a "$programs/$1" --dev "$A_DEV" --gid "$A_GID" --peer-dev "$B_DEV" --peer-gid "$B_GID"
}
export -f is_active is_native is_rxe ours

# --- both providers -------------------------------------------------------------------------------

# The same programs with our provider, whatever the configuration says.
mkdir -p /run/ours
for program in ibv_rc_pingpong ib_write_bw; do
	cat >/run/ours/$program <<-END
		#!/bin/bash
		IBV_DRIVERS=$programs/libsroce exec $program "\$@"
	END
	chmod +x /run/ours/$program
done
pingpong=(-n 200 -s 10000 -c)
between() # NAME SERVER_FOLDER CLIENT_FOLDER
{
	pair "$1" "$2ibv_rc_pingpong" -d "$A_DEV" -g "$A_GID" "${pingpong[@]}" -- "$3ibv_rc_pingpong" -d "$B_DEV" -g "$B_GID" "${pingpong[@]}" "$A_IP"
}
at_once() # ROUNDS: processes of both modes use both devices
{
	local port=18610 folder job jobs=() log=/run/at_once
	# All servers listen before the first client starts.
	for folder in '' /run/ours/ '' /run/ours/; do
		on_a ${folder}ibv_rc_pingpong -p $port -d "$A_DEV" -g "$A_GID" -n "$1" -s 10000 -c -e >>$log &
		jobs+=($!)
		port=$((port + 1))
	done
	for port in {18610..18613}; do
		on_a wait_until 10 port_listens "$port"
	done
	port=18610
	for folder in /run/ours/ '' '' /run/ours/; do
		on_b ${folder}ibv_rc_pingpong -p $port -d "$B_DEV" -g "$B_GID" -n "$1" -s 10000 -c -e "$A_IP" &
		jobs+=($!)
		port=$((port + 1))
	done
	for job in "${jobs[@]}"; do
		wait "$job" || return
	done
	[[ $(grep -c "^$1 iters in" $log) == 4 ]] && ! finds_wrong_data "$(<$log)"
}

check "the provider is built (make userlib)" ls "$programs"/libsroce-rdmav*.so
check "without our provider librxe opens the device" on_a is_rxe "$A_DEV"
check "with our provider it opens the device" on_a ours is_native "$A_DEV"
between "librxe, then our provider" "" /run/ours/
between "our provider, then librxe" /run/ours/ ""
check "processes of both modes at once" at_once 2000

# --- native mode ----------------------------------------------------------------------------------

export MODE=native
on_a install_provider
on_b install_provider
check "the provider is installed" on_a is_native "$A_DEV"
tool "ibv_rc_pingpong, data checked" ibv_rc_pingpong -g GID -n 200 -s 10000 -c
tool "ibv_rc_pingpong with events" ibv_rc_pingpong -g GID -n 50 -e
tool "ibv_rc_pingpong with timestamps" ibv_rc_pingpong -g GID -n 50 -t
tool "ibv_ud_pingpong, data checked" ibv_ud_pingpong -g GID -n 200 -s 1000 -c
tool "ibv_ud_pingpong with events" ibv_ud_pingpong -g GID -n 50 -e
duet "rc_verify" rc_verify --quick
both_ends native_verbs
export SROCE_SINGLE_THREADED=1
tool "ibv_rc_pingpong without locks" ibv_rc_pingpong -g GID -n 200 -s 10000 -c
unset SROCE_SINGLE_THREADED
for posting in "" --use_old_post_send; do
	for program in ib_write_bw ib_read_bw ib_send_bw; do
		tool "$program $posting" $program -x GID -F -s 4096 -n 500 $posting
	done
	tool "ib_write_bw, 32 posts per doorbell $posting" ib_write_bw -x GID -F -s 64 -n 3200 -l 32 $posting
	tool "ib_write_bw, four QPs, both directions $posting" ib_write_bw -x GID -F -s 1024 -n 200 -q 4 -b $posting
	tool "ib_write_lat $posting" ib_write_lat -x GID -F -s 64 -n 100 $posting
	tool "ib_send_bw with events $posting" ib_send_bw -x GID -F -s 4096 -n 64 -e $posting
	tool "ib_send_bw, datagrams $posting" ib_send_bw -x GID -F -s 1024 -n 100 -c UD $posting
done

export MODE=rxe
on_b install_provider
on_a install_provider
check "librxe opens the device again" on_a is_rxe "$A_DEV"
