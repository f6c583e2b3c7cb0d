# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Every allocation and every copy from a process that sroce makes fails once: while the module is
# loaded, a device is added, objects are created, data is sent, and all is deleted. Each ends in
# success or in an error, and nothing is left behind. Then many of them fail under traffic.
# guests: one
# links: sroce-sroce
# kernels: debug
# seconds: 600
# stages: vm-debug-hostile
# full: none
set -euo pipefail
. /share/vm/lib.sh
topology
. /share/vm/hostile.sh

faults=(/sys/kernel/debug/failslab /sys/kernel/debug/fail_page_alloc /sys/kernel/debug/fail_usercopy)
# Only calls by functions between these addresses fail, and below them to a depth.
count_calls_from() # START END DEPTH
{
	local fault
	for fault in "${faults[@]}"; do
		echo 0 >"$fault/verbose"
		echo "$1" >"$fault/require-start"
		echo "$2" >"$fault/require-end"
		echo "$3" >"$fault/stacktrace-depth"
	done
	echo N >/sys/kernel/debug/failslab/ignore-gfp-wait
	echo N >/sys/kernel/debug/fail_page_alloc/ignore-gfp-wait
	echo N >/sys/kernel/debug/fail_page_alloc/ignore-gfp-highmem
	echo 0 >/sys/kernel/debug/fail_page_alloc/min-order
}
count_calls_of_sroce() # DEPTH
{
	local size address
	read -r size address <<<"$(awk '$1 == "sroce" { print $2, $6 }' /proc/modules)"
	count_calls_from "$address" "$(printf '0x%x' $((address + size)))" "$1"
}

# walk NAME LEAST UNDO COMMAND...: run the command so that its 1st, 2nd, ... allocation fails, until
# it has no more. It must have at least so many. UNDO gets its exit status.
walk()
{
	local name=$1 least=$2 undo=$3 nth outcome status
	shift 3
	for ((nth = 1; nth < 1000; nth++)); do
		on_a "$programs/fail_nth" $nth $((20 * TIME_FACTOR)) "$@" >/tmp/walk 2>&1 || true
		outcome=$(tail -n 1 /tmp/walk)
		status=${outcome#* } outcome=${outcome%% *}
		if [[ $outcome != @(failed|spared) ]] || ! "$undo" "$status"; then
			not_ok "$name: allocation $nth" "$outcome $status"
			return
		fi
		[[ $outcome == failed ]] || break
	done
	check "$name: each of $((nth - 1)) failures ends in success or an error" test "$nth" -gt "$least"
	check "$name: without a failure it succeeds" test "$status" -eq 0
	((status == 0)) || sed 's/^/# /' /tmp/walk
}

# --- module and device ----------------------------------------------------------------------------

rdma link delete "$A_DEV"
rdma link delete "$B_DEV"
unload_if_loaded() { [[ $1 -ne 0 ]] || rmmod sroce; }
delete_if_added() { if (($1 == 0)); then rdma link delete "$A_DEV"; else [[ ! -e /sys/class/infiniband/$A_DEV ]]; fi; }

# The address of the module is not known before. All modules are above the kernel's own code.
rmmod sroce
count_calls_from "0x$(awk '$3 == "_etext" { print $1 }' /proc/kallsyms)" 0xffffffffffffffff 32
walk "insmod" 3 unload_if_loaded insmod /share/module/sroce.ko
load_module sroce
# Little depth, because ib_core registers the device below a function of ours.
count_calls_of_sroce 8
walk "link add" 10 delete_if_added rdma link add "$A_DEV" type sroce netdev "$A_IF"
# No walk of "link delete": no function of ours allocates memory there.
on_a link_add "$A_DEV" sroce "$A_IF"
on_b link_add "$B_DEV" sroce "$B_IF"
A_GID=$(on_a wait_for_gid "$A_DEV" "$A_IP")
B_GID=$(on_b wait_for_gid "$B_DEV" "$B_IP")

# --- objects and data -----------------------------------------------------------------------------

# An error that the device reports is tolerated, but neither wrong data nor a lost completion.
reports_error() { (($1 == 2)) && ! grep -qE 'memory: |timeout' /tmp/walk; }
tolerate() { (($1 == 0)) || reports_error "$1"; }
tool "traffic flows" ibv_rc_pingpong -g GID -n 20
remember_state
count_calls_of_sroce 10
walk "objects and data" 30 tolerate \
	"$programs/object_life" --dev "$B_DEV" --gid "$B_GID" --peer-dev "$A_DEV" --peer-gid "$A_GID"
check_state "objects and data"

# --- under traffic: one allocation in ten of all contexts, of both ends ---------------------------

often() # PERCENT
{
	local fault
	for fault in "${faults[@]:0:2}"; do
		echo -1 >"$fault/times"
		echo "$1" >"$fault/probability"
	done
}

# So many lost packets may rightly end in "retry counter exceeded" at an end. The requests after that
# are flushed, and the other end waits in vain. No other failure is tolerated, above all wrong data.
ends_well()
{
	local failure='transport retry counter exceeded' after='Work Request Flushed Error' reasons
	grep -qx '1\.\.2' /tmp/client && grep -qx '1\.\.2' /tmp/server || return 1
	grep -q '^not ok' /tmp/client /tmp/server || return 0
	reasons=$(awk '/^not ok/ { show = 1; next } /^[^#]/ { show = 0 } show' /tmp/client /tmp/server)
	grep -q "status $failure" <<<"$reasons" || return 1
	! grep -qvE "^# (here|peer): (.*status ($failure|$after) |timeout waiting for |the peer has left )" <<<"$reasons"
}
traffic_ends_well() { ends_well || { tail -n 20 /tmp/client /tmp/server; return 1; }; }

netem delay 300us 200us limit 4000   # packets are queued out of order
on_a "$programs/rc_verify" --server --dev "$A_DEV" --gid "$A_GID" >/tmp/server 2>&1 &
server=$!
on_b "$programs/rc_verify" --client "$A_IP" --dev "$B_DEV" --gid "$B_GID" --max-size 9000 \
	--duration $((5 * TIME_FACTOR)) >/tmp/client 2>&1 &
client=$!
check "verified traffic runs" wait_until 20 grep -q 'role=in' /tmp/server
before=$(counter "$A_DEV" drop_reorder_full)
often 10
wait $client || true
wait $server || true
often 0
netem
check "traffic under failures: its data is right, or retries are exceeded" traffic_ends_well
sed -n 's/^# \(here\|peer\|verified\)/# client: \1/p' /tmp/client
check "packets were dropped because there was no memory" test "$(counter "$A_DEV" drop_reorder_full)" -gt "$before"
check_state "failures under traffic"
tool "traffic flows afterwards" ibv_rc_pingpong -g GID -n 50 -s 10000 -c
