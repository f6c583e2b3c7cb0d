# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Three network namespaces on a bridge, as of pods, with a device each. Each sends to each. One ends
# under traffic, and the others' traffic goes on.
# guests: one
# links: sroce
# seconds: 60
# stages: vm-newest
# full: vm-newest-native vm-debug vm-6.12 vm-6.1
set -euo pipefail
. /share/vm/lib.sh
topology none

pods=(1 2 3)
ip link add bridge0 type bridge
ip link set bridge0 up
for pod in "${pods[@]}"; do
	ip netns add "pod$pod"
	ip -n "pod$pod" link set lo up
	# A killed program's TCP connection must not keep the namespace for minutes.
	ip netns exec "pod$pod" sysctl -qw net.ipv4.tcp_orphan_retries=1
	ip link add "port$pod" type veth peer name "eth$pod" netns "pod$pod"
	ip link set "port$pod" master bridge0 up
	in_namespace "pod$pod" address_add "eth$pod" "10.8.0.$pod" "fd08::$pod"
	[[ $pod != 3 ]] || remember_objects
	in_namespace "pod$pod" link_add "sroce_pod$pod" sroce "eth$pod"
done

# The server's end is A.
on_a() { in_namespace "pod$server_pod" "$@"; }
on_b() { in_namespace "pod$client_pod" "$@"; }
between() # CLIENT_POD SERVER_POD
{
	client_pod=$1 server_pod=$2
	on_b wait_until 10 ping -c 1 -W 1 "10.8.0.$2"
	server=(-d "sroce_pod$2" -g "$(on_a wait_for_gid "sroce_pod$2" "10.8.0.$2")")
	client=(-d "sroce_pod$1" -g "$(on_b wait_for_gid "sroce_pod$1" "10.8.0.$1")")
}
verify() # WHEN POD...: each of these sends to each
{
	local from to
	for from in "${@:2}"; do
		for to in "${@:2}"; do
			[[ $from != "$to" ]] || continue
			between "$from" "$to"
			pair "$1: pod $from to pod $to" ibv_rc_pingpong "${server[@]}" -n 100 -s 20000 -c -- \
				ibv_rc_pingpong "${client[@]}" -n 100 -s 20000 -c "10.8.0.$to"
		done
	done
}
verify "all" "${pods[@]}"

received() { counter "sroce_pod$1" rcvd_pkts; } # POD
has_received() { (($(received "$1") > $2)); } # POD PACKETS
start() # CLIENT_POD SERVER_POD PORT
{
	between "$1" "$2"
	on_a ib_send_bw -F "${server[@]/-g/-x}" -p "$3" -D 60 >/dev/null 2>&1 &
	on_a wait_until 10 port_listens "$3"
	on_b ib_send_bw -F "${client[@]/-g/-x}" -p "$3" -D 60 "10.8.0.$2" >/dev/null 2>&1 &
}
start 1 2 18701
start 3 2 18702
check "pods 1 and 3 send to pod 2" wait_until 20 has_received 2 3000
check "pod 3 gets its ACKs" wait_until 20 has_received 3 20
ip netns pids pod3 | xargs -r kill -9
ip netns delete pod3
check "the device of pod 3 goes with it" wait_until 20 test ! -e /sys/class/infiniband/sroce_pod3
before=$(received 1)
check "pod 1 still gets ACKs of pod 2" wait_until 20 has_received 1 $((before + 20))
pkill -9 -x ib_send_bw || true
wait || true
check "references and objects are as before" wait_until 10 settled
verify "two are left" 1 2
