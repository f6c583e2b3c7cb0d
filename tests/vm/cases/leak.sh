# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Nothing stays behind: objects of verbs, references to the module, memory; after orderly ends, after clients killed in the
# middle of traffic, after links deleted under live processes.
# guests: one
# links: sroce
# seconds: 120
set -euo pipefail
. /share/vm/lib.sh
topology

connections=100 links=40
[[ ! $QUICK ]] || connections=40 links=20

references() { cat /sys/module/sroce/refcnt; }
objects() { rdma resource show | sed 's/^[0-9]*: //' | sort; }
settled() { [[ $(references) == "$start_references" && $(objects) == "$start_objects" ]]; }
traffic_flows() { (($(counter "$A_DEV" rcvd_pkts) > flowing + 200)); }
device_is_gone() { [[ ! -e /sys/class/infiniband/$1 ]]; }
flowing=0

# traffic PROGRAM OPTION...: endless, in the background: $server and $client
traffic()
{
	local program=$1
	shift
	flowing=$(counter "$A_DEV" rcvd_pkts)
	on_a "$program" -d "$A_DEV" -x "$A_GID" -F "$@" >/tmp/server 2>&1 &
	server=$!
	wait_until 10 on_a listens "$program"
	on_b "$program" -d "$B_DEV" -x "$B_GID" -F "$@" "$A_IP" >/tmp/client 2>&1 &
	client=$!
	wait_until 15 traffic_flows
}
kill_both() # PROGRAM
{
	pkill -9 -x "$1" || true
	wait $server $client 2>/dev/null || true
}
quietly() { "$@" >/dev/null 2>&1; }

start_references=$(references)
start_objects=$(objects)
echo "# at the start: $start_references references"

# --- orderly -----------------------------------------------------------------------------------------------

tool "ibv_rc_pingpong" ibv_rc_pingpong -g GID -n 50 -s 10000 -c
pair "10 connections over rdma_cm" ucmatose -c 10 -C 5 -S 1000 -- ucmatose -s "$A_IP" -c 10 -C 5 -S 1000
check "references and objects are as before" wait_until 10 settled

# --- kill -9 -------------------------------------------------------------------------------------------------

for program in ib_write_bw ib_read_bw ib_send_bw; do
	if traffic $program -s 65536 -D 60; then
		ok "$program runs"
	else
		not_ok "$program runs" "$(cat /tmp/client)"
	fi
	kill_both $program
	check "both ends killed: references and objects are as before" wait_until 10 settled
done

# --- memory: what grows with every connection or link is a leak -------------------------------------------------

# Objects in use, by cache.
slabs()
{
	local cache
	echo 3 >/proc/sys/vm/drop_caches
	for cache in /sys/kernel/slab/*/shrink; do
		echo 1 >"$cache" 2>/dev/null || true
	done
	awk '$1 ~ /^kmalloc|^dma-kmalloc|^skbuff|^sroce|^ib_|^ip_dst|^rt6|^ip6_dst|^UDP|^sock_inode|^xfrm/ { print $1, $2 }' /proc/slabinfo
}
link_again()
{
	on_a link_add "$A_DEV" sroce "$A_IF"
	A_GID=$(on_a wait_for_gid "$A_DEV" "$A_IP")
}
add_and_delete() # DEVICE INTERFACE TIMES
{
	local i
	for ((i = 0; i < $3; i++)); do
		rdma link delete "$1" && link_add "$1" sroce "$2" || return
	done
}
export -f add_and_delete
use_everything()
{
	talk ucmatose -c "$connections" -C 2 -S 1000 -- ucmatose -s "$A_IP" -c "$connections" -C 2 -S 1000 &&
		on_a add_and_delete "$A_DEV" "$A_IF" "$links" &&
		A_GID=$(on_a wait_for_gid "$A_DEV" "$A_IP")
}

check "to warm up: $connections connections, $links links" use_everything
sleep 1
slabs >/tmp/before
check "once more" use_everything
sleep 1
slabs >/tmp/after
grown=$(awk -v few=$links 'NR == FNR { old[$1] = $2; next } $2 - old[$1] >= few { print $1, "from", old[$1], "to", $2 }' /tmp/before /tmp/after)
if [[ -e /sys/kernel/debug/kmemleak ]]; then
	skip "no cache has grown by $links objects" "KASAN keeps what was freed for a while; here kmemleak looks for leaks"
elif [[ $grown ]]; then
	not_ok "no cache has grown by $links objects" "$grown"
else
	ok "no cache has grown by $links objects"
fi

# --- links deleted under live processes ------------------------------------------------------------------------

traffic ib_write_bw -s 65536 -D 60 || not_ok "ib_write_bw runs" "$(cat /tmp/client)"
check "the link is deleted under it without waiting for it" timeout $((10 * TIME_FACTOR)) ip netns exec a rdma link delete "$A_DEV"
check "the device is gone" device_is_gone "$A_DEV"
link_again
kill_both ib_write_bw
check "after their end references and objects are as before" wait_until 10 settled
tool "data flows afterwards" ibv_rc_pingpong -g GID -n 50 -s 10000 -c
