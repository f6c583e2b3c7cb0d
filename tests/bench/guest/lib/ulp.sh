# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# A kernel consumer of $A_DEV and $B_DEV, without system calls: the module tests/vm/ulp.

# Prints MiB/s, 1000 messages/s or µs, or nothing if it fails.
ulp() # bw|rate|lat KIND BYTES CHAIN COUNT
{
	echo "$2 $A_DEV $B_DEV $3 $4 $5" >/sys/module/ulp/parameters/run || return 0
	awk -v kind="$1" -v bytes="$3" '
		kind == "lat" { printf "%.3f\n", $1 / 1000 }
		kind == "rate" { printf "%.3f\n", 1000000 / $1 }
		kind == "bw" { printf "%.2f\n", bytes * 1000000000 / $1 / 1048576 }' /sys/module/ulp/parameters/ns
}
