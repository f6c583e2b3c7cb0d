# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# A network namespace ends as soon as its last process has: nothing of a device, its QPs or its packets
# keeps it. Its processes are killed under traffic in both directions, and its interface goes before
# or after them, while the peer goes on sending. TCP keeps a namespace, so the programs connect by
# rdma_cm; then one connects by TCP, to show how long.
# guests: one
# links: sroce
# seconds: 300
# stages: vm-newest
# full: vm-newest-native vm-debug
set -euo pipefail
. /share/vm/lib.sh
topology none
rounds=30
[[ ! $QUICK ]] || rounds=8

gone() { ! ip link show "$1"; }
flows() { (($(counter sroce_c rcvd_pkts) > 300)); }

# The end of a pair outside a namespace goes with the namespace.
add_mark() { ip link add "mark_$1" type veth peer name mark netns "$1"; } # NAMESPACE
# Namespaces are cleaned up one after the other, so if this one has gone, those before are clean.
cleaned_up()
{
	ip netns add last
	add_mark last
	ip netns delete last
	wait_until 20 gone mark_last
}

set_up()
{
	ip netns add c && add_mark c &&
		ip -n c link set lo up &&
		ip link add port_c type veth peer name eth_c netns c &&
		ip link set port_c master bridge0 up &&
		in_namespace c address_add eth_c 10.9.0.2 fd09::2 &&
		in_namespace c link_add sroce_c sroce eth_c &&
		wait_until 10 gid_index sroce_br 10.9.0.1 &&
		wait_until 10 gid_index sroce_c 10.9.0.2 &&
		wait_until 10 ping -c 1 -W 1 10.9.0.2
}

send() # NAMESPACE OPTION...
{
	in_namespace "$1" ib_send_bw -F -b -s 65536 -D 60 "${@:2}"
}
run_client() # OPTION...
{
	send "" "$@" 10.9.0.2 >/tmp/client 2>&1 &
	client=$!
}
# A client that connects too early is rejected, and ends.
client_sends() # OPTION...
{
	kill -0 "$client" || run_client "$@"
	flows
}

# Start traffic in both directions, by rdma_cm unless there are options.
start() # OPTION...
{
	local server_options=(-d sroce_c -x "$(gid_index sroce_c 10.9.0.2)" "$@")
	local client_options=(-d sroce_br -x "$(gid_index sroce_br 10.9.0.1)" "$@")
	(($#)) || server_options=(-R) client_options=(-R)
	send c "${server_options[@]}" >/tmp/server 2>&1 &
	server=$!
	wait_until 10 in_namespace c listens ib_send_bw || { echo "the server does not listen"; return 1; }
	run_client "${client_options[@]}"
	wait_until 20 client_sends "${client_options[@]}" || { cat /tmp/server /tmp/client; return 1; }
}

kill_all() { xargs -r kill -9 2>/dev/null <<<"$1" || true; } # PIDS
end_of_link_last() { kill_all "$1"; ip netns delete c; }
end_of_name_first() { ip netns delete c; kill_all "$1"; }
end_of_link_first() { ip link delete port_c; kill_all "$1"; ip netns delete c; }
end_of_link_down() { ip link set port_c down; kill_all "$1"; ip netns delete c; }
end_of_link_moved() { ip -n c link set eth_c netns 1; kill_all "$1"; ip netns delete c; }
end_of_packets_delayed() { ip netns exec c tc qdisc add dev eth_c root netem delay 2s; sleep 0.2; kill_all "$1"; ip netns delete c; }
ways=(link_last name_first link_first link_down link_moved packets_delayed)

# One namespace, which ends under traffic. The peer goes on sending meanwhile.
end_namespace() # WAY SECONDS
{
	"end_of_$1" "$(ip netns pids c)"
	wait_until "$2" gone mark_c || { echo "the namespace is there after $2 s"; return 1; }
	kill -9 "$client" "$server" 2>/dev/null || true
	wait "$client" "$server" 2>/dev/null || true
	pkill -9 -x ib_send_bw || true
	ip link delete port_c 2>/dev/null || true
	ip link delete eth_c 2>/dev/null || true
	wait_until 10 test ! -e /sys/class/infiniband/sroce_c || { echo "the device is left"; return 1; }
}
round() { set_up && start && end_namespace "$1" 5; } # WAY

ip link add bridge0 type bridge
address_add bridge0 10.9.0.1 fd09::1
link_add sroce_br sroce bridge0
remember_objects
all_rounds()
{
	local i way
	for ((i = 0; i < rounds; i++)); do
		way=${ways[i % ${#ways[@]}]}
		round "$way" || { echo "round $i, $way"; return 1; }
	done
}
check "$rounds namespaces end under traffic" all_rounds
check "they are cleaned up" cleaned_up

# A device outlives the namespace that its interface has left, with an idle QP of a process elsewhere.
# The QP's route must be gone before the namespace; it is counted there, unlike a route that the
# kernel has added itself. Some kernels free a namespace only when another one ends.
insmod /share/module/ulp.ko
delay=/sys/module/ulp/parameters/delay
outlive()
{
	ip -n c -6 route add fd09::1 dev eth_c && wait_until 10 ip netns exec c ping -c 1 -W 1 fd09::1 || return
	"$programs"/idle_qp --dev sroce_c --gid "$(gid_index sroce_c fd09::2)" \
		--peer-dev sroce_br --peer-gid "$(gid_index sroce_br fd09::1)" >/tmp/idle 2>&1 &
	idle=$!
	wait_until 20 grep -q idle$ /tmp/idle || { cat /tmp/idle; return 1; }
	echo sroce_c >$delay
	ip -n c link set eth_c netns 1 && ip netns delete c && wait_until 10 gone mark_c &&
		cleaned_up && cleaned_up || return
	[[ -e /sys/class/infiniband/sroce_c ]] || { echo "the device has gone first"; return 1; }
	echo - >$delay
	wait_until 10 test ! -e /sys/class/infiniband/sroce_c || { echo "the device is left"; return 1; }
	kill -9 $idle && ip link delete port_c
}
check "a namespace is there once more" set_up
check "it ends before a device with an idle QP" outlive
echo - >$delay
check "the consumer unloads" rmmod ulp
check "the kernel waits for no reference" test -z "$(dmesg | grep 'waiting for')"
check "references and objects are as before" wait_until 10 settled

# The FIN of a killed program's TCP connection has no way out once the interface has gone, and the
# socket keeps the namespace until the kernel gives up: after two minutes, or by this sysctl.
by_tcp()
{
	set_up && ip netns exec c sysctl net.ipv4.tcp_orphan_retries=1 && start -q 1 && end_namespace link_first 15
}
check "one with a TCP connection ends, too" by_tcp
check "it is cleaned up" cleaned_up
