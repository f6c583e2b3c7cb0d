# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Native mode with the libibverbs of Debian 13 and sid. Our provider, the same file for all of them,
# was compiled with the headers of this one.
# links: sroce
# seconds: 90
# full: vm-debug vm-6.12 vm-6.1
set -euo pipefail
. /share/vm/lib.sh
export MODE=native
MTU=4500 topology

# Write programs that change to the suite's root and run its tool, or one of ours. Each process has
# mounts of its own, as "ip netns exec" leaves them.
wrap() # SUITE PROGRAM...
{
	local suite=$1 program root=/suites/$1
	shift
	mkdir -p "/run/suites/$suite"
	for program; do
		cat >"/run/suites/$suite/${program##*/}" <<-END
			#!/bin/bash
			for folder in dev proc sys share; do
				mount --rbind /\$folder $root/\$folder || exit
			done
			exec chroot $root $program "\$@"
		END
		chmod +x "/run/suites/$suite/${program##*/}"
	done
}

opens_quietly() # COMMAND...
{
	local output
	output=$("$@" 2>&1)
	echo "$output"
	[[ $output == *PORT_ACTIVE* && ${output,,} != *@(warning|libsroce)* ]]
}
export -f opens_quietly

# Each end of a connection has another provider: librxe of the suite, and ours.
both_providers() # FOLDER
{
	local job jobs=() log=/run/both_providers status=0 options=(-n 500 -s 10000 -c -e)
	: >$log
	on_a env IBV_DRIVERS=rxe "$1/ibv_rc_pingpong" -p 18610 -d "$A_DEV" -g "$A_GID" "${options[@]}" >>$log &
	jobs+=($!)
	on_a "$1/ibv_rc_pingpong" -p 18611 -d "$A_DEV" -g "$A_GID" "${options[@]}" >>$log &
	jobs+=($!)
	on_a wait_until 10 port_listens 18610
	on_a wait_until 10 port_listens 18611
	on_b "$1/ibv_rc_pingpong" -p 18610 -d "$B_DEV" -g "$B_GID" "${options[@]}" "$A_IP" &
	jobs+=($!)
	on_b env IBV_DRIVERS=rxe "$1/ibv_rc_pingpong" -p 18611 -d "$B_DEV" -g "$B_GID" "${options[@]}" "$A_IP" &
	jobs+=($!)
	for job in "${jobs[@]}"; do
		wait "$job" || status=1
	done
	((status == 0)) && [[ $(grep -c "^500 iters in" $log) == 2 ]] && ! finds_wrong_data "$(<$log)"
}
# Only our provider has XRC.
uses_librxe() { local info; info=$(env IBV_DRIVERS=rxe "$@" -v) && [[ $info == *PORT_ACTIVE* && $info != *XRC* ]]; }
export -f uses_librxe

libibverbs_of() { echo "/suites/$1/usr/lib/x86_64-linux-gnu"/libibverbs.so.1.*; }

for suite in /suites/*; do
	suite=${suite##*/}
	library=$(libibverbs_of "$suite")
	echo "# $suite has ${library##*/}"
	wrap "$suite" /usr/bin/ibv_{rc,uc,ud,srq,xsrq}_pingpong /usr/bin/ibv_devinfo "$programs/native_verbs"
	bin=/run/suites/$suite
	check "$suite: our provider opens the device, without a complaint" on_a opens_quietly "$bin/ibv_devinfo" -d "$A_DEV"
	check "$suite: or its own librxe does" on_a uses_librxe "$bin/ibv_devinfo" -d "$A_DEV"
	check "$suite: both at once on both devices, data checked" both_providers "$bin"
	tool "$suite: ibv_rc_pingpong, data checked" "$bin/ibv_rc_pingpong" -g GID -n 200 -s 10000 -c
	tool "$suite: ibv_rc_pingpong with events" "$bin/ibv_rc_pingpong" -g GID -n 50 -e
	tool "$suite: ibv_rc_pingpong with timestamps" "$bin/ibv_rc_pingpong" -g GID -n 50 -t
	tool "$suite: ibv_rc_pingpong with ibv_wr_send()" "$bin/ibv_rc_pingpong" -g GID -n 50 -N
	tool "$suite: ibv_uc_pingpong" "$bin/ibv_uc_pingpong" -g GID -n 50
	tool "$suite: ibv_ud_pingpong, data checked" "$bin/ibv_ud_pingpong" -g GID -n 200 -s 1000 -c
	tool "$suite: ibv_srq_pingpong with events" "$bin/ibv_srq_pingpong" -g GID -n 50 -e
	tool "$suite: ibv_xsrq_pingpong with events, XRC" "$bin/ibv_xsrq_pingpong" -g GID -n 50 -e
	tap "$suite: native_verbs" on_a "$bin/native_verbs" --dev "$A_DEV" --gid "$A_GID" --peer-dev "$B_DEV" --peer-gid "$B_GID"
done
