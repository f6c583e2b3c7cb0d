# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Every tracepoint can be enabled, and prints what it should under traffic.
# guests: one
# links: sroce
# kernels: 6.1 6.12
# seconds: 90
# stages: vm-newest
# full: vm-newest-native vm-debug vm-6.12 vm-6.1
set -euo pipefail
. /share/vm/lib.sh
topology

tracing=/sys/kernel/debug/tracing
traced() { grep -qE "$1" $tracing/trace; }
# The page cache has pages of 64 KiB. A worker frees them.
pages=$tracing/instances/pages
mkdir $pages
echo 'order == 4' >$pages/events/kmem/mm_page_free/filter
echo 1 >$pages/events/kmem/mm_page_free/enable

echo 1 >$tracing/events/sroce/enable
tool "SENDs flow with tracing" ibv_rc_pingpong -g GID -n 5 -s 10000 -c
tool "READs flow with tracing" ib_read_bw -x GID -F -s 65536 -n 8
# A datagram to port 4791 that is too short for any RoCE packet.
on_b bash -c "echo short >/dev/udp/$A_IP/4791"
# One with an opcode that does not exist, for QP 0x123456.
on_b bash -c "printf '\\xff\\x40\\xff\\xff\\x00\\x12\\x34\\x56\\x00\\x00\\x00\\x01\\x00\\x00\\x00\\x00' >/dev/udp/$A_IP/4791"
echo 0 >$tracing/events/sroce/enable

check "send plans are traced" traced 'sroce_send_plan: qpn=[0-9]+ packets wqe=[0-9]+ psn=[0-9]+ packets=[1-9]'
check "acknowledgements are traced" traced 'sroce_ack_plan: qpn=[0-9]+ psn=[0-9]+ accept '
check "received requests are traced" traced 'sroce_recv_plan: qpn=[0-9]+ psn=[0-9]+ place '
check "READ requests are traced" traced 'sroce_recv_plan: qpn=[0-9]+ psn=[0-9]+ read '
check "responses are traced" traced 'sroce_response_plan: qpn=[0-9]+ kind=1 psn=[0-9]+ packets=[1-9]'
check "a drop is traced with its reason" traced 'sroce_drop: ifindex=[0-9]+ dest_qpn=[0-9]+ why=[a-z_]*truncated'
check "a drop is traced with its QP number" traced "sroce_drop: ifindex=[0-9]+ dest_qpn=$((0x123456)) why=[a-z_]*opcode"

# --- drops of a queue pair, and page faults -------------------------------------------------------

for event in sroce_drop sroce_page_fault; do
	echo 1 >$tracing/events/sroce/$event/enable
done
both=(--dev "$A_DEV" --gid "$A_GID" --peer-dev "$B_DEV" --peer-gid "$B_GID")
tap "UC" "$programs"/uc_verify "${both[@]}"
tap "datagrams" "$programs"/mcast_verify "${both[@]}" --traffic
tool "WRITEs to memory on demand flow" ib_write_bw -x GID -F -s 65536 -n 8 --odp
for event in sroce_drop sroce_page_fault; do
	echo 0 >$tracing/events/sroce/$event/enable
done
for reason in length no_wqe invalid qkey; do
	check "a drop is traced with its reason, $reason" traced "sroce_drop: ifindex=[1-9][0-9]* dest_qpn=[1-9][0-9]* why=drop_$reason\$"
done
check "a page fault is traced" traced 'sroce_page_fault: qpn=[1-9][0-9]* key=0x[0-9a-f]+ va=0x[0-9a-f]+ bytes=[1-9][0-9]* (read|write) err=0$'

# --- queued packets are coalesced: here, every skb has one packet ---------------------------------

for end in a b; do
	interface=$A_IF
	[[ $end == a ]] || interface=$B_IF
	"on_$end" ethtool -K "$interface" tso off gso off gro off >/dev/null
done
netem loss 5%
echo 1 >$tracing/events/sroce/sroce_recv_plan/enable
tool "WRITEs flow under loss" ib_write_bw -x GID -F -s 65536 -n 64
echo 0 >$tracing/events/sroce/sroce_recv_plan/enable
netem
check "ten packets or more are handled as one" traced 'sroce_recv_plan: .* place .* place=[1-9][0-9]{4}$'

# --- congestion control: only its events are traced -----------------------------------------------

congestion() # 0|1
{
	echo "$1" >$tracing/events/sroce/sroce_congestion/enable
	echo "$1" >$tracing/events/sroce/sroce_marked/enable
}

check "no congestion is traced so far" bash -c "! grep -E 'sroce_(congestion|marked):' $tracing/trace"
echo >$tracing/trace
congestion 1
netem loss 5% ecn
tool "dcqcn: WRITEs flow with marks" ib_write_bw -x GID -F -s 65536 -n 64
tool "dcqcn: datagrams flow with marks" ib_send_lat -c UD -x GID -F -s 1024 -n 100 -I 0 -e
congestion 0
check "dcqcn: a CNP for a marked packet is traced" traced 'sroce_marked: qpn=[0-9]+ sender_qpn=[1-9][0-9]* cnp'
check "dcqcn: the first CNP halves the line rate, with alpha 1" traced \
	'sroce_congestion: qpn=[0-9]+ send events=cnp\|cut\|limit_began state="fast recovery" rate=6[0-9]{8} cwnd=-1/256 target=1250000000 alpha=1023/1024$'
check "dcqcn: a CNP that cuts, or comes too soon, is traced" traced 'sroce_congestion: .* events=cnp\|(cut|cut_skipped)(\|[a-z_|]*)? state="[a-z ]+" rate=[1-9][0-9]*'
check "dcqcn: alpha periods are traced" traced 'sroce_congestion: .* events=[a-z_|]*estimated[a-z_|]* .* alpha_periods=[1-9]'
check "dcqcn: rate increases are traced" traced 'sroce_congestion: .* events=[a-z_|]*raised[a-z_|]* .* (fast|additive|hyper)=[1-9]'

echo >$tracing/trace
for end in a b; do
	device=$A_DEV
	[[ $end == a ]] || device=$B_DEV
	check "$device: the algorithm is set to delay" "on_$end" "$programs/sroce" set "$device" cc delay
done
# Remove the qdisc first: if it were only changed, it would keep marking.
netem
netem loss 5%
congestion 1
tool "delay: WRITEs flow under loss" ib_write_bw -x GID -F -s 65536 -n 64
congestion 0
check "delay: a growing window is traced" traced 'sroce_congestion: .* events=window_raised[a-z_|]* state="[a-z ]+" rate=-?[1-9][0-9]* cwnd=[1-9][0-9]*/256 target=[1-9]'
check "delay: a cut of the window is traced" traced 'sroce_congestion: .* events=([a-z]+\|)*(delay|loss|timeout)\|([a-z]+\|)*cut'
check "delay: a loss that cuts, or comes too soon, is traced" traced 'sroce_congestion: .* events=([a-z]+\|)*(loss|timeout)\|([a-z]+\|)*(cut|cut_skipped)'
check "delay: the end of slow start is traced" traced 'sroce_congestion: .* events=[a-z_|]*slow_start_ended'

check "the page cache is emptied" wait_until 15 grep -q 'kworker.*mm_page_free:.*order=4' $pages/trace
rmdir $pages
