# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# The module is loaded with each CRC method that this CPU supports. The self-test passes, traffic
# flows.
# guests: one
# seconds: 60
# full: vm-newest-rxe vm-newest-native vm-debug vm-6.12 vm-6.1
set -euo pipefail
. /share/vm/lib.sh
MTU=4500 topology

chosen() { dmesg | sed -n 's/.*sroce: CRC-32 by \([a-z0-9]*\)$/\1/p' | tail -n 1; }
nothing_wrong() { ! dmesg | grep 'CRC-32.*wrong'; }
chooses() { [[ $(chosen) == "$1" ]]; }
attach() # END TYPE DEVICE INTERFACE
{
	[[ $2 != sroce ]] || "on_$1" link_add "$3" sroce "$4"
}
load_with() # METHOD
{
	rmmod sroce
	insmod /share/module/sroce.ko crc="$1"
	attach a "$A_TYPE" "$A_DEV" "$A_IF"
	attach b "$B_TYPE" "$B_DEV" "$B_IF"
	A_GID=$(on_a wait_for_gid "$A_DEV" "$A_IP")
	B_GID=$(on_b wait_for_gid "$B_DEV" "$B_IP")
}

# Newer kernels avoid 512-bit vectors on some CPUs that have them, so avx512 is never required.
declare -A flags=([table]='' [pclmul]='pclmulqdq sse4_1' [avx2]='pclmulqdq sse4_1 avx2 vpclmulqdq' [avx512]=none)
cpu_has() # "FLAG..."
{
	local flag
	for flag in $1; do
		grep -qwm 1 "$flag" /proc/cpuinfo || return
	done
}

echo "# the default is $(chosen)"
for method in table pclmul avx2 avx512; do
	load_with "$method"
	if [[ $method == "$(chosen)" ]]; then
		for mtu in 256 1024 4096; do
			tool "$method, MTU $mtu" ibv_rc_pingpong -g GID -m $mtu -n 20 -s 10001 -c
		done
	elif cpu_has "${flags[$method]}"; then
		not_ok "$method is used, because the CPU has ${flags[$method]}" "instead: $(chosen)"
	else
		skip "$method" "not supported by this CPU"
		check "an unsupported method falls back to the table" chooses table
	fi
done
load_with nonsense
check "an unknown method falls back to the table" chooses table
tool "traffic flows" ibv_rc_pingpong -g GID -n 20 -s 10000 -c
check "every self-test has passed" nothing_wrong
