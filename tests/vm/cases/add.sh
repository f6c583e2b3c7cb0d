# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# "sroce add" is done when it returns: modules are loaded, the port is active and has the GID of each
# address; or it names the cause. Dummy interfaces, names that begin with rxe, versions.
# guests: one
# links: sroce
# seconds: 180
# full: vm-newest-native vm-debug vm-6.12 vm-6.1
set -euo pipefail
. /share/vm/lib.sh
topology none

sroce=$programs/sroce
mkdir -p "$keep"
export sroce

says "the versions of the tool and the module" 0 "^module 0" "$sroce" -V

# --- ready when it returns --------------------------------------------------------------------------

! grep -q ^rdma_ucm /proc/modules || rmmod rdma_ucm
on_a "$sroce" add eth_a >"$keep/add"
check "it loads rdma_ucm" test -e /sys/module/rdma_ucm
A_DEV=sroce0 A_GID=$(sed -n "s/^  GID \([0-9]*\) .* $A_IP$/\1/p" "$keep/add")
check "it prints the GID of the IPv4 address" test "$A_GID" = "$(on_a gid_index sroce0 "$A_IP")"
check "it prints the GID of the IPv6 address" grep -qE "^  GID [0-9]+  RoCE v2  $A_IP6$" "$keep/add"
sed -n 's/^try: //p' "$keep/add" >"$keep/try"
# On a busy host the client may come before the server listens. The server then waits for ever.
# shellcheck disable=SC2016  # for the other shell
echo 'kill $!; exit 1' >"$keep/give_up"
try_it() { timeout 30 bash -c ". $keep/try || . $keep/give_up"; }
export -f try_it
check "the command that it prints works" on_a bash -c "try_it || try_it || try_it"
"$sroce" del sroce0

add_at_once() # ROUNDS: the index must be there when add returns
{
	local i
	for ((i = 0; i < $1; i++)); do
		"$sroce" add eth_a >/dev/null && gid_index sroce0 "$A_IP" && gid_index sroce0 "$A_IP6" && "$sroce" del sroce0 || return
	done
}
export -f add_at_once gid_index gid_of
check "the GIDs are there at once, 5 times" on_a bash -c "add_at_once 5"

# --- why it is not ready ----------------------------------------------------------------------------

bare() # COMMAND...: run on_a with a new pair of interfaces, bare0 and bare1
{
	on_a ip link add bare0 type veth peer name bare1
	"$@"
	on_a ip link delete bare0
}
on_down() { says "the interface is down" 14 "'bare0' is down" on_a "$sroce" add bare0 --wait 0; }
on_cut()
{
	on_a ip link set bare0 up
	says "the interface has no carrier" 14 "'bare0' has no carrier" on_a "$sroce" add bare0 --wait 0
}
on_no_address()
{
	on_a sysctl -qw net.ipv6.conf.bare0.disable_ipv6=1
	on_a ip link set bare0 up
	on_a ip link set bare1 up
	says "the interface has no address" 14 "'bare0' has no IP address" on_a "$sroce" add bare0 --wait 1
}
# Each end has an address that the other end has, too.
on_duplicate()
{
	on_a sysctl -qw net.ipv6.conf.bare0.addr_gen_mode=1 net.ipv6.conf.bare1.addr_gen_mode=1
	on_a ip link set bare0 up
	on_a ip link set bare1 up
	on_a ip address add fd0b::1/64 dev bare1 nodad
	on_a ip address add fd0b::1/64 dev bare0
	wait_until 10 on_a has_failed_dad bare0
	says "another host has the address" 14 "DAD, has failed" on_a "$sroce" add bare0 --wait 2
}
has_failed_dad() { ip address show dev "$1" | grep -q dadfailed; }
export -f has_failed_dad
bare on_down
bare on_cut
bare on_no_address
bare on_duplicate
says "without waiting" 0 "^sroce0 on eth_a$" on_a "$sroce" add eth_a --no-wait
"$sroce" del sroce0

# --- dummy interfaces and names ---------------------------------------------------------------------

says "a dummy interface" 0 "^  GID [0-9]+  RoCE v2  10.99.0.1$" "$sroce" add --dummy 10.99.0.1/24
check "its name is rdma0" ip link show rdma0
says "a second one, with an IPv6 address and a name" 0 "^storage on rdma1," "$sroce" add storage --dummy fd98::1/64
says "not an address" 2 "is not ADDRESS/LENGTH" "$sroce" add --dummy 10.97.0.1
says "no permission to make a dummy" 4 "no permission" as_nobody "$sroce" add --dummy 10.97.0.1/24
says "the name is taken" 7 "storage" "$sroce" add --dummy 10.97.0.1/24 storage
check_fails "a failure leaves no interface" "." ip link show rdma2
says "del removes the interface, too" 0 "with its dummy interface rdma0" "$sroce" del sroce0
check_fails "the interface is gone" "." ip link show rdma0
says "del of the other" 0 "rdma1" "$sroce" del storage
ip link add kept0 type dummy && address_add kept0 10.96.0.1 fd96::1
"$sroce" add kept0 >/dev/null
says "del leaves other dummy interfaces alone" 0 "^sroce0 removed$" "$sroce" del sroce0
check "the interface is there" ip link show kept0
says "a name of rxe" 0 "^rxe0 on kept0" "$sroce" add kept0 rxe0
says "a provider opens it" 0 "PORT_ACTIVE" ibv_devinfo -d rxe0
"$sroce" del rxe0
