# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Every tracepoint can be switched on and says what it should while data flows.
# guests: one
# links: sroce
# kernels: 6.1 6.12
# seconds: 90
# stages: vm-newest vm-6.12
# full: vm-newest-native vm-debug vm-6.1
set -euo pipefail
. /share/vm/lib.sh
topology

tracing=/sys/kernel/debug/tracing
traced() { grep -qE "$1" $tracing/trace; }

echo 1 >$tracing/events/sroce/enable
tool "data flows, traced" ibv_rc_pingpong -g GID -n 5 -s 10000 -c
tool "READs too" ib_read_bw -x GID -F -s 65536 -n 8
# A datagram to port 4791 that is too short to be anything.
on_b bash -c "echo short >/dev/udp/$A_IP/4791"
echo 0 >$tracing/events/sroce/enable

check "send plans" traced 'sroce_send_plan: qpn=[0-9]+ packets wqe=[0-9]+ psn=[0-9]+ packets=[1-9]'
check "acknowledgements" traced 'sroce_ack_plan: qpn=[0-9]+ psn=[0-9]+ accept '
check "requests received" traced 'sroce_recv_plan: qpn=[0-9]+ psn=[0-9]+ place '
check "READ requests" traced 'sroce_recv_plan: qpn=[0-9]+ psn=[0-9]+ read '
check "responses" traced 'sroce_response_plan: qpn=[0-9]+ kind=1 psn=[0-9]+ packets=[1-9]'
check "a drop, with its reason" traced 'sroce_drop: ifindex=[0-9]+ dest_qpn=[0-9]+ why=[a-z_]*truncated'

# --- held packets that are alike are looked at as one: no skb has more than one here ------------------------------

for end in a b; do
	interface=$A_IF
	[[ $end == a ]] || interface=$B_IF
	"on_$end" ethtool -K "$interface" tso off gso off gro off >/dev/null
done
netem loss 5%
echo 1 >$tracing/events/sroce/sroce_recv_plan/enable
tool "data flows, some of it is lost" ib_write_bw -x GID -F -s 65536 -n 64
echo 0 >$tracing/events/sroce/sroce_recv_plan/enable
netem
check "ten packets and more at a time" traced 'sroce_recv_plan: .* place .* place=[1-9][0-9]{4}$'

# --- congestion control: nothing but what it decides -----------------------------------------------------------

congestion() # 0|1
{
	echo "$1" >$tracing/events/sroce/sroce_congestion/enable
	echo "$1" >$tracing/events/sroce/sroce_marked/enable
}

check "nothing was congested so far" bash -c "! grep -E 'sroce_(congestion|marked):' $tracing/trace"
echo >$tracing/trace
congestion 1
netem loss 5% ecn
tool "dcqcn: data flows, some of it marked" ib_write_bw -x GID -F -s 65536 -n 64
tool "dcqcn: datagrams, too" ib_send_lat -c UD -x GID -F -s 1024 -n 100 -I 0 -e
congestion 0
check "a marked packet that is answered" traced 'sroce_marked: qpn=[0-9]+ sender_qpn=[1-9][0-9]* cnp'
check "the first CNP: half the line rate, alpha 1" traced \
	'sroce_congestion: qpn=[0-9]+ send did=cnp\|cut\|limit_began state="fast recovery" rate=6[0-9]{8} target_rate=1250000000 alpha=1023/1024 cwnd=-1/256 '
check "a CNP that cuts, or is too soon" traced 'sroce_congestion: .* did=cnp\|(cut|kept)(\|[a-z_|]*)? state="[a-z ]+" rate=[1-9][0-9]*'
check "periods of alpha" traced 'sroce_congestion: .* did=[a-z_|]*alpha[a-z_|]* .* alpha_periods=[1-9]'
check "increases" traced 'sroce_congestion: .* did=[a-z_|]*raised[a-z_|]* .* (fast|additive|hyper)=[1-9]'

echo >$tracing/trace
for end in a b; do
	device=$A_DEV
	[[ $end == a ]] || device=$B_DEV
	check "$device: delay" "on_$end" "$programs/sroce" set "$device" cc delay
done
# Not by changing what is there: it would go on marking.
netem
netem loss 5%
congestion 1
tool "delay: data flows, some of it is lost" ib_write_bw -x GID -F -s 65536 -n 64
congestion 0
check "a window that grows" traced 'sroce_congestion: .* did=grew[a-z_|]* state="[a-z ]+" rate=-?[1-9][0-9]* .* cwnd=[1-9][0-9]*/256 target_ns=[1-9]'
check "a window that is cut" traced 'sroce_congestion: .* did=([a-z]+\|)*(delay|loss|timeout)\|([a-z]+\|)*cut'
check "a loss, whether it cuts or is too soon" traced 'sroce_congestion: .* did=([a-z]+\|)*(loss|timeout)\|([a-z]+\|)*(cut|kept)'
check "slow start left" traced 'sroce_congestion: .* did=[a-z_|]*slow_start_ended'
