# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# One device at each end, used by a process with librxe and by one with our provider: each alone, then both at once. Prints
# lines "figure ROUND TYPE MTU KIND ROW VALUE", in MiB/s. The report has the share of its own rate that each keeps.
# guests: one
# links: sroce
# kernels: newest parallel
# seconds: 600
# Settings: ROUNDS
set -euo pipefail
. /share/vm/lib.sh
: "${ROUNDS:=3}"
export LIMIT=30
MODE=rxe topology

port_listens() { in_namespace a ss -Hltn "sport = :$1" | grep .; }

# An ib_write_bw of 64 KiB messages for a while, which writes its rate to the file $keep/TYPE.
stream() # TYPE PORT
{
	local options=(-F -m 1024 -s 65536 -D 4 -p "$2")
	export LD_PRELOAD=$programs/tsc_clock.so
	[[ $1 == sroce ]] || export IBV_DRIVERS=$programs/libsroce
	on_a chrt -i 0 ib_write_bw -d "$A_DEV" -x "$A_GID" "${options[@]}" >/dev/null &
	wait_until 10 port_listens "$2"
	on_b chrt -i 0 ib_write_bw -d "$B_DEV" -x "$B_GID" "${options[@]}" "$A_IP" | awk '/^ *[0-9]+ +[0-9]+ / { print $4 }' >"$keep/$1"
	wait
}

figure() { echo "figure $round $1 1024 bw $2 $(cat "$keep/$1")"; } # TYPE ROW

mkdir -p "$keep"
for ((round = 1; round <= ROUNDS; round++)); do
	for type in sroce native; do
		stream $type 18601
		figure $type write_64K_alone
	done
	stream sroce 18601 &
	stream native 18602
	wait
	for type in sroce native; do
		figure $type write_64K_both
	done
done
ok "measured"
