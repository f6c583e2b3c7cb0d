# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Nothing leaks: no verbs objects, module references or memory, after a clean end, after clients are
# killed under traffic, and after links are deleted under live processes.
# guests: one
# links: sroce
# seconds: 120
# full: vm-newest-native vm-debug vm-6.12 vm-6.1
set -euo pipefail
. /share/vm/lib.sh
topology

connections=100 links=40
[[ ! $QUICK ]] || connections=40 links=20

traffic_flows() { (($(counter "$A_DEV" rcvd_pkts) > flowing + 200)); }
device_is_gone() { [[ ! -e /sys/class/infiniband/$1 ]]; }
flowing=0

# traffic PROGRAM OPTION...: start endless traffic in the background, as $server and $client
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

remember_objects
echo "# at the start: $start_references references"

# --- a clean end ----------------------------------------------------------------------------------

tool "ibv_rc_pingpong" ibv_rc_pingpong -g GID -n 50 -s 10000 -c
pair "10 connections over rdma_cm" ucmatose -c 10 -C 5 -S 1000 -- ucmatose -s "$A_IP" -c 10 -C 5 -S 1000
check "after a clean end, references and objects are as before" wait_until 10 settled

# --- kill -9 --------------------------------------------------------------------------------------

for program in ib_write_bw ib_read_bw ib_send_bw; do
	if traffic $program -s 65536 -D 60; then
		ok "$program runs"
	else
		not_ok "$program runs" "$(cat /tmp/client)"
	fi
	kill_both $program
	check "after kill -9, references and objects are as before" wait_until 10 settled
done

# --- memory: a cache that grows with every connection or link has a leak --------------------------

# Objects in use, by cache. The kernel counts every object of a slab that a CPU has cached as in
# use, so two readings of an idle guest differ by up to some hundreds. Therefore take the minimum of
# several readings; a cache leaks if that grows each time.
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
	shrink_caches
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

grown() # FILE...: print the caches that have grown from each file to the next, with their sizes
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

check "warm-up: $connections connections, $links links" use_and_count /tmp/slabs0
check "second round" use_and_count /tmp/slabs1
suspects=$(grown /tmp/slabs0 /tmp/slabs1)
if [[ $suspects && ! -e /sys/kernel/debug/kmemleak ]]; then
	echo "# ${suspects//$'\n'/, }"
	check "third round" use_and_count /tmp/slabs2
	suspects=$(grown /tmp/slabs0 /tmp/slabs1 /tmp/slabs2)
fi
if [[ -e /sys/kernel/debug/kmemleak ]]; then
	skip "no cache grows by $links objects" "KASAN delays frees; this kernel uses kmemleak instead"
elif [[ $suspects ]]; then
	not_ok "no cache grows by $links objects" "$suspects"
else
	ok "no cache grows by $links objects"
fi

# --- links deleted under live processes -----------------------------------------------------------

traffic ib_write_bw -s 65536 -D 60 || not_ok "ib_write_bw runs" "$(cat /tmp/client)"
check "deleting the link does not wait for the process" timeout $((10 * TIME_FACTOR)) ip netns exec a rdma link delete "$A_DEV"
check "the device is gone" device_is_gone "$A_DEV"
link_again
kill_both ib_write_bw
check "after the processes end, references and objects are as before" wait_until 10 settled
tool "traffic flows afterwards" ibv_rc_pingpong -g GID -n 50 -s 10000 -c
