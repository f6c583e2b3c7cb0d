# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Devices in native mode: stock libibverbs ignores them, and uses them once our provider is
# installed.
# guests: any
# links: sroce
# seconds: 150
# full: vm-debug vm-6.12 vm-6.1
set -euo pipefail
. /share/vm/lib.sh
MTU=4500 MODE=rxe topology none
export LIMIT=120

configuration=/etc/libibverbs.d/sroce.driver
export configuration

load_native()
{
	[[ $(</sys/module/sroce/parameters/mode) == native ]] || { rmmod sroce && insmod /share/module/sroce.ko mode=native; }
}
remove_provider() { rm -f "$configuration"; }
is_native() { [[ $(<"/sys/class/infiniband/$1/sroce/mode") == native ]]; }
is_listed() { ibv_devices | grep -qw "$1"; }
# The output must not mention the device at all: librxe must not even have tried to claim it.
is_nobodys() { ! ibv_devices 2>&1 | grep -w "$1"; }
is_active() { ibv_devinfo -v -d "$1" | grep -q 'state:.*PORT_ACTIVE'; }
maps_provider() # DEVICE: a process that opens it loads our provider
{
	local server status=0
	ibv_rc_pingpong -d "$1" -g 0 -p 18600 >/dev/null 2>&1 &
	server=$!
	wait_until 10 grep -q libsroce /proc/$server/maps || status=1
	kill $server
	return $status
}
both_ends() # PROGRAM: run a program that has both ends in one process
{
	tap "$1" on_a "$programs/$1" --dev "$A_DEV" --gid "$A_GID" --peer-dev "$B_DEV" --peer-gid "$B_GID"
}
export -f load_native remove_provider is_native is_listed is_nobodys is_active maps_provider

for end in on_a on_b; do
	$end load_native
done
on_a link_add "$A_DEV" sroce "$A_IF"
on_b link_add "$B_DEV" sroce "$B_IF"
check "the device is in native mode" on_a is_native "$A_DEV"
check_fails "a name that librxe would match is rejected" "Invalid argument" on_a link_add rxe_x sroce "$A_IF"
check "librxe does not claim it" on_a is_nobodys "$A_DEV"
check_fails "no provider opens it" "wasn't found|No IB devices found" on_a ibv_devinfo -d "$A_DEV"

check "the provider is built (make userlib)" ls "$programs"/libsroce-rdmav*.so
A_GID=$(on_a wait_for_gid "$A_DEV" "$A_IP")
B_GID=$(on_b wait_for_gid "$B_DEV" "$B_IP")
on_b wait_until 10 ping -c 1 -W 1 "$A_IP"
export MODE=native
on_a install_provider
on_b install_provider
check "ibv_devices lists it" on_a is_listed "$A_DEV"
check "ibv_devinfo shows an active port" on_a is_active "$A_DEV"
check "programs load our provider" on_a maps_provider "$A_DEV"
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

on_b remove_provider
on_a remove_provider
check "no provider claims it after ours is removed" on_a is_nobodys "$A_DEV"
