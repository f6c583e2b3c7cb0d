# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# A tun interface whose reader is slow, or stops for a while. tun orphans packets. It drops those that
# its ring has no room for, and does not tell the sender. So only the limit of the packets in flight
# holds an unpaced queue pair back: few packets are dropped, none is sent again and again, and no
# queue pair runs out of retries, although perftest's ACK timeout is 67 ms.
# guests: one
# links: sroce-sroce
# seconds: 120
# kernels: newest
# stages: none
# full: vm-newest vm-newest-native
set -euo pipefail
. /share/vm/lib.sh

leave_case()
{
	kill -CONT "$reader"
	kill -KILL "$reader"
	wait "$reader" || true
} 2>/dev/null

# Each packet from B to A takes DELAY.
make_veth()
{
	local end
	"$programs/tun_link" --near eth_a --far eth_b --delay-us "$delay_us" &
	reader=$!
	wait_until 10 test -e /sys/class/net/eth_b
	for end in a b; do
		ip netns add $end
		ip -n $end link set lo up
		ip link set eth_$end netns $end
	done
}

dropped() { on_b cat /sys/class/net/eth_b/statistics/tx_dropped; }
sent() { counter_at b sent_pkts; }
# Those that fill a hole, and those after a NAK or timeout.
repeated() { echo $(($(counter_at b roce_adp_retrans) + $(counter_at b completer_retry_err))); }
timeouts() { counter_at b local_ack_timeout_err; }
sent_reach() { (($(sent) >= $1)); }

delay_us=1000
topology

# --- a reader that is slow ------------------------------------------------------------------------

# Traffic of 1,000 packets or more, in a ring of 500. An ACK timeout repeats all that is in flight:
# up to 128 of the packets of 64 bytes.
for traffic in "ib_write_bw -s 65536 -n 20" "ib_send_bw -s 65536 -n 20" "ib_write_bw -s 64 -n 1000"; do
	dropped=$(dropped) sent=$(sent) repeated=$(repeated) timeouts=$(timeouts)
	# shellcheck disable=SC2086
	tool "slow reader: $traffic" $traffic -x GID -F -m 1024
	dropped=$(($(dropped) - dropped)) sent=$(($(sent) - sent)) repeated=$(($(repeated) - repeated))
	timeouts=$(($(timeouts) - timeouts))
	check "slow reader: $traffic: no packet is dropped" test "$dropped" -eq 0
	check "slow reader: $traffic: $repeated of $sent packets are repeated" test $((repeated * 4)) -lt "$sent"
	check "slow reader: $traffic: $timeouts ACK timeouts" test "$timeouts" -le 10
done

# --- several queue pairs --------------------------------------------------------------------------

# The ring has room for half of their first windows, 256 packets each. The other half is lost, and is
# sent again as the window permits. On a busy host the retries of perftest's 67 ms may end before the
# ring has drained, so the timeout is longer.
dropped=$(dropped) sent=$(sent) repeated=$(repeated)
tool "slow reader: four queue pairs" ib_write_bw -x GID -F -m 1024 -q 4 -u 16 -s 65536 -n 20
dropped=$(($(dropped) - dropped)) sent=$(($(sent) - sent)) repeated=$(($(repeated) - repeated))
check "slow reader: four queue pairs: $dropped of $sent packets are dropped" test $((dropped * 4)) -lt "$sent"
check "slow reader: four queue pairs: $repeated of $sent packets are repeated" test $((repeated * 4)) -lt "$sent"

# --- a reader that stops --------------------------------------------------------------------------

# stop_and_go: once ib_write_bw has sent 200 packets, stop the reader for 2.5 s. Print how many packets
# are sent, and how many are dropped, once it has stood still for a while. Then 200 more must follow.
stop_and_go()
{
	local sent dropped
	wait_until 20 sent_reach $(($1 + 200))
	kill -STOP "$reader"
	sleep 0.5
	sent=$(sent) dropped=$(dropped)
	sleep 2
	echo $(($(sent) - sent)) $(($(dropped) - dropped))
	kill -CONT "$reader"
	wait_until 20 sent_reach $(($(sent) + 200))
	echo yes
}

work=$(mktemp)
stop_and_go "$(sent)" >"$work" &
waiter=$!
tool "reader that stops for 2.5 s" ib_write_bw -x GID -F -m 1024 -s 65536 -n 40 -u 18
wait $waiter || true
{ read -r sent dropped && read -r goes_on; } <"$work" || true
rm "$work"
check "reader that stops: the queue pair waits: $sent packets are sent meanwhile" test "$sent" -lt 20
check "reader that stops: the queue pair goes on" test "${goes_on:-no}" = yes
check "reader that stops: no packet is dropped" test "$dropped" -eq 0
