# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# "sroce gids" says which GID perftest, UCX and rdma_cm take. "sroce stats" and "sroce qp" show changes until SIGINT.
# guests: one
# links: sroce
# seconds: 60
# stages: vm-newest
# full: vm-debug vm-6.12 vm-6.1
set -euo pipefail
. /share/vm/lib.sh
topology

sroce=$programs/sroce
mkdir -p "$keep"

# --- gids -------------------------------------------------------------------------------------------

says "the GID of IPv4 is that of most programs" 0 "^$A_DEV +$A_GID +RoCE v2 +$A_IF +$A_IP +rdma_cm, NCCL, UCX, perftest$" \
	on_a "$sroce" gids "$A_DEV"
says "that of IPv6 is not" 0 "^$A_DEV +$A_GID6 +RoCE v2 +$A_IF +$A_IP6 +rdma_cm$" on_a "$sroce" gids "$A_DEV"
taken() { sed -n 's/.*GID index *: *\([0-9]*\).*/\1/p' <<<"$1" | head -n 1; }
pair "perftest without -x" ib_write_lat -d "$A_DEV" -n 5 -F -I 0 -- \
	ib_write_lat -d "$B_DEV" -n 5 -F -I 0 "$A_IP"
check "it takes the GID that sroce names" test "$(taken "$pair_server_output")" = "$A_GID"
taken_by_ucx() { UCX_LOG_LEVEL=debug on_a ucx_info -d | sed -n "s/.*$A_DEV:1 using gid_index \([0-9]*\).*/\1/p" | sort -u; }
check "UCX takes it, too" test "$(taken_by_ucx)" = "$A_GID"
# rdma_cm, with an address of another GID
other=${A_IP%.*}.77
on_a ip address add "$other/24" dev "$A_IF"
index=$(on_a wait_for_gid "$A_DEV" "$other")
says "rdma_cm may take the GID of another address" 0 "^$A_DEV +$index +RoCE v2 +$A_IF +$other +rdma_cm$" on_a "$sroce" gids "$A_DEV"
on_b rping -s -a "$B_IP" -C 1000000 >/dev/null 2>&1 &
server=$!
on_b wait_until 10 listens rping
on_a rping -c -a "$B_IP" -I "$other" -C 1000000 >/dev/null 2>&1 &
client=$!
of_connection() { "$sroce" qp "$A_DEV" -j | grep -F "\"local_address\": \"$other\""; }
export sroce other
export -f of_connection
check "rdma_cm takes the GID of the address" on_a wait_until 10 of_connection
on_a pkill -x rping || true
on_b pkill -x rping || true
wait $client $server || true
on_a ip address delete "$other/24" dev "$A_IF"
pingpong_without_gid()
{
	local status=0
	talk ibv_rc_pingpong -d "$A_DEV" -n 1 -- ibv_rc_pingpong -d "$B_DEV" -n 1 "$A_IP" || status=$?
	echo "$pair_report"
	return $status
}
check_fails "ibv_rc_pingpong without -g fails" "Failed to modify QP to RTR" pingpong_without_gid

# --- stats and qp -----------------------------------------------------------------------------------

says "counters that are not zero" 0 "^$A_DEV +sent_pkts +[1-9]" on_a "$sroce" stats "$A_DEV"
says "their meaning" 0 "^sent_pkts +packets sent$" on_a "$sroce" stats --explain
kernel=$(rdma statistic show link "$A_DEV/1" -p | grep -o '^ *[a-z_]* [0-9]* *$' | awk '{ print $1 }' | sort)
ours=$("$sroce" stats -x | sed '1d; s/ .*//' | sort)
check "every counter of the device has a meaning" test "$kernel" = "$ours"

on_b ibv_rc_pingpong -d "$B_DEV" -g "$B_GID" -n 10000000 >/dev/null 2>&1 &
server=$!
on_b wait_until 10 listens ibv_rc_pingpong
on_a ibv_rc_pingpong -d "$A_DEV" -g "$A_GID" -n 10000000 "$B_IP" >/dev/null 2>&1 &
client=$!

# repeats NAME PATTERN OPTION...: the command prints a line of the pattern; SIGINT ends it with success
repeats()
{
	local name=$1 pattern=$2 status=0 repeating
	shift 2
	on_a "$sroce" "$@" >"$keep/changes" &
	repeating=$!
	check "$name" wait_until 20 grep -qE "$pattern" "$keep/changes"
	pkill -INT -x sroce
	wait $repeating || status=$?
	check "... until SIGINT" test $status = 0
}
repeats "stats -w shows rates" "^$A_DEV +sent_pkts +[1-9][0-9.]* +[1-9]" stats "$A_DEV" -w 0.3
repeats "stats -w as JSON" '"sent_pkts":\{"value":[0-9]+,"change":[1-9]' stats "$A_DEV" -w 0.3 -j
repeats "qp -w shows queue pairs" "^RTS +RC +$A_DEV " qp -w 0.3 "$A_DEV"
repeats "qp -w as JSON" '^\{"seconds":[0-9.]+,.*"qpn":' qp -w 0.3 -j
on_a pkill ibv_rc_pingpong || true
on_b pkill ibv_rc_pingpong || true
wait $server $client || true
