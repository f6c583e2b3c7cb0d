# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# FLUSH for persistence. The kernel's parameter memmap makes persistent memory, of which this makes a
# DAX device that a process can map. A probe sums the bytes that are written back from the caches.
# guests: one
# links: sroce
# kernels: 6.12
# seconds: 60
# stages: vm-6.12
# full: vm-6.12-native
set -euo pipefail
. /share/vm/lib.sh
topology

tracing=/sys/kernel/debug/tracing
leave_case()
{
	echo >$tracing/set_event
	echo >$tracing/kprobe_events
	echo >$tracing/trace
}

# The device stays, because its header in the memory would change how the modules start again.
make_dax_device()
{
	local nd=/sys/bus/nd dax word
	modprobe -a nd_e820 nd_pmem device_dax dax_pmem
	wait_until 10 test -e $nd/drivers/nd_pmem/namespace0.0
	echo namespace0.0 >$nd/drivers/nd_pmem/unbind
	dax=$(<$nd/devices/region0/dax_seed)
	for word in mode=pmem align=2097152 "uuid=$(</proc/sys/kernel/random/uuid)" namespace=namespace0.0; do
		echo "${word#*=}" >"$nd/devices/$dax/${word%%=*}"
	done
	echo "$dax" >$nd/drivers/dax_pmem/bind
}
[[ -c /dev/dax0.0 ]] || make_dax_device
check "there is a DAX device" wait_until 10 test -c /dev/dax0.0

written_back() { sed -n 's/.* bytes=//p' $tracing/trace | awk '{ sum += $1 } END { print sum + 0 }'; }
both_ends()
{
	"$programs"/placement_verify --dev "$A_DEV" --gid "$A_GID" --peer-dev "$B_DEV" --peer-gid "$B_GID" "$@"
}
echo 'p:write_back arch_wb_cache_pmem bytes=%si:u64' >$tracing/kprobe_events
echo kprobes:write_back >$tracing/set_event
tap "persistence" both_ends --pmem /dev/dax0.0
# Twenty WRITEs of 100,000 bytes, each with an ATOMIC WRITE of 8.
check "as many bytes were written back as were written" test "$(written_back)" -eq $((20 * 100008))
echo >$tracing/trace
tap "placement" both_ends --persistence
check "no byte of ordinary memory was" test "$(written_back)" -eq 0
