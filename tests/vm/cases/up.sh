# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# scripts/up makes a device that works at once, scripts/down takes away what up has made and no more,
# and each failure names its cause and a cure. The build is a stub; tests/scripts/up builds. Also the action.
# guests: one
# links: sroce
# seconds: 300
# stages: vm-newest
# full: vm-debug vm-6.1 vm-6.12
set -euo pipefail
. /share/vm/lib.sh
. /share/vm/fake_build.sh
topology none
! [[ -d /sys/module/sroce ]] || rmmod sroce
# dummy0 comes with the module by default.
rmmod dummy 2>/dev/null || ip link delete dummy0 2>/dev/null || true   # of a built-in driver

release=$(uname -r)
dotted=${release//+/.}   # in patterns
stubs=$keep/stubs
export keep stubs SROCE_CACHE=/tmp/up-cache
mkdir -p "$stubs" /tmp/elsewhere
cd /share/repo
unset GITHUB_ENV
ln -s . sroce   # as in a checkout that has sroce in a folder

with_stub() # NAME TEXT COMMAND...
{
	local name=$1 status=0
	stub "$1" "$2"
	shift 2
	"$@" || status=$?
	rm "$stubs/$name"
	return $status
}
state() { ip -o link show type dummy; rdma link show; grep ^sroce /proc/modules || true; cat /run/sroce-up/up 2>/dev/null || true; }
to_file() { local status=0; "$@" >"$keep/output" 2>&1 || status=$?; cat "$keep/output"; return $status; } # COMMAND...
# fails NAME PATTERN COMMAND...: exit status 1, one error, and nothing has changed
fails()
{
	local name=$1 pattern=$2 before
	shift 2
	before=$(state)
	says "$name" 1 "^sroce: error: $pattern$" to_file "$@"
	check "$name: one error" test "$(grep -c error: "$keep/output")" = 1
	check "$name: nothing has changed" test "$(state)" = "$before"
}

# --- the build ----------------------------------------------------------------------------------------

fake_sources
says "nothing to build with" 1 "as root: apt-get install gcc make linux-headers-$dotted$" scripts/up
PATH=$stubs:$PATH
fake_build

two_at_once()
{
	scripts/up >"$keep/one" &
	scripts/up >"$keep/two" && wait $! && cmp "$keep/one" "$keep/two" && [[ $(wc -l <"$keep/made") == 1 ]]
}
check "two at once, which build once" two_at_once
printf '%s\n' SROCE_DEV=rxe0 SROCE_GID_INDEX="$(gid_index rxe0 10.99.0.1)" SROCE_IP=10.99.0.1 SROCE_NETDEV=rdma0 >"$keep/wanted"
check "the lines" diff "$keep/wanted" "$keep/one"
again() { GITHUB_ENV=$keep/github_env scripts/up >"$keep/again" 2>&1 && cmp "$keep/again" "$keep/one" && cmp "$keep/github_env" "$keep/one" && [[ $(rdma link | wc -l) == 1 ]]; }
check "once more, and a workflow's variables" again
set -a
. "$keep/one"
set +a
pingpong()
{
	chrt -i 0 ibv_rc_pingpong -e -d "$SROCE_DEV" -g "$SROCE_GID_INDEX" &
	wait_until 10 listens ibv_rc_pingpong
	chrt -i 0 ibv_rc_pingpong -e -d "$SROCE_DEV" -g "$SROCE_GID_INDEX" "$SROCE_IP" && wait $!
}
check "a ping-pong with the variables" pingpong
echo '// a change' >>kernel/main.c
says "other sources" 0 "warning: the module that is loaded was made from other sources" scripts/up
sed -i '$d' kernel/main.c
many_addresses() { with_stub ip '/usr/bin/env PATH=/usr/sbin:/usr/bin:/sbin:/bin ip "$@" && [[ $* != "-o address show" ]] || for number in {1..3000}; do echo "9: many0    inet 10.77.0.1/24 scope global many0"; done' scripts/up; }
says "many addresses" 0 "^SROCE_DEV=rxe0$" many_addresses
ip link set rdma0 down
says "the dummy interface is down" 0 "^SROCE_DEV=rxe0$" scripts/up

# --- down ---------------------------------------------------------------------------------------------

ip link add wire0 type veth peer name wire1
address_add wire0 10.5.0.1 fd05::1
address_add wire1 10.5.0.2 fd05::2
says "a second device" 0 "^SROCE_DEV=rxe1$" scripts/up wire0
says "down" 0 "removed the device rxe1" scripts/down
check "no RDMA device is left" test -z "$(rdma link)"
check_fails "nor the dummy interface" "." ip link show rdma0
check_fails "nor an interface dummy0" "." ip link show dummy0
check "nor the module" test ! -e /sys/module/sroce
check "the other interface is there" ip link show wire0
check_fails "the folder of guests of scripts/run is not touched" "." ls /run/sroce
says "down again" 0 "^sroce: nothing to take away$" scripts/down

killed() { with_stub rdma "[[ \$1 != link || \$2 != add ]] && exec /usr/bin/env PATH=/usr/sbin:/usr/bin:/sbin:/bin rdma \"\$@\"; pkill -KILL -f -- --attach" scripts/up; }
says "up is killed" 137 "" killed
check "it leaves an interface" ip link show rdma0
says "down after that" 0 "removed the module" scripts/down
check_fails "no interface is left" "." ip link show rdma0
says "up after that" 0 "^SROCE_DEV=rxe0$" scripts/up
says "rdma fails" 1 "error: cannot list the RDMA devices" with_stub rdma 'exit 1' scripts/down
check "the record still names the device" grep -q "^device rxe0 " /run/sroce-up/up
scripts/up >/dev/null
ip link set rdma0 down && ip link set rdma0 name renamed0
says "down of an interface with another name" 0 "removed the interface renamed0" scripts/down
check "no RDMA device is left then" test -z "$(rdma link)"
says "the loopback interface" 0 "^SROCE_IP=127.0.0.1$" scripts/up lo
says "up for other devices" 0 "^SROCE_DEV=rxe1$" scripts/up
ip link add other0 type dummy && address_add other0 10.96.0.1 fd96::1
rdma link add mine type sroce netdev other0
says "another device uses the module" 0 "the module stays, because these devices use it: mine" scripts/down
check "it is there" rdma link show mine/1
says "up on the interface of another device" 0 "^SROCE_DEV=mine$" scripts/up other0
says "down leaves it alone" 0 "these devices use it: mine" scripts/down
rdma link delete mine
says "down unloads the module in the end" 0 "removed the module" scripts/down

[[ ! ${QUICK:-} ]] || exit 0

# --- addresses, names, modes --------------------------------------------------------------------------

says "an IPv6 address and a name" 0 "^SROCE_IP=fd98::1:0:2$" scripts/up --dummy=fd98::1:0:2/64 storage
says "the same once more, without its name" 0 "^SROCE_DEV=storage$" scripts/up --dummy=fd98::1:0:2/64
says "another form of its address" 0 "^SROCE_DEV=storage$" scripts/up --dummy=fd98:0::0001:0:2/64
fails "another name for it" ".* fd98::1:0:2 already; .*" scripts/up --dummy=fd98::1:0:2/64 other
fails "a name that is taken" "the name storage is taken by another device; choose another" scripts/up wire0 storage
scripts/up wire0 wired >/dev/null
fails "another name for the device of an interface" "the interface wire0 has the device wired already; .*" scripts/up wire0 wired2
"$programs/sroce" add --v1 other0 both >/dev/null
up_index() { scripts/up other0 | sed -n 's/^SROCE_GID_INDEX=//p'; }
check "a device that has GIDs of RoCE v1, too" grep -qx "RoCE v2" /sys/class/infiniband/both/ports/1/gid_attrs/types/"$(up_index)"
rdma link delete both
fails "an address that is taken" "the interface wire0 has the address 10.5.0.1 already; .*" scripts/up --dummy=10.5.0.1/24
if compgen -G "$programs/libsroce-rdmav*.so" >/dev/null; then
	fails "native mode without the provider" "native mode needs the provider: make userlib" scripts/up --native
	mkdir -p build/userlib && cp "$programs"/libsroce-rdmav*.so build/userlib/
	says "native mode on a device that is there" 0 "^SROCE_DEV=wired$" scripts/up --native wire0
	scripts/up --native >"$keep/native"
	check "native mode" grep -q "^IBV_DRIVERS=.*/build/userlib/libsroce$" "$keep/native"
	ended() { with_stub rdma "[[ \$1 != link || \$2 != add ]] || pkill -TERM -f -- --attach; exec /usr/bin/env PATH=/usr/sbin:/usr/bin:/sbin:/bin rdma \"\$@\"" scripts/up --native --dummy=10.95.0.1/24; }
	says "up is ended in native mode" 130 "" ended
	set -a
	. "$keep/native"
	set +a
	check "a ping-pong in native mode" pingpong
	unset IBV_DRIVERS
else
	skip "native mode" "no provider; make userlib"
fi
says "down of all" 0 "removed the module" scripts/down

# --- failures -----------------------------------------------------------------------------------------

fails "no such interface" "there is no interface eth7; those here: .*wire0.*" scripts/up eth7
ip link set wire1 down
fails "no carrier" "the port of rxe0 is not active, because the interface wire0 has no carrier; .*" scripts/up wire0
ip link set wire1 up
ip link set wire0 down
fails "an interface that is down" "the interface wire0 is down; as root: ip link set wire0 up" scripts/up wire0
ip link add empty0 type dummy && sysctl -qw net.ipv6.conf.empty0.disable_ipv6=1 && ip link set empty0 up
fails "an interface without an address" "the interface empty0 has no IP address; as root: ip address add ADDRESS/LENGTH dev empty0" scripts/up empty0
fails "not an address" "not an address of an interface: 10.4.0.1; .*" scripts/up --dummy=10.4.0.1
fails "not an address either" "not an address of an interface: 10.4.0.300/24; .*" scripts/up --dummy=10.4.0.300/24
fails "not a name" "not a name of a device: a/b; .*" scripts/up wire0 a/b
says "no root" 1 "^sroce: error: only root may do this; as root: scripts/up --dummy one; without root, use scripts/run$" as_nobody scripts/up --dummy one
says "no root for down" 1 "only root may do this; as root: scripts/down$" as_nobody scripts/down
read_only() { unshare -m bash -c "mount -t tmpfs -o ro tmpfs /run/sroce-up && scripts/up"; }
fails "a folder that cannot be written" "cannot write to /run/sroce-up, .*" read_only
in_folders() # COMMAND: then up, where nothing is known of modules
{
	unshare -m bash -c "mount -t tmpfs tmpfs /sys/module && mount -t tmpfs tmpfs /lib/modules && $1 && scripts/up"
}
fails "no modules of this kernel" "there are no modules of the running kernel $dotted in /lib/modules; .*" in_folders true
without_rdma="mkdir /lib/modules/$release && touch /lib/modules/$release/modules.dep"
fails "a kernel without RDMA" "this kernel, $dotted, has no RDMA; use scripts/run" in_folders "$without_rdma"
fails "RDMA that is not of the kernel" "RDMA is that of MLNX_OFED or DOCA, whose headers are not installed: .*" in_folders "mkdir /run/ofed && printf '#!/bin/sh\necho mlx_compat\n' >/run/ofed/modinfo && chmod +x /run/ofed/modinfo && export PATH=/run/ofed:\$PATH"
ubuntu="$without_rdma && mount -t tmpfs tmpfs /boot && echo CONFIG_INFINIBAND=m >/boot/config-$release && export SROCE_OS_RELEASE=$keep/ubuntu"
echo ID=ubuntu >"$keep/ubuntu"
fails "a kernel whose modules are not all installed" "the modules for RDMA are missing; as root: apt-get install linux-modules-extra-$dotted" in_folders "$ubuntu"
rejected() { with_stub insmod 'echo "insmod: ERROR: could not insert module x.ko: Key was rejected by service" >&2; exit 1' scripts/up; }
fails "a signature is needed" "the kernel loads only signed modules \(Secure Boot, lockdown\); sign it: .*/sign-file sha256 KEY CERTIFICATE /tmp/up-cache/.*/sroce.ko" rejected
container() { with_stub insmod 'echo "insmod: ERROR: could not insert module x.ko: Operation not permitted" >&2; exit 1' scripts/up; }
fails "root in a container" "this root may not load modules, as in a container; .*" container

modprobe rdma_rxe
ip link set wire0 up
link_add rxe_0 rxe wire0
fails "rdma_rxe has the port" "rdma_rxe has UDP port 4791; as root: modprobe -r rdma_rxe" scripts/up
modprobe -r rdma_rxe
says "it has not any more" 0 "^SROCE_DEV=rxe0$" scripts/up
scripts/down

# --- the action ---------------------------------------------------------------------------------------

action() { /share/vm/guest/workflow action /share/repo/scripts/action "$@"; }
action type=sroce >"$keep/outputs"
printf '%s\n' device=rxe_0 "gid-index=$(gid_index rxe_0 10.99.0.1)" address=10.99.0.1 device-name=rxe_0 interface=rdma0 >"$keep/wanted"
check "the action's outputs" diff "$keep/wanted" "$keep/outputs"
says "an interface and a name" 0 "^interface=wire0$" action interface=wire0 device-name=rxe_eth0
check "the device has that name" rdma link show rxe_eth0/1
says "a type that it does not know" 1 "::error::no type rxe; this action knows sroce" action type=rxe
# shellcheck disable=SC2016   # not for this shell
says "inputs are no commands" 1 "not a name of a device" action 'device-name=$(touch /tmp/planted)'
check "nothing has run" test ! -e /tmp/planted
scripts/down

# --- the page -----------------------------------------------------------------------------------------

check "the recipes of the page" /share/vm/guest/workflow page /share/repo/howto/ci.md
check "they leave no device" test -z "$(rdma link)"
