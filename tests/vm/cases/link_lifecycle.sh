# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Links are added and deleted: names, modes, sockets, refusals, and the end of a namespace.
# guests: one
# links: sroce
# seconds: 60
# stages: vm-newest vm-6.12 vm-6.1
# full: vm-debug
set -euo pipefail
. /share/vm/lib.sh
topology none

infiniband=/sys/class/infiniband
mode=/sys/module/sroce/parameters/mode

file_says() { [[ $(<"$1") == "$2" ]]; } # FILE TEXT
dmesg_says() { dmesg | grep -qE "sroce: $1"; }
netdev_of() { rdma link show "$1/1" | sed -n 's/.* netdev \([^ ]*\).*/\1/p'; }
port_is_open() { ss -Huln 'sport = :4791' | grep -q 4791; }
port_is_closed() { ! port_is_open; }
device_is_gone() { [[ ! -e $infiniband/$1 ]]; }
add_and_delete() { for _ in {1..20}; do link_add sroce_a sroce eth_a && rdma link delete sroce_a || return; done; }
set_mode() { echo "$1" >$mode; }
abi_of() # DEVICE
{
	local uverbs
	for uverbs in /sys/class/infiniband_verbs/uverbs*; do
		[[ $(<"$uverbs/ibdev") != "$1" ]] || cat "$uverbs/abi_version"
	done
}

node_guid_matches_mac()
{
	local a b c d e f
	IFS=: read -r a b c d e f <<<"$(on_a cat /sys/class/net/eth_a/address)"
	file_says $infiniband/sroce_a/node_guid "$(printf '%02x%s:%sff:fe%s:%s%s' $((0x$a ^ 2)) "$b" "$c" "$d" "$e" "$f")"
}

export -f file_says netdev_of port_is_open port_is_closed add_and_delete

# --- what a link looks like ------------------------------------------------------------------------------

check "no socket before the first link" on_a port_is_closed
check "a link is added" on_a link_add sroce_a sroce eth_a
check "UDP port 4791 is open in its namespace" on_a port_is_open
check "and in no other" on_b port_is_closed
check "rdma link names the interface" test "$(on_a netdev_of sroce_a)" = eth_a
check "sysfs parent names the interface" on_a file_says $infiniband/sroce_a/parent eth_a
check "sysfs says the mode" file_says $infiniband/sroce_a/sroce/mode rxe
check "also seen from its namespace" on_a file_says $infiniband/sroce_a/sroce/mode rxe
check "ABI 2, as librxe wants" test "$(abi_of sroce_a)" = 2
check "the node GUID follows from the MAC address" node_guid_matches_mac
check "libibverbs opens it" on_a ibv_devinfo -d sroce_a

# --- refusals --------------------------------------------------------------------------------------------

check_fails "a second link on the interface" "File exists" on_a link_add sroce_x sroce eth_a
check "dmesg says why" dmesg_says "eth_a has a device already"
check_fails "a name that is taken" "File exists" on_b link_add sroce_a sroce eth_b
check "dmesg says why" dmesg_says "there is an RDMA device called sroce_a already"
check_fails "an interface that does not exist" "No such device|Invalid" on_a link_add sroce_x sroce nowhere
on_a ip link add link eth_a name eth_a.7 type vlan id 7
check_fails "a VLAN" "not supported" on_a link_add sroce_x sroce eth_a.7
check "dmesg says what to do" dmesg_says "eth_a.7 is a VLAN: attach to eth_a"
on_a ip link delete eth_a.7
check_fails "deleting what is not there" "." on_a rdma link delete nothing
check "none of it left a device" test "$(rdma_devices)" = sroce_a

# --- several, again and again ----------------------------------------------------------------------------

on_a ip link add dummy7 type dummy
check "a second device in the namespace" on_a link_add sroce_d sroce dummy7
check "a device on loopback" on_a link_add sroce_lo sroce lo
check "deleting the first" on_a rdma link delete sroce_a
check "leaves the port open for the others" on_a port_is_open
on_a rdma link delete sroce_lo
on_a rdma link delete sroce_d
check "the last one closes it" on_a port_is_closed
on_a ip link delete dummy7

check "twenty times added and deleted" on_a add_and_delete
check "all devices are gone" device_is_gone sroce_a

# --- the other mode --------------------------------------------------------------------------------------

check_fails "a mode that does not exist" "Invalid" set_mode fast
set_mode native
check "the module parameter takes it" file_says $mode native
check_fails "native: not by rxe's name" "Invalid" on_a link_add rxe7 sroce eth_a
check "a link in native mode" on_a link_add sroce_n sroce eth_a
set_mode rxe
check "sysfs says native" file_says $infiniband/sroce_n/sroce/mode native
check "ABI 102" test "$(abi_of sroce_n)" = 102
on_a rdma link delete sroce_n

# --- a namespace ends ------------------------------------------------------------------------------------

on_a link_add sroce_a sroce eth_a
on_b link_add sroce_b sroce eth_b
ip netns delete b
check "the end of namespace b ends its device" wait_until 10 device_is_gone sroce_b
check "and that of the other end of the veth" wait_until 10 device_is_gone sroce_a
check "no complaint about references" test -z "$(dmesg | grep 'waiting for')"
