# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# UD multicast: librdmacm's mckey, perftest, and a program that checks every copy. Groups are left when their last user goes.
# guests: any
# seconds: 150
# stages: vm-newest vm-newest-rxe vm-newest-native
# full: vm-kcsan vm-debug vm-debug-native vm-6.12 vm-6.1 vm-6.12-two
set -euo pipefail
. /share/vm/lib.sh
topology
export LIMIT=60

# The groups of an interface that this case uses, as MAC addresses: 239.1.1.1, 239.77.x.y and ff15::77:y
groups() { awk -v interface="$1" '$2 == interface && $5 ~ /^(01005e010101|01005e4d|33330077)/' /proc/net/dev_mcast; } # INTERFACE
has_groups() { (($(groups "$1" | wc -l) == $2)); } # INTERFACE COUNT
# The same groups, of which the host is a member by IGMP and by MLD. rdma_rxe joins none.
memberships()
{
	[[ ! -e /proc/net/igmp ]] ||
		awk -v interface="$1" '!/^\t/ { mine = $2 == interface } mine && /^\t/ && $1 ~ /^(010101EF|....4DEF)$/' /proc/net/igmp
	awk -v interface="$1" '$2 == interface && $3 ~ /^ff150*77/' /proc/net/igmp6
}
has_memberships() { (($(memberships "$1" | wc -l) == $2)); } # INTERFACE COUNT
export -f groups has_groups memberships has_memberships

# at a|b COMMAND...: run a command in the background; end $job kills it
at()
{
	local namespace
	namespace=$(namespace_of "$1")
	timeout $((LIMIT * TIME_FACTOR)) ${namespace:+ip netns exec "$namespace"} "${@:2}" &
	job=$!
}
end() # PID, which may have ended
{
	kill "$1" 2>/dev/null || true
	wait "$1" || true
}

# --- tools ----------------------------------------------------------------------------------------

# IPv4 only, because rdma_cm rejects IPv6 groups of RoCEv2. The receiver expects every datagram.
mckey_at() # a|b ADDRESS OPTION...
{
	"on_$1" mckey -m 239.1.1.1 -b "$2" -C 100 -S 500 "${@:3}"
}
talk_to_group() # NAME a|b ADDRESS INTERFACE b|a ADDRESS
{
	local output status=0 receiver
	output=$(mktemp)
	mckey_at "$2" "$3" >"$output" 2>&1 &
	receiver=$!
	wait_until 10 "on_$2" has_groups "$4" 1 || true
	# rdma_cm joins first, then mckey attaches its QP.
	sleep $((TIME_FACTOR > 1 ? 2 : 1))
	check "$1: sender" mckey_at "$5" "$6" -s
	wait $receiver || status=$?
	check "$1: receiver" test $status == 0
	((status == 0)) || sed 's/^/# /' "$output"
}
# rdma_rxe sends nothing for mckey, not even to another rdma_rxe.
[[ $B_TYPE == rxe ]] || talk_to_group "mckey, to A" a "$A_IP" "$A_IF" b "$B_IP"
[[ $A_TYPE == rxe ]] || talk_to_group "mckey, to B" b "$B_IP" "$B_IF" a "$A_IP"
check "A has left the group" on_a wait_until 10 has_groups "$A_IF" 0
check "B has left the group" on_b wait_until 10 has_groups "$B_IF" 0
check_fails "rdma_cm joins no IPv6 group of RoCE v2" "failure joining: Unknown error 524" on_a mckey -m ff15::77:9 -b "$A_IP6" -C 1 -S 500
# perftest has the bytes of the group in decimal; its own default is an IPv6 group.
[[ $A_TYPE == rxe ]] || tool "ib_send_bw" ib_send_bw -x GID -F -c UD -g -M 0:0:0:0:0:0:0:0:0:0:255:255:239:77:0:1 -s 512 -n 100
[[ $GUESTS == 1 ]] || exit 0

# --- every copy -----------------------------------------------------------------------------------

both_ends() # GID PEER_GID OPTION...
{
	"$programs"/mcast_verify --dev "$A_DEV" --gid "$1" --peer-dev "$B_DEV" --peer-gid "$2" "${@:3}"
}
# A member without a QP
join() # a|b INTERFACE COUNT GROUP...
{
	at "$1" /share/vm/guest/join "$2" "${@:4}"
	members+=("$job")
	wait_until 10 "on_$1" has_groups "$2" "$3"
}
both_families() # OPTION...
{
	tap "IPv4" both_ends "$A_GID" "$B_GID" "$@"
	tap "IPv6" both_ends "$A_GID6" "$B_GID6" "$@"
}
members=()
if [[ $A_TYPE$B_TYPE != srocesroce ]]; then
	# rdma_rxe does not make its host a member.
	[[ $A_TYPE != rxe ]] || join a "$A_IF" 4 239.77.0.{1,2} ff15::77:{1,2}
	[[ $B_TYPE != rxe ]] || join b "$B_IF" 4 239.77.0.{1,2} ff15::77:{1,2}
	both_families --traffic
	for job in "${members[@]}"; do end "$job"; done
	exit 0
fi
names="drop_qkey drop_no_wqe drop_address drop_no_qp"
declare -A before
for name in $names; do before[$name]=$(counter "$B_DEV" "$name"); done
rose() { check "$1 rose by $2" test $(($(counter "$B_DEV" "$1") - before[$1])) -eq "$2"; } # COUNTER BY
join b "$B_IF" 2 239.77.0.3 ff15::77:3
both_families
end "$job"
# Datagrams of mcast_verify that no QP receives, in each family
rose drop_qkey $((2 * 32))
rose drop_no_wqe $((2 * (64 + 32)))
rose drop_address $((2 * 1))
rose drop_no_qp $((2 * 2))

# --- nothing stays --------------------------------------------------------------------------------

# IGMP is for IPv4 groups, MLD for others.
joined() # COUNT GID WHEN
{
	local protocol=MLD name
	[[ $2 != "$A_GID" ]] || protocol=IGMP
	name="the host is a member of $1 groups by $protocol, $3"
	if [[ $protocol == IGMP && ! -e /proc/net/igmp ]]; then
		skip "$name" "this kernel has no IGMP"
	else
		check "$name" on_a has_memberships "$A_IF" "$1"
	fi
}
attach() # GID [--listen]: a process of A, attached to 10 groups to which it sends
{
	at a "$programs"/mcast_verify --dev "$A_DEV" --gid "$1" "${2:---attach}" >/dev/null
	wait_until 10 on_a has_groups "$A_IF" 10
	joined 10 "$1" "with members"
}
# With an MTU that is too small for IPv6 the interface loses its groups, and its address.
if [[ $A_TYPE == sroce ]]; then
	attach "$A_GID6" --listen
	on_a ip link set "$A_IF" mtu 1000
	check "an interface without IPv6 has no groups" on_a has_groups "$A_IF" 0
	on_a ip link set "$A_IF" mtu 1500
	check "groups are joined again when the MTU permits it" on_a wait_until 10 has_groups "$A_IF" 10
	joined 10 "$A_GID6" "when the MTU permits it again"
	end "$job"
	check "such groups are left, too" on_a wait_until 10 has_groups "$A_IF" 0
	on_a address_add "$A_IF" "$A_IP" "$A_IP6"
	on_a wait_for_gid "$A_DEV" "$A_IP6" >/dev/null
fi
for gid in "$A_GID" "$A_GID6"; do
	attach "$gid"
	end "$job"
	check "a process that ends leaves its groups" on_a wait_until 10 has_groups "$A_IF" 0
	joined 0 "$gid" "after the end of the process"
	attach "$gid"
	check "a device is removed" rdma link delete "$A_DEV"
	check "a device that is removed leaves its groups" on_a wait_until 10 has_groups "$A_IF" 0
	joined 0 "$gid" "after the removal of the device"
	end "$job"
	on_a link_add "$A_DEV" sroce "$A_IF"
	on_a wait_for_gid "$A_DEV" "$A_IP" >/dev/null
	on_a wait_for_gid "$A_DEV" "$A_IP6" >/dev/null
done
attach "$A_GID6"
check "an interface is removed" on_a ip link delete "$A_IF"
no_device() { local links && links=$(rdma link show) && ! grep -F "$A_DEV" <<<"$links"; }
check "its device goes with it" wait_until 10 no_device
end "$job"
