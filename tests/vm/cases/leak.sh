# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Nothing stays behind: objects of verbs, references to the module, memory; after orderly ends, after clients killed in the
# middle of traffic, after links deleted under live processes.
# guests: one
# links: sroce
# seconds: 120
# full: vm-newest-native vm-debug vm-6.12 vm-6.1
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

# Objects in use, by cache. The kernel counts all objects of a slab that some CPU has taken aside, so that two readings of an
# idle guest differ by up to some hundreds. So the least of several readings is taken, and what leaks must grow each time.
slabs()
{
	local i
	for ((i = 0; i < 4; i++)); do
		slabs_now
		sleep 0.2
	done | awk '!($1 in least) || $2 < least[$1] { least[$1] = $2 } END { for (name in least) print name, least[name] }'
}
slabs_now()
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

grown() # FILE...: caches that have grown from each to the next, and how
{
	awk -v few=$links '
		FNR == 1 { files++ }
		files > 1 && $2 - last[$1] >= few { times[$1]++ }
		{ last[$1] = $2; counts[$1] = counts[$1] " " $2 }
		END { for (name in times) if (times[name] == files - 1) print name ":" counts[name] }' "$@"
}
use_and_count() # FILE
{
	use_everything && sleep 1 && slabs >"$1"
}

check "to warm up: $connections connections, $links links" use_and_count /tmp/slabs0
check "once more" use_and_count /tmp/slabs1
suspects=$(grown /tmp/slabs0 /tmp/slabs1)
if [[ $suspects && ! -e /sys/kernel/debug/kmemleak ]]; then
	echo "# ${suspects//$'\n'/, }"
	check "and once more" use_and_count /tmp/slabs2
	suspects=$(grown /tmp/slabs0 /tmp/slabs1 /tmp/slabs2)
fi
if [[ -e /sys/kernel/debug/kmemleak ]]; then
	skip "no cache has grown by $links objects" "KASAN keeps what was freed for a while; here kmemleak looks for leaks"
elif [[ $suspects ]]; then
	not_ok "no cache has grown by $links objects each time" "$suspects"
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
