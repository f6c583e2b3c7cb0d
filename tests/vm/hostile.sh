# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# For the cases hostile_*: a second tenant, and checks that an attack leaves nothing behind.
# Cases source this file after lib.sh.

abuse=("$programs/abuse" --dev "${B_DEV}" --peer-dev "$A_DEV")

# Start the verified traffic of another tenant for SECONDS. Sets $qpn and $psn of its QP at A.
start_tenant() # SECONDS
{
	on_a "$programs/rc_verify" --server --dev "$A_DEV" --gid "$A_GID" >/tmp/tenant-server 2>&1 &
	tenant_server=$!
	on_b "$programs/rc_verify" --client "$A_IP" --dev "$B_DEV" --gid "$B_GID" --duration "$1" >/tmp/tenant 2>&1 &
	tenant=$!
	wait_until 20 grep -q 'role=in' /tmp/tenant-server || return 1
	read -r qpn psn <<<"$(sed -n 's/.*role=in .* qpn=\([0-9]*\) .* rq_psn=\([0-9]*\).*/\1 \2/p' /tmp/tenant-server)"
}

# Wait for its end. Fails unless all data was right. Sets $tenant_rate in bytes per second.
finish_tenant()
{
	local status=0
	wait "$tenant" || status=1
	wait "$tenant_server" || status=1
	tenant_rate=$(awk '/^# verified/ { printf "%d", $5 / $8 }' /tmp/tenant)
	((status == 0 && ${tenant_rate:-0} > 0)) || { tail -n 5 /tmp/tenant /tmp/tenant-server; return 1; }
}

# Objects, module references, mapped rings and the bytes in reorder queues: exact.
exact_state()
{
	objects
	references
	grep -c '\[sroce\]' /proc/vmallocinfo || true
	counter "$A_DEV" reorder_bytes
	counter "$B_DEV" reorder_bytes
}

kib_available()
{
	shrink_caches
	awk '/^MemAvailable/ { print $2 }' /proc/meminfo
}

# MemAvailable may lack this much: the allocators' caches of a CPU, and programs that the page
# cache had not read before, a few MiB. In debug, KASAN keeps freed memory for a while, at most 1/32
# of all, and kmemleak's records of it.
slack=$((8 << 10))
[[ $KERNEL != debug ]] || slack=$((96 << 10))

remember_state()
{
	exact_state >/tmp/state
	available_before=$(kib_available)
}

state_is_back() { exact_state | cmp -s - /tmp/state; }
memory_is_back() { (($(kib_available) + slack >= available_before)); }

check_state() # NAME
{
	if wait_until 15 state_is_back; then
		ok "$1: objects, references, rings and reorder queues are as before"
	else
		not_ok "$1: objects, references, rings and reorder queues are as before" "$(exact_state | diff /tmp/state - || true)"
	fi
	check "$1: memory is back, $available_before KiB were available, now $(kib_available)" wait_until 15 memory_is_back
}
