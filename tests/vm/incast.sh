# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Many senders and one receiver, connected by a switch whose port towards the receiver is slow.
# Cases source this file after lib.sh.
#
#   namespaces h1 ... hN [ eth0 ]---veth---[ bridge in "switch", to_d shaped and marking ]---veth---[ eth0 ] namespace d
#
# ib_core shows counters in the initial namespace only, so cases run there.

SENDERS=8
D_IP=10.1.0.100
# Per second. All of this, eight senders and the receiver's tools, may have to run on half a CPU.
BOTTLENECK_BYTES=$((12500000 / TIME_FACTOR))
export D_IP

in_switch() { in_namespace switch "$@"; }
each_sender() { seq "$SENDERS"; }
address_of() { [[ $1 == d ]] && echo "$D_IP" || echo "10.1.0.${1#h}"; } # NAMESPACE

add_host() # NAMESPACE
{
	ip netns add "$1"
	ip -n "$1" link set lo up
	ip link add eth0 netns "$1" numtxqueues "${QUEUES:-1}" type veth peer name "to_$1" netns switch
	ip -n switch link set "to_$1" up master bridge
	# Packets that two CPUs send through a veth pair arrive in any order, unless one CPU receives them all.
	if (($(nproc) > 1)); then
		echo 1 | in_namespace "$1" tee /sys/class/net/eth0/queues/rx-0/rps_cpus >/dev/null
		echo 1 | in_switch tee "/sys/class/net/to_$1/queues/rx-0/rps_cpus" >/dev/null
	fi
	# One packet per skb, as from a real wire.
	in_namespace "$1" ethtool -K eth0 tso off gso off gro off >/dev/null
	ip -n "$1" link set eth0 up
	ip -n "$1" address add "$(address_of "$1")/24" dev eth0
	in_namespace "$1" rdma link add "sroce_$1" type sroce netdev eth0
}

incast_topology()
{
	local i
	set -E
	trap 'stopped_at="$BASH_COMMAND, ${BASH_SOURCE[0]##*/} line $LINENO"' ERR
	trap leave_topology EXIT
	echo "# $CASE on $KERNEL: $SENDERS senders"
	load_module sroce
	install_provider
	ip netns add switch
	ip -n switch link add bridge up type bridge
	add_host d
	D_GID=$(in_namespace d wait_for_gid sroce_d "$D_IP")
	for i in $(each_sender); do
		add_host "h$i"
		in_namespace "h$i" wait_until 10 ping -c 1 -W 1 "$D_IP"
	done
	echo "# ready after $(lap) s"
}

# bottleneck QDISC OPTION...: put the qdisc behind a rate limit, so that packets queue in it. The
# tools' own TCP bypasses it, because it is not ECN capable and would be dropped where RoCE is
# marked.
bottleneck()
{
	in_switch tc qdisc delete dev to_d root 2>/dev/null || true
	in_switch tc qdisc replace dev to_d root handle 1: prio bands 2 priomap 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
	in_switch tc filter add dev to_d parent 1: protocol ip u32 match ip protocol 17 0xff match ip dport 4791 0xffff flowid 1:2
	in_switch tc qdisc replace dev to_d parent 1:2 handle 2: tbf rate "${BOTTLENECK_BYTES}bps" burst 16kb limit 100mb
	in_switch tc qdisc replace dev to_d parent 2:1 handle 3: "$@"
}

# Statistics of the inner qdisc: sent (bytes), dropped, backlog (bytes), marked (packets)
port_statistics()
{
	in_switch tc -s qdisc show dev to_d | awk '
		/^qdisc/ { inner = $3 == "3:" }
		!inner { next }
		/Sent/ { sent = $2; match($0, /dropped [0-9]+/); dropped = substr($0, RSTART + 8, RLENGTH - 8) }
		/backlog/ {
			backlog = $2 + 0
			if ($2 ~ /Kb/) backlog *= 1024
			if ($2 ~ /Mb/) backlog *= 1048576
		}
		{ for (i = 1; i < NF; i++) if ($i ~ /^(marked|ce_mark)$/) marked = $(i + 1) }
		END { print sent + 0, dropped + 0, backlog + 0, marked + 0 }'
}

sum_of() # COUNTER DEVICE...
{
	local name=$1 sum=0 device
	shift
	for device; do
		sum=$((sum + $(counter "$device" "$name")))
	done
	echo $sum
}

senders_sum() # COUNTER
{
	# shellcheck disable=SC2046
	sum_of "$1" $(each_sender | sed s/^/sroce_h/)
}

set_all() # PARAMETER VALUE...
{
	local device
	for device in d $(each_sender | sed s/^/h/); do
		"$programs/sroce" set "sroce_$device" "$@" >/dev/null
	done
}

# Start a server at d for each sender, and clients that send so many messages of 64 KiB, or until
# stop_flows. They use events, because pollers would take turns on the only CPU that there may be.
start_flows() # [MESSAGES]
{
	local i port gid flow=(ib_send_bw -F -e -m 1024 -s 65536 -u 18 -n "${1:-100000}")
	flows=$(mktemp -d) flow_jobs=()
	for i in $(each_sender); do
		in_namespace d "${flow[@]}" -d sroce_d -x "$D_GID" -p $((18000 + i)) >"$flows/server$i" 2>&1 &
		flow_jobs+=($!)
	done
	for i in $(each_sender); do
		port=$((18000 + i))
		gid=$(in_namespace "h$i" wait_for_gid "sroce_h$i" "$(address_of "h$i")")
		in_namespace d wait_until 10 port_listens $port
		in_namespace "h$i" "${flow[@]}" -d "sroce_h$i" -x "$gid" -p $port "$D_IP" >"$flows/client$i" 2>&1 &
		flow_jobs+=($!)
	done
}

# Wait for the end of all flows. $broken_flows counts the tools that did not succeed.
finish_flows()
{
	local job
	broken_flows=0
	for job in "${flow_jobs[@]}"; do
		wait "$job" || broken_flows=$((broken_flows + 1))
	done
	((broken_flows == 0)) || tail -n 3 "$flows"/* | sed 's/^/# /'
}

stop_flows()
{
	pkill -x ib_send_bw
	wait || true
}

# The bytes that a sender has sent on its interface.
bytes_sent() { in_namespace "h$1" cat /sys/class/net/eth0/statistics/tx_bytes; } # SENDER

all_sent() # print the bytes of each sender, in one line
{
	local i
	for i in $(each_sender); do
		bytes_sent "$i"
	done | xargs
}
