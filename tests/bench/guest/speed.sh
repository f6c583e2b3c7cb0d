# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# perftest on rxe, siw and sroce (rxe and native mode), and iperf3 over TCP, in turn on one veth pair, for several rounds.
# Prints lines "figure ROUND TYPE MTU KIND ROW VALUE"; KIND gives the unit: bw MiB/s, rate 1000 messages/s, lat µs.
# guests: one
# kernels: newest parallel debug
# seconds: 3000
#
# Settings: ROUNDS, TYPES, ONLY (a pattern of rows), SUBSET (all or quick) and LINK:
#   veth    skbs cross whole
#   nic     a NIC without UDP segmentation: the stack segments, and GRO builds batches
#   uso     a NIC that claims to segment UDP: a macvlan, which passes skbs on to a link like nic
#   single  as nic, but the stack gets single packets
set -euo pipefail
. /share/vm/lib.sh
. /share/vm/cases/lib/types.sh
. /share/vm/cases/lib/ulp.sh
: "${ROUNDS:=3}" "${TYPES:=rxe siw sroce native tcp}" "${ONLY:=*}" "${SUBSET:=all}" "${LINK:=veth}"
export LIMIT=15

# "@ MTU" begins a group of rows that a type runs without another type in between. A row has: q if it is in the quick subset,
# else -; its name; its kind; the program with its options. Rows of SEND with events are the ones to compare, because two
# pollers on one CPU measure time slices.
rows='
@ 1024
q write_64K_1024       bw    ib_write_bw -s 65536
q read_64K_1024        bw    ib_read_bw -s 65536
q send_64K_1024        bw    ib_send_bw -s 65536 -e -n 8000
- send_64K_1024_poll   bw    ib_send_bw -s 65536
- write_64K_1024_4qp   bw    ib_write_bw -s 65536 -q 4
- write_64K_1024_16qp  bw    ib_write_bw -s 65536 -q 16
q tcp_1024             bw    tcp
@ 1024
- write_1M_1024        bw    ib_write_bw -s 1048576
- read_1M_1024         bw    ib_read_bw -s 1048576
- send_1M_1024         bw    ib_send_bw -s 1048576 -e -n 800
- send_1M_1024_poll    bw    ib_send_bw -s 1048576
- tcp_1024             bw    tcp
@ 4096
q write_64K_4096       bw    ib_write_bw -s 65536
q read_64K_4096        bw    ib_read_bw -s 65536
- send_64K_4096        bw    ib_send_bw -s 65536 -e -n 8000
- send_64K_4096_poll   bw    ib_send_bw -s 65536
q tcp_4096             bw    tcp
@ 4096
- write_1M_4096        bw    ib_write_bw -s 1048576
- read_1M_4096         bw    ib_read_bw -s 1048576
- send_1M_4096         bw    ib_send_bw -s 1048576 -e -n 800
- send_1M_4096_poll    bw    ib_send_bw -s 1048576
- tcp_4096             bw    tcp
@ 1024
q write_64_l1          rate  ib_write_bw -s 64
q write_64_l32         rate  ib_write_bw -s 64 -l 32
- send_64_l1           rate  ib_send_bw -s 64 -e -n 20000
- send_64_l1_srq       rate  ib_send_bw -s 64 -e -n 20000 --use-srq
- send_64_l1_poll      rate  ib_send_bw -s 64
q send_64_l32          rate  ib_send_bw -s 64 -l 32 -e -n 32000
- send_64_l1_poll_srq  rate  ib_send_bw -s 64 --use-srq
- send_64_l32_poll     rate  ib_send_bw -s 64 -l 32
- ud_send_64_poll      rate  ib_send_bw -c UD -s 64
- ud_send_1024_poll    bw    ib_send_bw -c UD -s 1024
@ 1024
- send_lat_2           lat   ib_send_lat -s 2 -e -n 2000
q send_lat_64          lat   ib_send_lat -s 64 -e -n 2000
- ud_send_lat_64       lat   ib_send_lat -c UD -s 64 -e -n 2000
- send_lat_2_poll      lat   ib_send_lat -s 2 -n 60
- send_lat_64_poll     lat   ib_send_lat -s 64 -n 60
- write_lat_2_poll     lat   ib_write_lat -s 2 -n 60
- write_lat_64_poll    lat   ib_write_lat -s 64 -n 60
@ 1024
q ulp_send_lat_64      lat   ulp send_lat 64 1 20000
q ulp_send_64_l1       rate  ulp send 64 1 64000
q ulp_send_64_l32      rate  ulp send 64 32 128000
- ulp_write_64_l1      rate  ulp write 64 1 64000
q ulp_write_64_l32     rate  ulp write 64 32 128000
- ulp_write_64K_1024   bw    ulp write 65536 1 8000
- ulp_read_64K_1024    bw    ulp read 65536 1 8000
- ulp_send_64K_1024    bw    ulp send 65536 1 8000
'

# --- rows ----------------------------------------------------------------------------------------------

# Prints one column of the results, or nothing if the tools fail or time out. Tries again if perftest misread the
# clock, which it shows by printing 0.00 or inf.
measure() # COLUMN PROGRAM OPTION...
{
	local column=$1 program=$2 line try
	shift 2
	for try in 1 2 3; do
		LD_PRELOAD=$programs/tsc_clock.so talk "$program" -d "$A_DEV" "${@/#GID/${A_GID:-}}" -- "$program" -d "$B_DEV" "${@/#GID/${B_GID:-}}" "$A_IP" || break
		# UD loses packets if the receiver is too slow, so the server's line counts, which is the last one.
		line=$(grep -E '^ *[0-9]+ +[0-9]+ ' <<<"$pair_report" | if [[ " $* " == *" UD "* ]]; then tail -n 1; else head -n 1; fi) || continue
		awk -v column="$column" '/inf|nan/ || $column + 0 == 0 { exit 1 } { print $column }' <<<"$line" && return
	done
	echo "${pair_report:-}" >>"$keep.failures"
	on_a pkill -x "$program" || true
}

tcp_bandwidth()
{
	talk iperf3 -s -1 -- iperf3 -c "$A_IP" -t 1 -f k || return 0
	awk '/receiver/ { for (i = 2; i <= NF; i++) if ($i == "Kbits/sec") printf "%.2f\n", $(i - 1) * 1000 / 8 / 1048576 }' <<<"$pair_output"
}

value_of() # TYPE MTU KIND PROGRAM OPTION...
{
	local type=$1 mtu=$2 kind=$3 program=$4 options
	shift 4
	case $program in
	tcp) tcp_bandwidth; return ;;
	ulp) ulp "$kind" "$@"; return ;;
	esac
	# siw connects only with rdma_cm, and TCP chooses its packet size.
	options=(-F "$@" -x GID -m "$mtu")
	[[ $type != siw ]] || options=(-F "$@" -R)
	# perftest does not support a duration with events.
	[[ " $* " == *" -n "* ]] || options+=(-D 1)
	case $kind in
	bw) measure 4 "$program" "${options[@]}" ;;
	rate) measure 5 "$program" "${options[@]}" | awk '{ print $1 * 1000 }' ;;
	lat) measure 5 "$program" -I 0 "${options[@]}" ;;
	esac
}

# Whether a type has a row. TCP has its own rows. siw has no UD. In ulp rows native would be the same as sroce, and siw is left out.
suits() # TYPE PROGRAM OPTION...
{
	case $1,$2 in
	tcp,tcp) ;;
	tcp,* | *,tcp) return 1 ;;
	siw,ulp | native,ulp) return 1 ;;
	siw,*) [[ " $* " != *" UD "* ]] ;;
	esac
}

run_group() # ROUND TYPE MTU ROW_LINE...
{
	local round=$1 type=$2 mtu=$3 line is_attached='' is_quick name kind program value
	shift 3
	for line; do
		read -r is_quick name kind program <<<"$line"
		# shellcheck disable=SC2053
		[[ $name == $ONLY || $program == tcp ]] || continue
		[[ $SUBSET == all || $is_quick == q ]] || continue
		# shellcheck disable=SC2086
		suits "$type" $program || continue
		[[ $is_attached ]] || attach "$type" "$mtu"
		is_attached=yes
		# shellcheck disable=SC2086
		value=$(value_of "$type" "$mtu" "$kind" $program)
		echo "figure $round $type $mtu $kind $name ${value:-fails}"
	done
	[[ ! $is_attached ]] || detach
}

run_types() # ROUND ORDER MTU ROW_LINE...
{
	local round=$1 order=$2 type
	shift 2
	(($# > 1)) || return 0
	for type in $order; do
		run_group "$round" "$type" "$@"
	done
}

# Each round begins with another type, so that no type always runs first.
one_round() # ROUND
{
	local group=() line order i
	read -r -a order <<<"$TYPES"
	for ((i = 1; i < $1; i++)); do
		order=("${order[@]:1}" "${order[0]}")
	done
	while IFS= read -r line <&3; do
		case $line in
		@*)
			run_types "$1" "${order[*]}" "${group[@]}"
			group=("${line#@ }")
			;;
		?*) group+=("$line") ;;
		esac
	done 3<<<"$rows"
	run_types "$1" "${order[*]}" "${group[@]}"
}

# Prints the name of the interface to attach to. pfifo queues the segments that a veth alone would drop.
make_link() # INTERFACE
{
	local offloads=(tx-udp-segmentation off tx-gso-list off tso off gro on)
	[[ $LINK != single ]] || offloads+=(gso off)
	if [[ $LINK != veth ]]; then
		ethtool -K "$1" "${offloads[@]}" >/dev/null
		tc qdisc replace dev "$1" root pfifo
	fi
	if [[ $LINK == uso ]]; then
		ip address flush dev "$1"
		ip link set "$1" up mtu 4200
		ip link add "${1}_uso" link "$1" type macvlan mode passthru
		echo "${1}_uso"
	else
		echo "$1"
	fi
}

export -f make_link
export LINK
topology none
A_IF=$(on_a make_link "$A_IF")
B_IF=$(on_b make_link "$B_IF")
modprobe -a rdma_rxe siw
insmod /share/module/ulp.ko
for ((round = 1; round <= ROUNDS; round++)); do
	one_round "$round"
done
rmmod ulp siw
ok "measured"
