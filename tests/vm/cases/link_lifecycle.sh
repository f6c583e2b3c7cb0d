# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Links are added and deleted: names, sockets, rejected requests, and the end of a namespace.
# guests: one
# links: sroce
# seconds: 60
# stages: vm-newest vm-6.12 vm-6.1
# full: vm-debug
set -euo pipefail
. /share/vm/lib.sh
topology none

infiniband=/sys/class/infiniband

file_says() { [[ $(<"$1") == "$2" ]]; } # FILE TEXT
dmesg_says() { dmesg | grep -qE "sroce: $1"; }
netdev_of() { rdma link show "$1/1" | sed -n 's/.* netdev \([^ ]*\).*/\1/p'; }
port_is_open() { ss -Huln 'sport = :4791' | grep -q 4791; }
port_is_closed() { ! port_is_open; }
device_is_gone() { [[ ! -e $infiniband/$1 ]]; }
add_and_delete() { for _ in {1..20}; do link_add sroce_a sroce eth_a && rdma link delete sroce_a || return; done; }
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

# --- the properties of a link ---------------------------------------------------------------------

check "there is no socket before the first link" on_a port_is_closed
check "a link is added" on_a link_add sroce_a sroce eth_a
check "UDP port 4791 is open in its namespace" on_a port_is_open
check "UDP port 4791 is closed in other namespaces" on_b port_is_closed
check "rdma link shows the interface" test "$(on_a netdev_of sroce_a)" = eth_a
check "sysfs shows the interface as parent" on_a file_says $infiniband/sroce_a/parent eth_a
check "sysfs shows the version of the native ABI" file_says $infiniband/sroce_a/sroce/abi_version 103
check "sysfs shows it in the device's namespace" on_a file_says $infiniband/sroce_a/sroce/abi_version 103
check "the ABI is 2, for librxe" test "$(abi_of sroce_a)" = 2
check "the node GUID is derived from the MAC address" node_guid_matches_mac
check "libibverbs opens the device" on_a ibv_devinfo -d sroce_a

# --- rejected requests ----------------------------------------------------------------------------

check_fails "a second link on an interface is rejected" "File exists" on_a link_add sroce_x sroce eth_a
check "dmesg has the reason: the interface" dmesg_says "eth_a has a device already"
check_fails "a name in use is rejected" "File exists" on_b link_add sroce_a sroce eth_b
check "dmesg has the reason: the name" dmesg_says "there is an RDMA device called sroce_a already"
check_fails "an interface that does not exist is rejected" "No such device|Invalid" on_a link_add sroce_x sroce nowhere
on_a ip link add link eth_a name eth_a.7 type vlan id 7
check_fails "a VLAN interface is rejected" "not supported" on_a link_add sroce_x sroce eth_a.7
check "dmesg suggests the parent interface" dmesg_says "eth_a.7 is a VLAN: attach to eth_a"
on_a ip link delete eth_a.7
check_fails "deleting an unknown device fails" "." on_a rdma link delete nothing
check "rejected requests leave no device" test "$(rdma_devices)" = sroce_a

# --- several links --------------------------------------------------------------------------------

on_a ip link add dummy7 type dummy
check "a second link is added in the namespace" on_a link_add sroce_d sroce dummy7
check "a link is added on loopback" on_a link_add sroce_lo sroce lo
check "the first link is deleted" on_a rdma link delete sroce_a
check "the port stays open for the others" on_a port_is_open
on_a rdma link delete sroce_lo
on_a rdma link delete sroce_d
check "deleting the last link closes the port" on_a port_is_closed
on_a ip link delete dummy7

check "a link is added and deleted twenty times" on_a add_and_delete
check "all devices are gone" device_is_gone sroce_a

# --- a namespace ends -----------------------------------------------------------------------------

on_a link_add sroce_a sroce eth_a
on_b link_add sroce_b sroce eth_b
ip netns delete b
check "deleting namespace b removes its device" wait_until 10 device_is_gone sroce_b
check "the device at the other end of the veth is removed, too" wait_until 10 device_is_gone sroce_a
check "the kernel waits for no reference" test -z "$(dmesg | grep 'waiting for')"
