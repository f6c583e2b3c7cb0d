# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# The sroce tool: add, del, status as a table and as JSON (checked by tool.host), and a clear error
# for every failure.
# guests: one
# links: sroce
# seconds: 120
# full: vm-debug vm-6.12 vm-6.1
set -euo pipefail
. /share/vm/lib.sh
topology none

sroce=$programs/sroce
mkdir -p "$keep"

json() { "$sroce" status -j "$@" >"$keep/status.json" && cat "$keep/status.json"; }
unused() { [[ ! -e /sys/class/infiniband/$1 ]]; }
link_rxe() { modprobe rdma_rxe && link_add rxe_0 rxe wire0; }
status_has_rxe() { "$sroce" status | grep rxe_0 || { echo "no" && return 1; }; }
export sroce keep
export -f as_nobody json

# --- normal use -----------------------------------------------------------------------------------

says "status without devices" 0 "" "$sroce" status
says "add with a default name" 0 "^sroce0 on eth_a, MTU 1024$" on_a "$sroce" add eth_a
says "add with a given name" 0 "^storage on eth_b, MTU 1024$" on_b "$sroce" add eth_b storage
says "without a command, the status" 0 "^sroce0 .*eth_a" on_a "$sroce"
says "status shows the device" 0 "^sroce0 .*eth_a" on_a "$sroce" status
says "status shows its IPv4 GID" 0 "RoCE ?v2.*$A_IP" on_a "$sroce" status sroce0
says "status shows its IPv6 GID" 0 "RoCE ?v2.*$A_IP6" on_a "$sroce" status sroce0
says "status shows the device of the other namespace" 0 "storage .*eth_b" on_a "$sroce" status
says "status as JSON" 0 '"device": "sroce0"' on_a json
cp "$keep/status.json" "$keep/idle.json"

# The names that tool() uses for traffic.
A_DEV=sroce0 B_DEV=storage
A_GID=$(on_a gid_index $A_DEV "$A_IP") B_GID=$(on_b gid_index $B_DEV "$B_IP")
tool "a device made by the tool carries data" ibv_rc_pingpong -g GID -n 50 -s 10000 -c
says "status shows the counters that are not zero" 0 "rdma_sends +50" on_a "$sroce" status sroce0
on_a ibv_rc_pingpong -d sroce0 -g "$A_GID" >/dev/null 2>&1 &
server=$!
on_a wait_until 10 listens ibv_rc_pingpong
"$sroce" status -j >"$keep/busy.json"
on_a pkill ibv_rc_pingpong
wait $server || true

# --- failures -------------------------------------------------------------------------------------

says "an unknown command" 2 "did you mean add" "$sroce" adds eth_a
says "a prefix of several commands" 2 "status, stats, show, set" "$sroce" s
says "add without an interface" 2 "IF is required" "$sroce" add
says "no permission to add" 4 "permission|CAP_NET_ADMIN|root" on_a as_nobody "$sroce" add lo
says "no permission to delete" 4 "permission|CAP_NET_ADMIN|root" on_a as_nobody "$sroce" del sroce0
says "status needs no permission" 0 "sroce0" on_a as_nobody "$sroce" status
says "no such interface; the nearest name is suggested" 5 "eth_a" on_a "$sroce" add eth_x
says "an interface of another namespace" 5 "eth_b" on_a "$sroce" add eth_b
says "no such device" 6 "sroce1" on_a "$sroce" del sroce1
says "no such device to show" 6 "sroce1" on_a "$sroce" status sroce1
says "the name is taken" 7 "storage" on_a "$sroce" add lo storage
says "the interface has a device" 8 "sroce0" on_a "$sroce" add eth_a another
on_a ip link add link eth_a name eth_a.7 type vlan id 7
says "an interface that cannot carry RoCE" 10 "VLAN" on_a "$sroce" add eth_a.7
on_a ip link delete eth_a.7
says "a name that belongs to another driver" 11 "libsiw" on_a "$sroce" add lo siw5
says "a name with a slash" 11 "/" on_a "$sroce" add lo a/b
check "failed commands add no device" test "$(rdma link show | wc -l)" -eq 2

ip link add wire0 type veth peer name wire1
address_add wire0 10.5.0.1 fd05::1
address_add wire1 10.5.0.2 fd05::2
check "rdma_rxe takes the port of the first namespace" link_rxe
says "the port is taken" 9 "rdma_rxe.*rxe_0" "$sroce" add wire1
says "the device belongs to another driver" 12 "not an sroce device" "$sroce" del rxe_0
says "status shows sroce's devices" 0 "^storage" "$sroce" status
check_fails "status does not show rxe's devices" "." status_has_rxe
says "status --all shows rxe's devices" 0 "rxe_0" "$sroce" status --all
rdma link delete rxe_0
on_a "$sroce" del sroce0
"$sroce" del storage
rmmod rdma_rxe   # which would remove sroce's devices, too

# --- del ------------------------------------------------------------------------------------------

on_a "$sroce" add eth_a
on_b "$sroce" add eth_b storage
says "del" 0 "^sroce0 removed$" on_a "$sroce" del sroce0
check "the device is gone" unused sroce0
says "add reuses the free name" 0 "^sroce0 on lo," on_a "$sroce" add lo
says "del in another namespace" 0 "^storage removed$" "$sroce" del storage

# --- up and down ----------------------------------------------------------------------------------

printf '[device]\ninterface = eth_[a]\nname = from_file\nparam.cc = delay\n' >"$keep/a.conf"
printf '[device]\ninterface = %s\n' "$(on_b cat /sys/class/net/eth_b/address)" >"$keep/mac.conf"
printf '[device]\ninterface = later0\n' >"$keep/later.conf"
printf '[device]\ninterface = eth_a\nparams.cc = delay\n' >"$keep/key.conf"
printf '# none\n[device]\ninterface = eth_b\nparam.cc = bogus\n' >"$keep/value.conf"
appears() # an interface appears while "up" waits for it
{
	on_a "$sroce" up --wait 60 "$keep/later.conf" &
	on_a ip link add later0 type dummy
	wait $!
}
says "up adds the device of a file" 0 "^from_file on eth_a$" on_a "$sroce" up "$keep/a.conf"
says "with its parameters" 0 "cc +delay" on_a "$sroce" show from_file
says "again, it stays" 0 "^from_file on eth_a already$" on_a "$sroce" up "$keep/a.conf"
says "an interface by its MAC address" 0 "^sroce1 on eth_b$" on_b "$sroce" up "$keep/mac.conf"
says "an unknown key" 15 "key.conf:3: unknown key params.cc" on_a "$sroce" up "$keep/a.conf" "$keep/key.conf"
says "a value that the module does not know" 13 "value.conf:2: .*sroce1.* bogus" on_b "$sroce" up "$keep/value.conf"
says "an interface that is not there" 5 "later.conf:1: there is no interface later0" on_a "$sroce" up --wait 1 "$keep/later.conf"
says "an interface that is not there yet" 0 "^later0: no such interface yet$" on_a "$sroce" up --wait 0 "$keep/later.conf"
says "an interface that appears" 0 "^sroce2 on later0$" appears
says "down removes them" 0 "^from_file removed$" on_a "$sroce" down "$keep/a.conf" "$keep/later.conf"
check "the other namespace keeps its device" test -e /sys/class/infiniband/sroce1
says "down has nothing to do" 0 "^$" on_a "$sroce" down "$keep/a.conf"
on_b "$sroce" down "$keep/mac.conf"
on_a ip link delete later0
rmmod sroce
says "up without the module" 3 "a.conf:1: .*module.*not loaded" on_a "$sroce" up "$keep/a.conf"
says "up without the module and the interface" 0 "no such interface yet" on_a "$sroce" up --wait 0 "$keep/later.conf"
says "add without the module" 3 "module.*not loaded" on_a "$sroce" add eth_a
says "status without the module" 0 "" on_a "$sroce" status
load_module sroce
