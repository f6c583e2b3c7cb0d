# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Instructions of a whole guest per message, of rxe and sroce: the guest's clock counts them, see scripts/vm --icount. In rows
# with events, the ends may wait for each other, and time that the guest is idle counts, too.
# Prints lines "figure 1 TYPE MTU insns ROW VALUE".
# guests: one
# kernels: 6.1 6.12
# seconds: 900
set -euo pipefail
. /share/vm/lib.sh
. /share/vm/cases/lib/types.sh
: "${TYPES:=rxe sroce native}"

unload() # rxe|sroce
{
	rmmod "${1/#rxe/rdma_rxe}"
}

# rxe of these kernels is in the first namespace only, so both ends are there.
namespace_of() { :; }
topology none
unload sroce

# Packets for the other end leave by the interface, although its address is a local one.
send_to_self() # TABLE INTERFACE ADDRESS PEER_INTERFACE PEER
{
	sysctl -q -w "net.ipv4.conf.$2.accept_local=1" "net.ipv4.conf.$2.rp_filter=0"
	ip neighbour replace "$5" dev "$2" lladdr "$(<"/sys/class/net/$4/address")" nud permanent
	ip rule add pref 1 iif "$2" lookup local
	ip rule add pref 2 from "$3" to "$5" lookup "$1"
	ip route add "$5" dev "$2" table "$1"
}
sysctl -q -w net.ipv4.conf.all.rp_filter=0
send_to_self 101 "$A_IF" "$A_IP" "$B_IF" "$B_IP"
send_to_self 102 "$B_IF" "$B_IP" "$A_IF" "$A_IP"
ip rule add pref 3 lookup local
ip rule delete pref 0

# Prints the instructions of both ends per message. perftest rounds rates of long messages, and bandwidths of short ones.
measure() # PROGRAM OPTION...
{
	local program=$1
	shift
	talk "$program" -d "$A_DEV" -x "$A_GID" -F -m 1024 "$@" -- "$program" -d "$B_DEV" -x "$B_GID" -F -m 1024 "$@" 127.0.0.1 || true
	awk '/^ *[0-9]+ +[0-9]+ / && $4 > 0 && $5 > 0 {
		printf "%.0f\n", ($1 > 1024) ? $1 * 1000000000 / ($4 * 1048576) : 1000 / $5
		found = 1
		exit
	}
	END { if (!found) print "fails" }' <<<"$pair_report"
	echo "$pair_report" >"$keep.failures"
}

figure() # TYPE ROW PROGRAM OPTION...
{
	local value
	value=$(measure "${@:3}")
	echo "figure 1 $1 1024 insns $2 $value"
	[[ $value != fails ]] || not_ok "$1 has a figure for $2" "$(cat "$keep.failures")"
}

# A revision may have no shared receive queues.
has_srq() { ibv_devinfo -v -d "$A_DEV" | awk '$1 == "max_srq:" && $2 { found = 1 } END { exit !found }'; }

for type in $TYPES; do
	module=$type
	[[ $type == rxe ]] || module=sroce
	load_module "$module"
	attach "$type" 1024
	figure "$type" write_64K ib_write_bw -s 65536 -n 1000
	figure "$type" read_64K ib_read_bw -s 65536 -n 1000
	figure "$type" send_64K ib_send_bw -s 65536 -n 1000 -e
	figure "$type" write_64 ib_write_bw -s 64 -n 5000
	figure "$type" write_64_l32 ib_write_bw -s 64 -n 32000 -l 32
	figure "$type" read_64 ib_read_bw -s 64 -n 5000
	figure "$type" send_64 ib_send_bw -s 64 -n 5000 -e
	figure "$type" send_64_l32 ib_send_bw -s 64 -n 16000 -l 32 -e
	if has_srq; then
		figure "$type" send_64_srq ib_send_bw -s 64 -n 5000 -e --use-srq
		figure "$type" send_64_l32_srq ib_send_bw -s 64 -n 16000 -l 32 -e --use-srq
	fi
	detach
	# rdma_rxe has the UDP port as long as it is loaded.
	unload "$module"
done
ok "measured"
