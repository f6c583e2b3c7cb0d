# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Devices on tunnel interfaces, which have no Ethernet header. Kernels of User-mode Linux have IPv6 in
# IPv4 only. (The case tun has a tun interface.)
# guests: one
# links: sroce
# kernels: newest 6.12
# seconds: 120
# full: vm-newest-native vm-6.12
set -euo pipefail
. /share/vm/lib.sh
topology none

kinds=(sit)
[[ $KERNEL != 6.* ]] || kinds=(gre ip6gre ipip ip6tnl)

ends_of() # KIND: the addresses of A and B
{
	if [[ $1 == ip6* ]]; then
		echo "$A_IP6 $B_IP6"
	else
		echo "$A_IP $B_IP"
	fi
}

families_of() # KIND: the beginnings of addresses in the tunnel
{
	case $1 in
	sit) echo fd07:: ;;
	ipip) echo 10.7.0. ;;
	*) echo fd07:: 10.7.0. ;;
	esac
}

tunnel() # KIND LOCAL REMOTE NUMBER
{
	local family mode=()
	[[ $1 != ip6tnl ]] || mode=(mode any)
	ip link add tunnel0 type "$1" "${mode[@]}" local "$2" remote "$3" && ip link set tunnel0 up || return
	for family in $(families_of "$1"); do
		case $family in
		fd*) ip -6 address add "$family$4/64" dev tunnel0 nodad ;;
		*) ip address add "$family$4/24" dev tunnel0 ;;
		esac || return
	done
}
export -f tunnel families_of

for kind in "${kinds[@]}"; do
	read -r a b <<<"$(ends_of "$kind")"
	on_a tunnel "$kind" "$a" "$b" 1
	on_b tunnel "$kind" "$b" "$a" 2
	check "$kind: a link is added at A" on_a link_add sroce_t sroce tunnel0
	check "$kind: a link is added at B" on_b link_add sroce_u sroce tunnel0
	for address in $(families_of "$kind"); do
		a_gid=$(on_a wait_for_gid sroce_t "${address}1")
		b_gid=$(on_b wait_for_gid sroce_u "${address}2")
		pair "$kind, ${address}1: ibv_rc_pingpong" ibv_rc_pingpong -d sroce_t -g "$a_gid" -n 50 -s 10001 -c -- \
			ibv_rc_pingpong -d sroce_u -g "$b_gid" -n 50 -s 10001 -c "$A_IP"
		pair "$kind, ${address}1: ib_write_bw" ib_write_bw -d sroce_t -x "$a_gid" -F -s 65536 -n 64 -- \
			ib_write_bw -d sroce_u -x "$b_gid" -F -s 65536 -n 64 "$A_IP"
		# rdma_cm of 6.12 knows RoCE on Ethernet interfaces only.
		[[ $KERNEL != 6.* ]] || continue
		pair "$kind, ${address}1: rping" rping -s -a "${address}1" -v -V -C 20 -S 4000 -- \
			rping -c -a "${address}1" -v -V -C 20 -S 4000
	done
	on_a rdma link delete sroce_t
	on_b rdma link delete sroce_u
	on_a ip link delete tunnel0
	on_b ip link delete tunnel0
done
