# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Bandwidth and latency of perftest on networks that lose, delay and reorder. Prints lines for ../report.py with
# rows named CONDITION/WHAT.
# guests: any
# seconds: 3600
#
# Settings: ROUNDS; ONLY, a pattern of conditions; TYPES, which has tcp if that is measured beside sroce.
set -euo pipefail
. /share/vm/lib.sh
. /share/vm/cases/lib/ulp.sh
: "${ROUNDS:=1}" "${ONLY:=*}" "${TYPES:=sroce}"
topology
export LIMIT=12
programs_measured=(write read send)
declare -A failed worked

# netem releases delayed packets in bursts. The default backlog of 1000 packets would drop some of them (a fifteenth of a READ
# at 200 us), in addition to netem's losses.
sysctl -q -w net.core.netdev_max_backlog=100000

# A window of TCP for the longest delay.
for end in a b; do
	"on_$end" sysctl -q -w net.ipv4.tcp_rmem='4096 1048576 67108864' net.ipv4.tcp_wmem='4096 1048576 67108864'
done
# netem must lose single packets, not whole GSO batches.
on_a ethtool -K "$A_IF" tso off gso off gro off >/dev/null
on_b ethtool -K "$B_IF" tso off gso off gro off >/dev/null

# Prints the line of results, or nothing if the tools time out or fail.
measure() # PROGRAM OPTION...
{
	local program=$1 line try
	shift
	for try in 1 2 3; do
		LD_PRELOAD=$programs/tsc_clock.so talk "$program" -d "$A_DEV" "${@/#GID/$A_GID}" -- "$program" -d "$B_DEV" "${@/#GID/$B_GID}" "$A_IP" || true
		# Without output the tools did not get past their TCP handshake, so try again.
		[[ $pair_output ]] || continue
		line=$(grep -E '^ *[0-9]+ +[0-9]+ ' <<<"$pair_output" | tail -n 1) || break
		awk '/inf/ || $4 == "0.00" { exit 1 }' <<<"$line" || continue
		echo "$line"
		return
	done
	on_a pkill -x "$program" || true
}

figure() # KIND CONDITION/WHAT VALUE
{
	echo "figure $round $A_TYPE 1024 $1 $2 ${3:-fails}"
	if [[ ${3:-} ]]; then worked[$2]=yes; else failed[$2]=yes; fi
}

# A condition that rxe failed in every round so far is not repeated for rxe, because each failure takes long.
is_known_to_fail() # CONDITION/WHAT
{
	[[ $A_TYPE == rxe && ${failed[$1]:-} && ! ${worked[$1]:-} ]]
}

# MiB/s.
bandwidths() # CONDITION
{
	local program line
	for program in "${programs_measured[@]}"; do
		! is_known_to_fail "$1/${program}_bw" || continue
		read -r -a line <<<"$(measure "ib_${program}_bw" -x GID -F -m 1024 -s 65536 -D 2)"
		figure bw "$1/${program}_bw" "${line[3]:-}"
	done
}

# TCP in packets as large. Cubic takes each loss for congestion, so it is a measure of delay and
# reordering, not of loss.
tcp_bandwidth() # CONDITION
{
	talk iperf3 -s -1 -- iperf3 -c "$A_IP" -t 2 -f k -M 1036 || true
	echo "figure $round tcp 1024 bw $1/tcp_bw $(awk '/receiver/ { for (i = 2; i <= NF; i++) if ($i == "Kbits/sec") printf "%.2f", $(i - 1) * 1000 / 8 / 1048576; done = 1 }
		END { if (!done) print "fails" }' <<<"$pair_output")"
}

latency() # CONDITION/WHAT PROGRAM OPTION...
{
	local line
	! is_known_to_fail "$1" || return 0
	read -r -a line <<<"$(measure "${@:2}" -x GID -F -m 1024 -s 64 -n 5000 -I 0)"
	figure lat "$1" "${line[4]:-}"
	figure lat "$1_99" "${line[7]:-}"
	figure lat "$1_99.9" "${line[8]:-}"
}

# Microseconds. SEND with events, because two pollers of CQs on one CPU would measure time slices. A
# post of WRITE yields to a peer that polls memory.
latencies() # CONDITION
{
	latency "$1/send_lat" ib_send_lat -e
	latency "$1/write_lat" ib_write_lat
}

# Three short runs suffice, because no process interferes. rxe is slow under loss, so it gets fewer messages.
ulp_bandwidths() # CONDITION
{
	local count=2400 i kind
	[[ $A_TYPE != rxe || $1 == clean || $1 == netem ]] || count=160
	for i in 1 2 3; do
		for kind in "${programs_measured[@]}"; do
			! is_known_to_fail "$1/ulp_$kind" || continue
			figure bw "$1/ulp_$kind" "$(ulp bw "$kind" 65536 16 "$count")"
		done
	done
}

# Measures all figures of one condition.
measure_all() # CONDITION
{
	bandwidths "$1"
	[[ $QUICK ]] || ulp_bandwidths "$1"
	[[ $A_TYPE != sroce || " $TYPES " != *" tcp "* ]] || tcp_bandwidth "$1"
	[[ ! $latencies || $QUICK ]] || latencies "$1"
}

under() # CONDITION NETEM_OPTION...
{
	local condition=$1
	shift
	# shellcheck disable=SC2053
	[[ $condition == clean || $condition == $ONLY ]] || return 0
	(($# == 0)) || netem limit 100000 "$@"
	measure_all "$condition"
	(($# == 0)) || netem
}

# Emulated CPUs are ten times slower: fewer conditions, and longer delays, so that they still matter.
emulated()
{
	LIMIT=20 programs_measured=(write read)
	under clean
	under loss_1% loss 1%
	under delay_10ms delay 10ms
	under jitter_2ms_1ms delay 2ms 1ms
}

native()
{
	latencies=yes under clean
	# The cost of netem itself.
	under netem delay 0
	under loss_0.1% loss 0.1%
	latencies=yes under loss_1% loss 1%
	under loss_5% loss 5%
	under loss_20% loss 20%
	under delay_1ms delay 1ms
	under delay_200us delay 200us
	under jitter_200us_100us delay 200us 100us
}

# A round has every condition, so that a slow phase of the machine affects all of them.
latencies=''
[[ $QUICK ]] || insmod /share/module/ulp.ko
for round in $(seq "$ROUNDS"); do
	if [[ $QUICK ]]; then emulated; else native; fi
done
[[ $QUICK ]] || rmmod ulp
ok "measured"
