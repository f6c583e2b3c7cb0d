# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# rdma_rxe and sroce in one kernel: loaded and unloaded in either order, on the same interface and
# on different ones. A device in rxe mode has rdma_rxe's driver ID, so ib_core treats both alike.
# guests: one
# links: sroce
# seconds: 90
# stages: vm-newest vm-6.12 vm-6.1
# full: vm-debug
set -euo pipefail
. /share/vm/lib.sh
topology none

infiniband=/sys/class/infiniband
exists() { [[ -e $infiniband/$1 ]]; }
device_is_gone() { [[ ! -e $infiniband/$1 ]]; }
dmesg_says() { dmesg | grep -qE "sroce: $1"; }
# shellcheck disable=SC2034
attach_both()
{
	on_a link_add "$A_DEV" sroce eth_a
	on_b link_add "$B_DEV" sroce eth_b
	A_GID=$(on_a wait_for_gid "$A_DEV" "$A_IP")
	B_GID=$(on_b wait_for_gid "$B_DEV" "$B_IP")
}
data_flows() { tool "$1" ibv_rc_pingpong -g GID -n 50 -s 10000 -c; }
make_veth_again()
{
	ip link add eth_a type veth peer name eth_b
	ip link set eth_a netns a
	ip link set eth_b netns b
	on_a address_add eth_a "$A_IP" "$A_IP6"
	on_b address_add eth_b "$B_IP" "$B_IP6"
}
# Quietly: libibverbs warns of devices that no provider opens.
ours_opens()
{
	local output
	output=$(IBV_DRIVERS=$programs/libsroce ibv_devinfo -v -d "$1" 2>&1)
	[[ $output == *PORT_ACTIVE* && $output != *@(Warning|libsroce|XRC)* ]] || { echo "$output"; return 1; }
}
in_first_namespace() { rdma link add "$1" type "$2" netdev "$3"; }
# With lockdep, rxe's sockets hold a reference to rdma_rxe, so its device must be deleted first.
unload_rxe() { [[ $(</sys/module/rdma_rxe/refcnt) == 0 ]] || rdma link delete rxe_0; rmmod rdma_rxe; }
rxe_takes_the_port() { modprobe rdma_rxe && in_first_namespace rxe_1 rxe wire1; }

ip link add wire0 type veth peer name wire1
address_add wire0 10.5.0.1 fd05::1
address_add wire1 10.5.0.2 fd05::2
rmmod sroce

# --- rxe first ------------------------------------------------------------------------------------

check "rxe loads" modprobe rdma_rxe
check "rxe attaches" in_first_namespace rxe_0 rxe wire0
check "our provider leaves rxe's device to librxe" ours_opens rxe_0
check "sroce loads beside it" load_module sroce
check_fails "on rxe's interface, sroce is rejected" "Address already in use" in_first_namespace sroce_0 sroce wire0
check "dmesg has the reason" dmesg_says "wire0: UDP port 4791 is taken in this network namespace, most likely by rdma_rxe"
check_fails "on another interface of rxe's namespace, sroce is rejected" "Address already in use" \
	in_first_namespace sroce_1 sroce wire1
check "a rejected device leaves nothing behind" device_is_gone sroce_0
attach_both
data_flows "in other namespaces, sroce works"
check "events of rxe's interface do no harm" ip link set wire0 mtu 1400
check "events of sroce's interface do no harm" on_a ip link set eth_a mtu 1400
on_a ip link set eth_a mtu 1500
check "deleting sroce's interface leaves rxe's device" ip -n a link delete eth_a
check "sroce's device is removed" wait_until 10 device_is_gone "$A_DEV"
check "rxe's device stays" exists rxe_0
make_veth_again
attach_both

# --- unloading rxe first, which unregisters every device with its driver ID -----------------------

check "rxe unloads" unload_rxe
check "unloading rxe removes sroce's device at A" device_is_gone "$A_DEV"
check "unloading rxe removes sroce's device at B" device_is_gone "$B_DEV"
attach_both
data_flows "sroce still works"
check "the port is free for sroce" in_first_namespace sroce_0 sroce wire0

# --- sroce first ----------------------------------------------------------------------------------

rdma link delete sroce_0
check "rxe loads when sroce is there" modprobe rdma_rxe
check "sroce's devices stay" exists "$A_DEV"
check "rxe attaches in its namespace" in_first_namespace rxe_0 rxe wire0
data_flows "sroce works in its own namespaces"
check "sroce unloads" rmmod sroce
check "sroce's devices are removed" device_is_gone "$A_DEV"
check "rxe's device stays when sroce unloads" exists rxe_0
check "rxe's device still opens" ibv_devinfo -d rxe_0
check "rxe unloads" unload_rxe

# --- rxe in a namespace where sroce has the port --------------------------------------------------

check "sroce loads again" load_module sroce
check "sroce attaches in the first namespace" in_first_namespace sroce_0 sroce wire0
check_fails "rxe is rejected there" "in use|not permitted" rxe_takes_the_port
rmmod rdma_rxe 2>/dev/null || true
check "sroce is still loaded" load_module sroce
