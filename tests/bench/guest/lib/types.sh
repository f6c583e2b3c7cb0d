# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# The types that are compared: rxe, siw, sroce (programs in rxe mode), native (sroce, programs in native mode) and tcp (no device). One type at a
# time uses the veth pair; attach sets $A_DEV, $B_DEV, $A_GID and $B_GID.

# The veth's MTU for each IB MTU. rxe reserves 80 bytes for headers; 1500, the default, fits IB MTU 1024.
declare -A netdev_mtu=([1024]=1500 [4096]=4200)

attach() # TYPE MTU
{
	local kind=$1
	on_a address_add "$A_IF" "$A_IP" "$A_IP6" "${netdev_mtu[$2]}"
	on_b address_add "$B_IF" "$B_IP" "$B_IP6" "${netdev_mtu[$2]}"
	case $1 in
	tcp) return ;;
	sroce) MODE=rxe install_provider ;;
	native)
		kind=sroce
		MODE=native install_provider
		;;
	esac
	A_DEV=${kind}_a B_DEV=${kind}_b
	on_a link_add "$A_DEV" "$kind" "$A_IF"
	on_b link_add "$B_DEV" "$kind" "$B_IF"
	[[ $kind != siw ]] || return 0
	A_GID=$(on_a wait_for_gid "$A_DEV" "$A_IP")
	B_GID=$(on_b wait_for_gid "$B_DEV" "$B_IP")
}

detach()
{
	local device
	for device in $(rdma_devices); do
		rdma link delete "$device"
	done
	MODE=rxe install_provider
}
