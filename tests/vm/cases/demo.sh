# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# The distribution's own tools move data between two machines. Their results go to $keep/table, for
# scripts/demo.
# guests: two
# seconds: 90
# full: vm-newest-native vm-debug vm-6.12 vm-6.12-two vm-6.1-two
# shellcheck disable=SC2016  # awk programs
set -euo pipefail
. /share/vm/lib.sh
MTU=4500 topology
mkdir -p "$keep"

# measure WHAT UNIT AWK_PROGRAM TOOL OPTION...: run the tool and extract one figure from the
# client's output
measure()
{
	local what=$1 unit=$2 program=$3 figure
	shift 3
	tool "$what" "$@"
	figure=$(awk "$program" <<<"$pair_output")
	# perftest sometimes prints 0.00, because its clock is inaccurate in a guest.
	if [[ $figure =~ ^0*\.?0*$ ]]; then
		tool "$what, again" "$@"
		figure=$(awk "$program" <<<"$pair_output")
	fi
	printf '%s\t%s\t%s\n' "$what" "${figure:-?}" "$unit" >>"$keep/table"
}

bandwidth='$1 ~ /^[0-9]+$/ && NF >= 5 { print $4 }'
rate='$1 ~ /^[0-9]+$/ && NF >= 5 { print $5 * 1000 }'
latency='$1 ~ /^[0-9]+$/ && NF >= 6 { print $5 }'

measure "ibv_rc_pingpong, data checked" "us per round trip" '/usec\/iter/ { print $(NF - 1) }' \
	ibv_rc_pingpong -g GID -m 1024 -s 4096 -n 100 -c
pair "rping -v" rping -s -a "$A_IP" -v -V -C 20 -S 4000 -- rping -c -a "$A_IP" -v -V -C 20 -S 4000
printf 'rping -v\t%s\tpings returned\n' "$(grep -c '^ping data' <<<"$pair_output")" >>"$keep/table"
for program in ib_write_bw ib_read_bw ib_send_bw; do
	measure "$program 64 KiB" "MiB/s" "$bandwidth" "$program" -x GID -F -s 65536 -n 128
done
measure "ib_atomic_bw FETCH_AND_ADD" "k/s" "$rate" ib_atomic_bw -x GID -F -n 200
measure "ib_write_lat 64 B" "us" "$latency" ib_write_lat -x GID -F -s 64 -n 200 -I 0
measure "ib_send_lat 64 B" "us" "$latency" ib_send_lat -x GID -F -s 64 -n 200 -I 0 -e
